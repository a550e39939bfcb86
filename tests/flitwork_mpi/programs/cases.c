/* Random all-to-alls carried out by the library that is loaded and by the MPI library itself: every byte of the receive buffers
 * must agree, gaps included. Arguments: seed, number of cases, and whether calls are `blocking`, `later` (non-blocking and persistent) or both. */
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
#if LARGE_COUNTS || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define PERSISTENT 1
#else
#define PERSISTENT 0
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
  int operation, in_place, send_type, receive_type, units, mixed, large, way;
  uint64_t seed;
} one_case;

/* How the library that is loaded is called. */
enum { BLOCKING, NON_BLOCKING, STARTED, WAYS };

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

/* Counts and displacements of both kinds. */
typedef struct {
  MPI_Count sent[MOST_RANKS], received[MOST_RANKS];
  MPI_Aint from[MOST_RANKS], to[MOST_RANKS];
} wide;

#define CALL(PREFIX, SUFFIX, S, SD, R, RD, ...)                                                           \
  (c->operation == 0   ? PREFIX##lltoall##SUFFIX(out, (S)[0], s->types[0], in, (R)[0], r->types[0], comm __VA_ARGS__) \
   : c->operation == 1 ? PREFIX##lltoallv##SUFFIX(out, S, SD, s->types[0], in, R, RD, r->types[0], comm __VA_ARGS__)  \
                       : PREFIX##lltoallw##SUFFIX(out, S, SD, s->types, in, R, RD, r->types, comm __VA_ARGS__))
#define NARROW(PREFIX, SUFFIX, MORE) CALL(PREFIX, SUFFIX, s->counts, s->displacements, r->counts, r->displacements, MORE)
#define WIDE(PREFIX, SUFFIX, MORE) CALL(PREFIX, SUFFIX, w.sent, w.from, w.received, w.to, MORE)
#define NOTHING
#define REQUEST , request
#define INFO_AND_REQUEST , MPI_INFO_NULL, request

/* Begins a call; a blocking one is complete, and its request null. */
static int begin(const one_case *c, int ours, const area *s, const area *r, char *into, MPI_Comm comm, MPI_Request *request) {
  const void *out = c->in_place ? MPI_IN_PLACE : s->bytes + s->origin;
  char *in = into + r->origin;
  *request = MPI_REQUEST_NULL;
  if (!ours) return NARROW(PMPI_A, , NOTHING);
#if LARGE_COUNTS
  static wide w; /* until the call is complete */
  int ranks;
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks; i++)
    w.sent[i] = s->counts[i], w.received[i] = r->counts[i], w.from[i] = s->displacements[i], w.to[i] = r->displacements[i];
  if (c->large && c->way == BLOCKING) return WIDE(MPI_A, _c, NOTHING);
  if (c->large && c->way == NON_BLOCKING) return WIDE(MPI_Ia, _c, REQUEST);
  if (c->large) return WIDE(MPI_A, _init_c, INFO_AND_REQUEST);
#endif
  if (c->way == BLOCKING) return NARROW(MPI_A, , NOTHING);
  if (c->way == NON_BLOCKING) return NARROW(MPI_Ia, , REQUEST);
#if PERSISTENT
  return NARROW(MPI_A, _init, INFO_AND_REQUEST);
#else
  return MPI_ERR_OTHER;
#endif
}

/* One call, begun and completed. A persistent one is started twice; what is in place gets its data back before the second time. */
static int call(const one_case *c, int ours, const area *s, const area *r, char *into, MPI_Comm comm) {
  MPI_Request request;
  size_t size = r->size + 128;
  char *before = malloc(size);
  memcpy(before, into, size);
  int code = begin(c, ours, s, r, into, comm, &request);
  for (int turn = 0; code == MPI_SUCCESS && ours && c->way == STARTED && turn < 2; turn++) {
    memcpy(into, before, size);
    code = MPI_Start(&request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free(before);
  if (request == MPI_REQUEST_NULL || code != MPI_SUCCESS) return code;
  if (c->way == STARTED) return MPI_Request_free(&request);
  int flag = 0;
  while (code == MPI_SUCCESS && !flag) code = c->mixed ? MPI_Test(&request, &flag, MPI_STATUS_IGNORE) : (flag = 1, MPI_Wait(&request, MPI_STATUS_IGNORE));
  return code;
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
    fprintf(stderr, "case %d: operation %d, way %d, %s, types %d and %d, %d units, in place %d, mixed %d: rank %d of %d differs at byte %zu of %zu\n",
            number, c->operation, c->way, comm_names[which], c->send_type, c->receive_type, c->units, c->in_place, c->mixed, me, ranks, i, r.size);
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
  if (argc < 3 || ranks > MOST_RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
  int first = argc > 3 && strcmp(argv[3], "later") == 0 ? NON_BLOCKING : BLOCKING;
  int past = argc > 3 && strcmp(argv[3], "blocking") == 0 ? NON_BLOCKING : PERSISTENT ? WAYS : STARTED;
  int cases = atoi(argv[2]);
  state = strtoull(argv[1], NULL, 10);
  make_types();
  make_communicators(rank, ranks);
  for (int number = 0; number < cases; number++) {
    int which = (int)pick(COMMUNICATORS);
    one_case c = {.operation = (int)pick(3), .in_place = pick(4) == 0, .send_type = (int)pick(TYPES), .receive_type = (int)pick(TYPES),
                  .units = SIZES[pick(sizeof SIZES / sizeof *SIZES)], .mixed = (int)pick(2), .large = (int)pick(2),
                  .way = first + (int)pick((uint32_t)(past - first)), .seed = mix(state)};
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
