/* Blocks in the user's buffers: where they lie, how they are sent, packed and copied. */
#include "interpose.h"
#include <limits.h>
#include <string.h>

enum { TAG_OWN = 3 };
/* Counts above this do not go through an int argument; a test lowers it. */
#ifndef FLITWORK_MOST_COUNT
#define FLITWORK_MOST_COUNT INT_MAX
#endif

/* Whether the packed form of the type is the very bytes in memory. */
static int is_plain(MPI_Datatype type, MPI_Count size) {
  int integers, addresses, types, combiner;
  MPI_Aint low, extent;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) return 0;
  if (combiner != MPI_COMBINER_NAMED) return 0;
  return PMPI_Type_get_extent(type, &low, &extent) == MPI_SUCCESS && low == 0 && extent == size;
}

side side_uniform(const void *buffer, MPI_Count count, MPI_Datatype type) {
  return (side){.form = UNIFORM, .base = (char *)(uintptr_t)buffer, .count = count, .type = type};
}

side side_v(const void *buffer, const void *counts, const void *displacements, MPI_Datatype type, int large) {
  return (side){.form = BY_DISPLACEMENT, .large = large, .base = (char *)(uintptr_t)buffer, .type = type, .counts = counts,
                .displacements = displacements};
}

side side_w(const void *buffer, const void *counts, const void *displacements, const MPI_Datatype *types, int large) {
  return (side){.form = BY_TYPE, .large = large, .base = (char *)(uintptr_t)buffer, .counts = counts,
                .displacements = displacements, .types = types};
}

MPI_Count count_at(const side *s, uint32_t peer) {
  if (s->form == UNIFORM) return s->count;
  return s->large ? ((const MPI_Count *)s->counts)[peer] : ((const int *)s->counts)[peer];
}

/* Whether the MPI library would refuse these arguments. */
int side_is_faulty(const side *s, int ranks) {
  if (s->form == UNIFORM) return s->count < 0 || s->type == MPI_DATATYPE_NULL;
  if (s->counts == NULL || s->displacements == NULL || (s->form == BY_TYPE && s->types == NULL)) return 1;
  if (s->form == BY_DISPLACEMENT && s->type == MPI_DATATYPE_NULL) return 1;
  for (int peer = 0; peer < ranks; peer++) {
    if (count_at(s, (uint32_t)peer) < 0) return 1;
    if (s->form == BY_TYPE && s->types[peer] == MPI_DATATYPE_NULL) return 1;
  }
  return 0;
}

/* Asks the MPI library for what it knows of the type. */
int side_measure(side *s) {
  MPI_Aint low;
  if (s->form == BY_TYPE) return MPI_SUCCESS;
  int code = PMPI_Type_size_x(s->type, &s->size);
  if (code == MPI_SUCCESS) code = PMPI_Type_get_extent(s->type, &low, &s->extent);
  s->plain = code == MPI_SUCCESS && is_plain(s->type, s->size);
  return code;
}

static MPI_Aint displacement_at(const side *s, uint32_t peer) {
  return s->large ? ((const MPI_Aint *)s->displacements)[peer] : ((const int *)s->displacements)[peer];
}

block block_at(const side *s, uint32_t peer) {
  block b = {.count = count_at(s, peer), .type = s->type, .plain = s->plain};
  MPI_Count size = s->size;
  /* Integer arithmetic: the buffer may be MPI_BOTTOM. */
  intptr_t at = (intptr_t)s->base;
  if (s->form == UNIFORM) {
    at += (intptr_t)(peer * s->count * s->extent);
  } else if (s->form == BY_DISPLACEMENT) {
    at += (intptr_t)displacement_at(s, peer) * (intptr_t)s->extent;
  } else {
    at += (intptr_t)displacement_at(s, peer);
    b.type = s->types[peer];
    PMPI_Type_size_x(b.type, &size);
    b.plain = is_plain(b.type, size);
  }
  b.at = (char *)at;
  b.bytes = b.count * size;
  return b;
}

/* A type of `count` elements where an int does not hold the count; the caller frees it. */
static int type_of_many(MPI_Count count, MPI_Datatype type, MPI_Datatype *many) {
  const MPI_Count piece = FLITWORK_MOST_COUNT;
  MPI_Datatype one_piece, pieces;
  MPI_Aint low, extent;
  int code = PMPI_Type_get_extent(type, &low, &extent);
  if (code == MPI_SUCCESS) code = PMPI_Type_contiguous((int)piece, type, &one_piece);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Type_contiguous((int)(count / piece), one_piece, &pieces);
  if (code == MPI_SUCCESS) {
    int lengths[2] = {1, (int)(count % piece)};
    MPI_Aint at[2] = {0, (MPI_Aint)(count / piece * piece) * extent};
    MPI_Datatype types[2] = {pieces, type};
    code = PMPI_Type_create_struct(2, lengths, at, types, many);
    PMPI_Type_free(&pieces);
    if (code == MPI_SUCCESS) code = PMPI_Type_commit(many);
  }
  PMPI_Type_free(&one_piece);
  return code;
}

int block_isend(const block *b, int to, int tag, MPI_Comm comm, MPI_Request *request) {
  if (b->count <= FLITWORK_MOST_COUNT) return PMPI_Isend(b->at, (int)b->count, b->type, to, tag, comm, request);
  MPI_Datatype many;
  int code = type_of_many(b->count, b->type, &many);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Isend(b->at, 1, many, to, tag, comm, request);
  PMPI_Type_free(&many);
  return code;
}

int block_ireceive(const block *b, int from, int tag, MPI_Comm comm, MPI_Request *request) {
  if (b->count <= FLITWORK_MOST_COUNT) return PMPI_Irecv(b->at, (int)b->count, b->type, from, tag, comm, request);
  MPI_Datatype many;
  int code = type_of_many(b->count, b->type, &many);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Irecv(b->at, 1, many, from, tag, comm, request);
  PMPI_Type_free(&many);
  return code;
}

int wait_for(MPI_Request *request) {
  MPI_Status status;
  return PMPI_Wait(request, &status);
}

/* Copies as a message from this rank to itself: right for any two types. */
int block_copy(const block *from, const block *to, MPI_Comm self, int rank) {
  if (from->bytes > to->bytes) return MPI_ERR_TRUNCATE; /* Open MPI does not see it between a rank and itself */
  if (from->plain && to->plain && from->bytes == to->bytes) {
    if (from->bytes > 0 && from->at != to->at) memmove(to->at, from->at, (size_t)from->bytes);
    return MPI_SUCCESS;
  }
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int code = block_ireceive(to, rank, TAG_OWN, self, &requests[0]);
  if (code != MPI_SUCCESS) return code;
  code = block_isend(from, rank, TAG_OWN, self, &requests[1]);
  if (code != MPI_SUCCESS) return code;
  int received = wait_for(&requests[0]);
  int sent = wait_for(&requests[1]);
  return received != MPI_SUCCESS ? received : sent;
}

static block packed(const char *at, MPI_Count bytes) {
  return (block){.at = (char *)(uintptr_t)at, .count = bytes, .bytes = bytes, .type = MPI_PACKED, .plain = 1};
}

int block_pack(const block *b, char *to, MPI_Comm self, int rank) {
  if (b->plain) {
    if (b->bytes > 0) memcpy(to, b->at, (size_t)b->bytes);
    return MPI_SUCCESS;
  }
  if (b->bytes > FLITWORK_MOST_COUNT || b->count > FLITWORK_MOST_COUNT) {
    block there = packed(to, b->bytes);
    return block_copy(b, &there, self, rank);
  }
  int position = 0;
  if (b->bytes == 0) return MPI_SUCCESS;
  int code = PMPI_Pack(b->at, (int)b->count, b->type, to, (int)b->bytes, &position, self);
  return code == MPI_SUCCESS && position != b->bytes ? MPI_ERR_INTERN : code;
}

int block_unpack(const block *b, const char *from, MPI_Count bytes, MPI_Comm self, int rank) {
  if (b->plain && bytes == b->bytes) {
    if (bytes > 0) memcpy(b->at, from, (size_t)bytes);
    return MPI_SUCCESS;
  }
  /* What does not fit becomes the error that a message would give. */
  if (bytes != b->bytes || bytes > FLITWORK_MOST_COUNT || b->count > FLITWORK_MOST_COUNT) {
    block there = packed(from, bytes);
    return block_copy(&there, b, self, rank);
  }
  int position = 0;
  if (bytes == 0) return MPI_SUCCESS;
  return PMPI_Unpack(from, (int)bytes, &position, b->at, (int)b->count, b->type, self);
}
