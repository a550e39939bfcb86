/* One rank gives arguments that the MPI library refuses, while its peers do not call or wait for it. Prints what that rank heard of each;
 * the same must come out whoever carries out the calls. Blocks of nothing that have no type follow where the MPI library takes them. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16, U = 0, V = 1, W = 2 };
static int rank, ranks, wrong;
static int out[2 * MOST], in[2 * MOST];
static MPI_Datatype not_committed;

/* What a call is given. */
typedef struct {
  int form, count, to_count, counts[MOST], to_counts[MOST], places[MOST];
  void *from, *to;
  MPI_Datatype type, to_type, types[MOST], to_types[MOST];
} call;

static void make_right(call *c, int form) {
  *c = (call){.form = form, .count = 2, .to_count = 2, .from = out, .to = in, .type = MPI_INT, .to_type = MPI_INT};
  for (int peer = 0; peer < ranks; peer++) {
    c->counts[peer] = c->to_counts[peer] = 2;
    c->places[peer] = form == W ? 8 * peer : 2 * peer;
    c->types[peer] = c->to_types[peer] = MPI_INT;
    for (int i = 0; i < 2; i++) {
      out[2 * peer + i] = 1000 * rank + 10 * peer + i;
      in[2 * peer + i] = -1;
    }
  }
}

static int make(call *c, MPI_Comm comm, int later) {
  MPI_Request request;
  int code;
  if (!later && c->form == U) return MPI_Alltoall(c->from, c->count, c->type, c->to, c->to_count, c->to_type, comm);
  if (!later && c->form == V)
    return MPI_Alltoallv(c->from, c->counts, c->places, c->type, c->to, c->to_counts, c->places, c->to_type, comm);
  if (!later) return MPI_Alltoallw(c->from, c->counts, c->places, c->types, c->to, c->to_counts, c->places, c->to_types, comm);
  if (c->form == U) {
    code = MPI_Ialltoall(c->from, c->count, c->type, c->to, c->to_count, c->to_type, comm, &request);
  } else if (c->form == V) {
    code = MPI_Ialltoallv(c->from, c->counts, c->places, c->type, c->to, c->to_counts, c->places, c->to_type, comm, &request);
  } else {
    code = MPI_Ialltoallw(c->from, c->counts, c->places, c->types, c->to, c->to_counts, c->places, c->to_types, comm, &request);
  }
  return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

static int is_right(void) {
  for (int peer = 0; peer < ranks; peer++)
    for (int i = 0; i < 2; i++)
      if (in[2 * peer + i] != 1000 * peer + 10 * rank + i) return 0;
  return 1;
}

static const char *const CASES[] = {"count below 0", "count to receive below 0", "no type", "no type to receive", "no elements and no type",
                                    "a type that is not committed", "the same to receive", "in place to receive",
#ifdef MPICH_VERSION
                                    "no address", "no address to receive", "one buffer",
#else
                                    "own block of two sizes",
#endif
                                    NULL};

static void spoil(call *c, const char *how) {
  if (strcmp(how, "count below 0") == 0) c->count = c->counts[0] = -1;
  if (strcmp(how, "count to receive below 0") == 0) c->to_count = c->to_counts[0] = -1;
  if (strcmp(how, "no type") == 0) c->type = c->types[0] = MPI_DATATYPE_NULL;
  if (strcmp(how, "no type to receive") == 0) c->to_type = c->to_types[0] = MPI_DATATYPE_NULL;
  if (strcmp(how, "no elements and no type") == 0) {
    c->type = c->types[0] = MPI_DATATYPE_NULL;
    for (int peer = 0; peer < ranks; peer++) c->counts[peer] = 0;
    c->count = 0;
  }
  if (strcmp(how, "a type that is not committed") == 0) c->type = c->types[0] = not_committed;
  if (strcmp(how, "the same to receive") == 0) c->to_type = c->to_types[0] = not_committed;
  if (strcmp(how, "in place to receive") == 0) c->to = MPI_IN_PLACE;
  if (strcmp(how, "no address") == 0) c->from = NULL;
  if (strcmp(how, "no address to receive") == 0) c->to = NULL;
  if (strcmp(how, "one buffer") == 0) c->from = c->to;
  if (strcmp(how, "own block of two sizes") == 0) c->to_count = c->to_counts[rank] = 1;
}

/* Rank 1 hears of the error while its peers do something else, and hears of it again before it does what they wait for. */
static void refused(int form, int later, const char *how) {
  call c;
  MPI_Comm comm;
  int classes[2] = {0, 0};
#ifdef MPICH_VERSION
  int one_buffer = strcmp(how, "one buffer") == 0 && form != U; /* its counts must be one array, too */
  if (one_buffer || (form == W && strcmp(how, "no elements and no type") == 0)) return;
#endif
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int turn = 0; turn < 2; turn++) {
    if (rank == 1) {
      make_right(&c, form);
      spoil(&c, how);
      MPI_Error_class(make(&c, comm, later), &classes[turn]);
    }
    if (turn == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
  make_right(&c, form);
  if (make(&c, comm, later) != MPI_SUCCESS || !is_right()) wrong++;
  MPI_Comm_free(&comm);
  if (rank == 1) printf("%c%s, %s: %d %d\n", "uvw"[form], later ? ", not waited for" : "", how, classes[0], classes[1]);
}

#ifdef MPICH_VERSION
/* Ranks send to their neighbour alone; rank 1 has no types for the others. */
static void no_type(int later) {
  call c;
  int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  make_right(&c, W);
  for (int peer = 0; peer < ranks; peer++) {
    if (peer != to) c.counts[peer] = 0;
    if (peer != from) c.to_counts[peer] = 0;
    if (rank == 1 && peer != to) c.types[peer] = MPI_DATATYPE_NULL;
    if (rank == 1 && peer != from) c.to_types[peer] = MPI_DATATYPE_NULL;
  }
  if (make(&c, MPI_COMM_WORLD, later) != MPI_SUCCESS) wrong++;
  for (int peer = 0; peer < ranks; peer++)
    for (int i = 0; i < 2; i++)
      if (in[2 * peer + i] != (peer == from ? 1000 * peer + 10 * rank + i : -1)) wrong++;
}
#endif

int main(int argc, char **argv) {
  int any = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* where Open MPI reports some */
  MPI_Type_contiguous(1, MPI_INT, &not_committed);
  for (int later = 0; later < 2; later++) {
    for (int form = U; form <= W; form++)
      for (int i = 0; CASES[i] != NULL; i++) refused(form, later, CASES[i]);
#ifdef MPICH_VERSION
    no_type(later);
#endif
  }
  MPI_Type_free(&not_committed);
  MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  if (rank == 1) printf("refused on %d ranks: %d wrong\n", ranks, any);
  MPI_Finalize();
  return 0;
}
