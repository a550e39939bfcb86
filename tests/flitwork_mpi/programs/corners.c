/* What is easy to get wrong around an all-to-all: errors, intercommunicators, threads, attributes, communicators that come and go.
 * Prints what is wrong and the number of it. Argument: `errors` for the erroneous calls alone. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, wrong;

static void expect(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  wrong++;
}

/* An all-to-all of `count` integers a block; whether the result is right. */
static int exchange(MPI_Comm comm, int count) {
  int me, all, good = 1;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &all);
  int *out = malloc((size_t)(all * count + 1) * sizeof *out), *in = calloc((size_t)(all * count + 1), sizeof *in);
  for (int i = 0; i < all * count; i++) out[i] = 1000 * me + i / count;
  good = MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, comm) == MPI_SUCCESS;
  for (int i = 0; i < all * count; i++) good = good && in[i] == 1000 * (i / count) + me;
  free(out);
  free(in);
  return good;
}

static int handled, handled_class;

static void on_error(MPI_Comm *comm, int *code, ...) {
  (void)comm;
  handled++;
  MPI_Error_class(*code, &handled_class);
}

static void errors(void) {
  MPI_Errhandler handler;
  MPI_Comm comm;
  int buffer[64] = {0}, in[64], class, place[64] = {0}, counts[64] = {0};
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  expect(exchange(comm, 3), "the first call on a communicator");
  int code = MPI_Alltoall(buffer, -1, MPI_INT, in, -1, MPI_INT, comm);
  MPI_Error_class(code, &class);
  expect(class == MPI_ERR_COUNT && handled == 1 && handled_class == MPI_ERR_COUNT, "a count below 0 reaches the program's handler");
  code = MPI_Alltoall(buffer, 1, MPI_DATATYPE_NULL, in, 1, MPI_DATATYPE_NULL, comm);
  MPI_Error_class(code, &class);
  expect(class == MPI_ERR_TYPE && handled == 2, "a null datatype reaches the program's handler");
  counts[0] = -1;
  code = MPI_Alltoallv(buffer, counts, place, MPI_INT, in, counts, place, MPI_INT, comm);
  expect(code != MPI_SUCCESS && handled == 3, "a count below 0 in MPI_Alltoallv reaches the program's handler");
#ifdef MPICH_VERSION
  /* MPICH looks whether the two buffers are one. */
  code = MPI_Alltoall(buffer, 1, MPI_INT, buffer, 1, MPI_INT, comm);
  MPI_Error_class(code, &class);
  expect(class == MPI_ERR_BUFFER && handled == 4, "one buffer for both sides reaches the program's handler");
#endif
  /* Blocks that are larger than the receiver says. */
  int before = handled;
  code = MPI_Alltoall(buffer, 4, MPI_INT, in, 2, MPI_INT, comm);
  MPI_Error_class(code, &class);
  expect(class == MPI_ERR_TRUNCATE && handled == before + 1 && handled_class == MPI_ERR_TRUNCATE, "a block that is too large reaches the handler");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  code = MPI_Alltoall(buffer, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_NULL);
  MPI_Error_class(code, &class);
  expect(class == MPI_ERR_COMM, "the null communicator is an error");
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
}

static void intercommunicator(void) {
  MPI_Comm half, inter;
  int low = rank < ranks / 2, remote, first = low ? ranks / 2 : 0;
  MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first, 5, &inter);
  MPI_Comm_remote_size(inter, &remote);
  int *out = malloc((size_t)remote * sizeof *out), *in = malloc((size_t)remote * sizeof *in), good = 1;
  for (int i = 0; i < remote; i++) out[i] = 100 * rank + i;
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, inter);
  for (int i = 0; i < remote; i++) good = good && in[i] == 100 * (first + i) + (low ? rank : rank - ranks / 2);
  expect(good, "an intercommunicator");
  free(out);
  free(in);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/* In place, with MPI_BOTTOM and a datatype that holds the addresses. */
static void absolute_addresses(void) {
  MPI_Datatype at, blocks;
  MPI_Aint address;
  int lengths = 1, good = 1, *data = malloc(2 * (size_t)ranks * sizeof *data);
  for (int i = 0; i < 2 * ranks; i++) data[i] = i % 2 ? -1 : 1000 * rank + i / 2;
  MPI_Get_address(data, &address);
  MPI_Type_create_hindexed(1, &lengths, &address, MPI_INT, &at);
  MPI_Type_create_resized(at, 0, 2 * sizeof *data, &blocks);
  MPI_Type_commit(&blocks);
  good = MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, MPI_BOTTOM, 1, blocks, MPI_COMM_WORLD) == MPI_SUCCESS;
  for (int i = 0; i < 2 * ranks; i++) good = good && data[i] == (i % 2 ? -1 : 1000 * (i / 2) + rank);
  expect(good, "absolute addresses in place");
  MPI_Type_free(&at);
  MPI_Type_free(&blocks);
  free(data);
}

static int copies;

static int on_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
  (void)comm, (void)key, (void)extra, (void)in, (void)out;
  copies++;
  *flag = 0;
  return MPI_SUCCESS;
}

static void attributes(void) {
  MPI_Comm comm, second;
  int key;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_keyval(on_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(comm, key, &copies);
  expect(exchange(comm, 2) && copies == 0, "the program's attributes are not copied");
  MPI_Comm_dup(comm, &second);
  expect(copies == 1 && exchange(second, 2) && exchange(comm, 5), "a duplicate of a communicator in use");
  MPI_Comm_free(&second);
  expect(exchange(comm, 2), "a communicator whose duplicate was freed");
  MPI_Comm_free(&comm);
  MPI_Comm_free_keyval(&key);
}

/* More communicators than an MPI library can have at once. */
static void come_and_go(int times) {
  int good = 1;
  for (int i = 0; i < times; i++) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    good = good && exchange(comm, 1);
    MPI_Comm_free(&comm);
  }
  expect(good, "communicators that come and go");
}

typedef struct { MPI_Comm comm; int good; } job;

static void *work(void *argument) {
  job *j = argument;
  j->good = 1;
  for (int i = 0; i < 40; i++) j->good = j->good && exchange(j->comm, 1 + i * 20);
  return NULL;
}

static void threads(void) {
  enum { THREADS = 3 };
  job jobs[THREADS];
  pthread_t ids[THREADS];
  for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &jobs[i].comm);
  for (int i = 0; i < THREADS; i++) pthread_create(&ids[i], NULL, work, &jobs[i]);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(ids[i], NULL);
    expect(jobs[i].good, "threads with a communicator each");
    MPI_Comm_free(&jobs[i].comm);
  }
}

int main(int argc, char **argv) {
  int provided, any = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  expect(exchange(MPI_COMM_WORLD, 4) && exchange(MPI_COMM_SELF, 4) && exchange(MPI_COMM_WORLD, 0), "plain calls");
  if (argc == 2 && strcmp(argv[1], "errors") == 0) {
    errors();
  } else {
    if (ranks > 1) intercommunicator();
    absolute_addresses();
    attributes();
    come_and_go(argc == 2 ? atoi(argv[1]) : 20);
    if (provided == MPI_THREAD_MULTIPLE) threads();
  }
  MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("corners on %d ranks%s: %d wrong\n", ranks, provided == MPI_THREAD_MULTIPLE ? ", threads" : "", any);
  MPI_Finalize();
  return 0;
}
