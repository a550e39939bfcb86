/* Random all-to-alls carried out by the library that is loaded and by the MPI library itself: every byte of the receive buffers
 * must agree, gaps included. Arguments: seed, number of cases. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000) || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 6)
#define LARGE_COUNTS 1
#else
#define LARGE_COUNTS 0
#endif

enum { TYPES = 9, COMMUNICATORS = 6, MOST_RANKS = 64, MOST_UNITS = 3000 };

static uint64_t state;

static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static uint32_t pick(uint32_t below) {
  state = mix(state);
  return (uint32_t)(state >> 20) % below;
}

/* Layouts of two integers each, but for the first (one) and the last (none). */
static MPI_Datatype types[TYPES];
static const int integers[TYPES] = {1, 2, 2, 2, 2, 2, 2, 4, 0};

static void make_types(void) {
  MPI_Datatype vector;
  int backwards[2] = {1, 0}, lengths[2] = {1, 1};
  MPI_Aint apart[2] = {-8, 12};
  MPI_Datatype ints[2] = {MPI_INT, MPI_INT};
  types[0] = MPI_INT;
  MPI_Type_contiguous(2, MPI_INT, &types[1]);
  MPI_Type_vector(2, 1, 3, MPI_INT, &types[2]);
  MPI_Type_indexed(2, lengths, backwards, MPI_INT, &types[3]);
  MPI_Type_create_struct(2, lengths, apart, ints, &types[4]); /* begins before its address */
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, -4, 28, &types[5]);
  MPI_Type_create_resized(vector, 0, 4, &types[6]); /* elements lie in each other's gaps */
  MPI_Type_free(&vector);
  MPI_Type_contiguous(2, types[2], &types[7]);
  MPI_Type_contiguous(0, MPI_INT, &types[8]);
  for (int i = 1; i < TYPES; i++) MPI_Type_commit(&types[i]);
}

static MPI_Comm comms[COMMUNICATORS];
static const char *const comm_names[COMMUNICATORS] = {"world", "duplicate", "reversed", "odd and even", "first three", "halves"};

static void make_communicators(int rank, int ranks) {
  comms[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[3]);
  MPI_Comm_split(MPI_COMM_WORLD, rank < 3 ? 0 : MPI_UNDEFINED, rank, &comms[4]);
  MPI_Comm_split(MPI_COMM_WORLD, rank < ranks / 2, rank, &comms[5]);
}

/* One rank's buffers of a case: a side that is sent and one that is received. */
typedef struct {
  int counts[MOST_RANKS], displacements[MOST_RANKS];
  MPI_Datatype types[MOST_RANKS];
  size_t size, origin;
  char *bytes;
} area;

typedef struct {
  int operation, in_place, send_type, receive_type, units, mixed, large;
  uint64_t seed;
} one_case;

static const int SIZES[] = {0, 1, 1, 2, 3, 5, 17, 64, 200, 1000, MOST_UNITS};

/* Units of four integers from one rank to another: what both sides know. Exchanged in place, both ways must be equal. */
static int units_of(const one_case *c, int from, int to) {
  if (c->operation == 0) return c->units;
  int low = from < to ? from : to, high = from < to ? to : from;
  uint64_t x = mix(c->seed ^ (c->in_place ? mix((uint64_t)low << 32 | (unsigned)high) : mix((uint64_t)from << 32 | (unsigned)to)));
  return x % 4 == 0 ? 0 : (int)((x >> 8) % ((uint64_t)c->units + 1));
}

static int type_of(const one_case *c, int receives, int me, int peer) {
  if (c->operation < 2 || !c->mixed) return receives ? c->receive_type : c->send_type;
  if (c->in_place) receives = 1;
  int type = (int)(mix(c->seed + 77u * (unsigned)receives + 1000u * (unsigned)me + (unsigned)peer) % (TYPES - 1));
  return receives && type == 6 ? 2 : type; /* what lies in each other's gaps may be sent, not received */
}

static int elements(int units, int type) {
  return integers[type] ? 4 * units / integers[type] : units;
}

/* Places blocks one behind the other with gaps, in an order of ranks that depends on the case. */
static void lay_out(const one_case *c, area *a, int receives, int me, int ranks) {
  size_t at = 64;
  int turn = (int)(mix(c->seed + (unsigned)me) % (unsigned)ranks);
  for (int k = 0; k < ranks; k++) {
    int peer = c->operation == 0 ? k : (k * (c->mixed ? 1 : ranks - 1) + turn) % ranks;
    int type = type_of(c, receives, me, peer);
    int units = receives ? units_of(c, peer, me) : units_of(c, me, peer);
    MPI_Aint low, extent, true_low, true_extent;
    MPI_Type_get_extent(types[type], &low, &extent);
    MPI_Type_get_true_extent(types[type], &true_low, &true_extent);
    size_t stride = extent > 0 ? (size_t)extent : 1;
    a->counts[peer] = elements(units, type);
    a->types[peer] = types[type];
    if (c->operation == 0) {
      at += (size_t)a->counts[peer] * stride;
      continue;
    }
    at = (at + stride - 1) / stride * stride; /* displacements of MPI_Alltoallv count extents */
    size_t from = at + 64 / stride * stride + stride;
    a->displacements[peer] = (int)(c->operation == 1 ? from / stride : from);
    at = from + (size_t)a->counts[peer] * stride + 64;
  }
  a->size = at + 256;
  a->origin = 128;
  a->bytes = malloc(a->size + 128);
}

static void fill(area *a, uint64_t seed) {
  for (size_t i = 0; i < a->size + 128; i++) a->bytes[i] = (char)mix(seed + i / 8 * 8) + (char)i;
}

static int call(const one_case *c, int ours, const area *s, const area *r, char *into, MPI_Comm comm) {
  const void *out = c->in_place ? MPI_IN_PLACE : s->bytes + s->origin;
  char *in = into + r->origin;
  int ranks;
  MPI_Comm_size(comm, &ranks);
#if LARGE_COUNTS
  if (c->large && ours) {
    MPI_Count sc[MOST_RANKS], rc[MOST_RANKS];
    MPI_Aint sd[MOST_RANKS], rd[MOST_RANKS];
    for (int i = 0; i < ranks; i++) sc[i] = s->counts[i], rc[i] = r->counts[i], sd[i] = s->displacements[i], rd[i] = r->displacements[i];
    if (c->operation == 0) return MPI_Alltoall_c(out, sc[0], s->types[0], in, rc[0], r->types[0], comm);
    if (c->operation == 1) return MPI_Alltoallv_c(out, sc, sd, s->types[0], in, rc, rd, r->types[0], comm);
    return MPI_Alltoallw_c(out, sc, sd, s->types, in, rc, rd, r->types, comm);
  }
#endif
  if (c->operation == 0) {
    return ours ? MPI_Alltoall(out, s->counts[0], s->types[0], in, r->counts[0], r->types[0], comm)
                : PMPI_Alltoall(out, s->counts[0], s->types[0], in, r->counts[0], r->types[0], comm);
  }
  if (c->operation == 1) {
    return ours ? MPI_Alltoallv(out, s->counts, s->displacements, s->types[0], in, r->counts, r->displacements, r->types[0], comm)
                : PMPI_Alltoallv(out, s->counts, s->displacements, s->types[0], in, r->counts, r->displacements, r->types[0], comm);
  }
  return ours ? MPI_Alltoallw(out, s->counts, s->displacements, s->types, in, r->counts, r->displacements, r->types, comm)
              : PMPI_Alltoallw(out, s->counts, s->displacements, s->types, in, r->counts, r->displacements, r->types, comm);
}

static int try_case(const one_case *c, int number, int which) {
  MPI_Comm comm = comms[which];
  int me, ranks, wrong = 0;
  if (comm == MPI_COMM_NULL) return 0;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &ranks);
  /* Open MPI 4 reads beyond the buffer there, in its own MPI_Alltoallw. */
  if (ranks == 1 && c->operation == 2) return 0;
  area s, r;
  lay_out(c, &s, 0, me, ranks);
  lay_out(c, &r, 1, me, ranks);
  fill(&s, c->seed + 31u * (unsigned)me);
  fill(&r, c->seed + 57u * (unsigned)me + 5);
  char *theirs = malloc(r.size + 128);
  memcpy(theirs, r.bytes, r.size + 128);
  int code = call(c, 0, &s, &r, theirs, comm), ours = call(c, 1, &s, &r, r.bytes, comm);
  for (size_t i = 0; i < r.size + 128 && !wrong; i++) {
    if (r.bytes[i] == theirs[i]) continue;
    fprintf(stderr, "case %d: operation %d, %s, types %d and %d, %d units, in place %d, mixed %d: rank %d of %d differs at byte %zu of %zu\n",
            number, c->operation, comm_names[which], c->send_type, c->receive_type, c->units, c->in_place, c->mixed, me, ranks, i, r.size);
    wrong = 1;
  }
  if (code != MPI_SUCCESS || ours != MPI_SUCCESS) wrong = 1;
  free(theirs);
  free(s.bytes);
  free(r.bytes);
  return wrong;
}

int main(int argc, char **argv) {
  int provided, rank, ranks, wrong = 0, any = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3 || ranks > MOST_RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
  int cases = atoi(argv[2]);
  state = strtoull(argv[1], NULL, 10);
  make_types();
  make_communicators(rank, ranks);
  for (int number = 0; number < cases; number++) {
    int which = (int)pick(COMMUNICATORS);
    one_case c = {.operation = (int)pick(3), .in_place = pick(4) == 0, .send_type = (int)pick(TYPES), .receive_type = (int)pick(TYPES),
                  .units = SIZES[pick(sizeof SIZES / sizeof *SIZES)], .mixed = (int)pick(2), .large = (int)pick(2), .seed = mix(state)};
    /* Types of no size go with each other only. */
    if (c.send_type == TYPES - 1 || c.receive_type == TYPES - 1) c.send_type = c.receive_type = pick(4) ? (int)pick(TYPES - 1) : TYPES - 1;
    if (c.in_place) c.send_type = c.receive_type;
    /* Elements that lie in each other's gaps may be sent, not received. */
    if (c.receive_type == 6) c.receive_type = 2;
    if (c.in_place) c.send_type = c.receive_type;
    wrong += try_case(&c, number, which);
  }
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d cases on %d ranks, %d wrong\n", cases, ranks, any);
  for (int i = 1; i < COMMUNICATORS; i++)
    if (comms[i] != MPI_COMM_NULL) MPI_Comm_free(&comms[i]);
  for (int i = 1; i < TYPES; i++) MPI_Type_free(&types[i]);
  MPI_Finalize();
  return any != 0;
}
