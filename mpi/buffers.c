/* Blocks in the user's buffers: where they lie, how they are sent, packed and copied. */
#include "interpose.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Counts above this do not go through an int argument; a test lowers it. */
#ifndef FLITWORK_MOST_COUNT
#define FLITWORK_MOST_COUNT INT_MAX
#endif

/* Whether the packed form of the type is the very bytes in memory. */
static int is_plain(MPI_Datatype type, MPI_Count size, MPI_Aint low, MPI_Aint extent) {
  int integers, addresses, types, combiner;
  if (low != 0 || extent != size) return 0;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) return 0;
  return combiner == MPI_COMBINER_NAMED;
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

/* Asks the MPI library for what it knows of the type, unless the other side has the same. */
int side_measure(side *s, const side *other) {
  MPI_Aint low = 0;
  if (s->form == BY_TYPE) return MPI_SUCCESS;
  if (other != NULL && other->form != BY_TYPE && other->type == s->type) {
    s->size = other->size;
    s->extent = other->extent;
    s->plain = other->plain;
    return MPI_SUCCESS;
  }
  int code = PMPI_Type_size_x(s->type, &s->size);
  if (code == MPI_SUCCESS) code = PMPI_Type_get_extent(s->type, &low, &s->extent);
  s->plain = code == MPI_SUCCESS && is_plain(s->type, s->size, low, s->extent);
  return code;
}

static MPI_Aint displacement_at(const side *s, uint32_t peer) {
  return s->large ? ((const MPI_Aint *)s->displacements)[peer] : ((const int *)s->displacements)[peer];
}

/* Nothing may be of no type at all, where the MPI library takes that. */
static MPI_Datatype type_at(const side *s, uint32_t peer) {
  return s->types[peer] != MPI_DATATYPE_NULL ? s->types[peer] : MPI_BYTE;
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
    b.type = type_at(s, peer);
    MPI_Aint low, extent;
    PMPI_Type_size_x(b.type, &size);
    b.plain = PMPI_Type_get_extent(b.type, &low, &extent) == MPI_SUCCESS && is_plain(b.type, size, low, extent);
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
int block_copy(const block *from, const block *to, self_channel self) {
  if (from->bytes > to->bytes) return MPI_ERR_TRUNCATE; /* Open MPI does not see it between a rank and itself */
  if (from->plain && to->plain && from->bytes == to->bytes) {
    if (from->bytes > 0 && from->at != to->at) memmove(to->at, from->at, (size_t)from->bytes);
    return MPI_SUCCESS;
  }
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int code = block_ireceive(to, self.rank, self.tag, self.comm, &requests[0]);
  if (code != MPI_SUCCESS) return code;
  code = block_isend(from, self.rank, self.tag, self.comm, &requests[1]);
  if (code != MPI_SUCCESS) return code;
  int received = wait_for(&requests[0]);
  int sent = wait_for(&requests[1]);
  return received != MPI_SUCCESS ? received : sent;
}

static block packed(const char *at, MPI_Count bytes) {
  return (block){.at = (char *)(uintptr_t)at, .count = bytes, .bytes = bytes, .type = MPI_PACKED, .plain = 1};
}

/* How many elements go through one call of MPI_Pack, whose counts are int; 0: not one. */
static MPI_Count elements_at_once(const block *b) {
  MPI_Count each = b->bytes / b->count;
  MPI_Count most = each > 0 ? INT_MAX / each : FLITWORK_MOST_COUNT;
  return most < FLITWORK_MOST_COUNT ? most : FLITWORK_MOST_COUNT;
}

/* MPICH refuses an address of 0 in MPI_Pack and MPI_Unpack, where MPI_BOTTOM with absolute addresses is right. There the same places are
 * named from another address; the caller frees the type. */
static int from_elsewhere(const block *b, block *same) {
  static char elsewhere;
  int count = (int)b->count;
  MPI_Aint back;
  *same = *b;
  same->at = &elsewhere;
  same->count = 1;
  int code = PMPI_Get_address(&elsewhere, &back);
  back = -back;
  if (code == MPI_SUCCESS) code = PMPI_Type_create_hindexed(1, &count, &back, b->type, &same->type);
  if (code == MPI_SUCCESS) code = PMPI_Type_commit(&same->type);
  return code;
}

static int is_at_zero(const block *b) {
  return b->at == NULL && b->bytes > 0 && b->bytes <= INT_MAX && b->count <= FLITWORK_MOST_COUNT;
}

/* No message is sent here where it can be helped: this is also called from within the MPI library (progress.c). */
int block_pack(const block *b, char *to, self_channel self) {
  MPI_Aint low, extent;
  if (b->bytes == 0) return MPI_SUCCESS;
  if (b->plain) {
    memcpy(to, b->at, (size_t)b->bytes);
    return MPI_SUCCESS;
  }
  if (is_at_zero(b)) {
    block same;
    int position = 0, code = from_elsewhere(b, &same);
    if (code != MPI_SUCCESS) return code;
    code = PMPI_Pack(same.at, 1, same.type, to, (int)b->bytes, &position, self.comm);
    PMPI_Type_free(&same.type);
    return code;
  }
  MPI_Count most = elements_at_once(b), each = b->bytes / b->count;
  if (most == 0) {
    block there = packed(to, b->bytes);
    return block_copy(b, &there, self);
  }
  int code = PMPI_Type_get_extent(b->type, &low, &extent);
  for (MPI_Count done = 0; code == MPI_SUCCESS && done < b->count; done += most) {
    MPI_Count now = b->count - done < most ? b->count - done : most;
    int position = 0;
    code = PMPI_Pack(b->at + done * extent, (int)now, b->type, to + done * each, (int)(now * each), &position, self.comm);
    if (code == MPI_SUCCESS && position != now * each) code = MPI_ERR_INTERN;
  }
  return code;
}

int block_unpack(const block *b, const char *from, MPI_Count bytes, self_channel self) {
  MPI_Aint low, extent;
  if (bytes > b->bytes) return MPI_ERR_TRUNCATE;
  if (bytes == 0) return MPI_SUCCESS;
  if (b->plain) {
    memcpy(b->at, from, (size_t)bytes);
    return MPI_SUCCESS;
  }
  if (is_at_zero(b) && bytes == b->bytes) {
    block same;
    int position = 0, code = from_elsewhere(b, &same);
    if (code != MPI_SUCCESS) return code;
    code = PMPI_Unpack(from, (int)bytes, &position, same.at, 1, same.type, self.comm);
    PMPI_Type_free(&same.type);
    return code;
  }
  MPI_Count most = elements_at_once(b), each = b->bytes / b->count, count = bytes / each;
  if (most == 0 || bytes % each != 0) {
    block there = packed(from, bytes);
    return block_copy(&there, b, self);
  }
  int code = PMPI_Type_get_extent(b->type, &low, &extent);
  for (MPI_Count done = 0; code == MPI_SUCCESS && done < count; done += most) {
    MPI_Count now = count - done < most ? count - done : most;
    int position = 0;
    code = PMPI_Unpack(from + done * each, (int)(now * each), &position, b->at + done * extent, (int)now, b->type, self.comm);
  }
  return code;
}

/* ---- arguments that outlive the call ---- */

int is_named(MPI_Datatype type) {
  int integers, addresses, types, combiner = MPI_COMBINER_NAMED;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED;
}

/* The program may free a datatype that is in use. Named ones stay as they are, and plain. The copy has no attributes: their callbacks are
 * the program's. */
static int keep_type(MPI_Datatype *type) {
  MPI_Datatype copy;
  if (*type == MPI_DATATYPE_NULL || is_named(*type)) return MPI_SUCCESS;
  int code = PMPI_Type_contiguous(1, *type, &copy);
  if (code == MPI_SUCCESS) code = PMPI_Type_commit(&copy);
  if (code == MPI_SUCCESS) *type = copy;
  return code;
}

static void drop_type(MPI_Datatype *type) {
  if (*type != MPI_DATATYPE_NULL && !is_named(*type)) PMPI_Type_free(type);
}

static void *copied(const void *from, size_t size) {
  void *to = malloc(size);
  if (to != NULL) memcpy(to, from, size);
  return to;
}

/* A side whose arrays and datatypes are its own. */
int side_keep(const side *from, int ranks, side *to) {
  size_t number = from->large ? sizeof(MPI_Count) : sizeof(int), place = from->large ? sizeof(MPI_Aint) : sizeof(int);
  *to = *from;
  to->counts = to->displacements = to->types = NULL;
  if (from->form != BY_TYPE) {
    int code = keep_type(&to->type);
    if (code != MPI_SUCCESS) to->type = MPI_DATATYPE_NULL;
    if (from->form == UNIFORM || code != MPI_SUCCESS) return code;
  }
  to->counts = copied(from->counts, (size_t)ranks * number);
  to->displacements = copied(from->displacements, (size_t)ranks * place);
  MPI_Datatype *types = from->form == BY_TYPE ? copied(from->types, (size_t)ranks * sizeof *types) : NULL;
  to->types = types;
  if (to->counts == NULL || to->displacements == NULL || (from->form == BY_TYPE && types == NULL)) {
    free(types);
    to->types = NULL;
    return MPI_ERR_NO_MEM;
  }
  int code = MPI_SUCCESS;
  for (int peer = 0; types != NULL && peer < ranks; peer++) {
    if (code == MPI_SUCCESS) code = keep_type(&types[peer]);
    if (code != MPI_SUCCESS) types[peer] = MPI_DATATYPE_NULL;
  }
  return code;
}

void side_drop(side *s, int ranks) {
  MPI_Datatype *types = (MPI_Datatype *)(uintptr_t)s->types;
  if (s->form != BY_TYPE) drop_type(&s->type);
  for (int peer = 0; types != NULL && peer < ranks; peer++) drop_type(&types[peer]);
  if (s->form == UNIFORM) return;
  free((void *)(uintptr_t)s->counts);
  free((void *)(uintptr_t)s->displacements);
  free(types);
}
