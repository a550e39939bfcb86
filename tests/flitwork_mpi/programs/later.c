/* All-to-alls that go on after the call, and what programs do meanwhile. Prints what is wrong and the number of it. Argument: `single` for
 * MPI_Init, without threads. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000) || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define PERSISTENT 1
#else
#define PERSISTENT 0
#endif

enum { MANY = 60 };
static int rank, ranks, wrong;

static void expect(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  wrong++;
}

/* One all-to-all of `count` integers a block. */
typedef struct {
  MPI_Comm comm;
  int count, salt, me, all, *out, *in;
  MPI_Request request;
} job;

static void fill(job *j, int salt) {
  j->salt = salt;
  for (int i = 0; i < j->all * j->count; i++) j->out[i] = salt + 1000 * j->me + i / j->count, j->in[i] = -1;
}

static job make(MPI_Comm comm, int count, int salt) {
  job j = {.comm = comm, .count = count, .request = MPI_REQUEST_NULL};
  MPI_Comm_rank(comm, &j.me);
  MPI_Comm_size(comm, &j.all);
  j.out = malloc((size_t)(j.all * count + 1) * sizeof(int));
  j.in = malloc((size_t)(j.all * count + 1) * sizeof(int));
  fill(&j, salt);
  return j;
}

static job begin(MPI_Comm comm, int count, int salt) {
  job j = make(comm, count, salt);
  if (MPI_Ialltoall(j.out, count, MPI_INT, j.in, count, MPI_INT, comm, &j.request) != MPI_SUCCESS) wrong++;
  return j;
}

static int is_right(const job *j) {
  for (int i = 0; i < j->all * j->count; i++)
    if (j->in[i] != j->salt + 1000 * (i / j->count) + j->me) return 0;
  return 1;
}

static int finish(job *j) {
  int good = is_right(j);
  free(j->out);
  free(j->in);
  return good;
}

/* Many at once, completed in another order on each rank and by every function that completes requests. */
static void many(MPI_Comm comm) {
  job jobs[MANY];
  MPI_Request requests[MANY];
  MPI_Status statuses[MANY];
  int indices[MANY], done = 0, flag = 0, index, good = 1;
  for (int i = 0; i < MANY; i++) jobs[i] = begin(comm, 1 + i % 7 * 300, i);
  for (int i = 0; i < MANY; i++) requests[i] = jobs[i].request;
  int one = (17 + 5 * rank) % MANY;
  MPI_Wait(&requests[one], MPI_STATUS_IGNORE);
  good = good && is_right(&jobs[one]) && requests[one] == MPI_REQUEST_NULL;
  MPI_Waitany(MANY, requests, &index, MPI_STATUS_IGNORE);
  good = good && index != MPI_UNDEFINED && is_right(&jobs[index]);
  MPI_Waitsome(MANY, requests, &done, indices, statuses);
  for (int i = 0; i < done; i++) good = good && is_right(&jobs[indices[i]]);
  while (!flag) MPI_Testany(MANY, requests, &index, &flag, MPI_STATUS_IGNORE);
  if (index != MPI_UNDEFINED) good = good && is_right(&jobs[index]);
  MPI_Testsome(MANY, requests, &done, indices, statuses);
  for (int i = 0; done != MPI_UNDEFINED && i < done; i++) good = good && is_right(&jobs[indices[i]]);
  flag = 0;
  int last = MANY - 1;
  while (!flag) MPI_Request_get_status(requests[last], &flag, MPI_STATUS_IGNORE);
  good = good && is_right(&jobs[last]);
  flag = 0;
  while (!flag) MPI_Testall(MANY, requests, &flag, statuses);
  for (int i = 0; i < MANY; i++) good = finish(&jobs[i]) && good;
  expect(good, "many at once");
}

/* Among other requests: messages, a barrier, persistent messages. */
static void mixed(MPI_Comm comm) {
  int me, all, out[3] = {1, 2, 3}, in[3] = {0, 0, 0};
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &all);
  MPI_Request requests[6];
  MPI_Status statuses[6];
  job a = begin(comm, 500, 3), b = begin(comm, 1, 4);
  int next = (me + 1) % all, before = (me + all - 1) % all;
  MPI_Recv_init(&in[0], 1, MPI_INT, before, 9, comm, &requests[0]);
  MPI_Start(&requests[0]);
  MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[1]);
  requests[2] = a.request;
  MPI_Ibarrier(comm, &requests[3]);
  requests[4] = b.request;
  MPI_Send(&out[0], 1, MPI_INT, next, 9, comm);
  MPI_Isend(&out[1], 1, MPI_INT, next, 10, comm, &requests[5]);
  MPI_Waitall(6, requests, statuses);
  expect(in[0] + in[1] == 3, "messages beside them, received by wildcards, too");
  expect(requests[2] == MPI_REQUEST_NULL && requests[0] != MPI_REQUEST_NULL, "what is complete is null, what persists is not");
  MPI_Request_free(&requests[0]);
  expect(finish(&a) & finish(&b), "among other requests");
}

/* A rank that waits for nothing of this still has to pass on what others wait for. */
static void elsewhere(MPI_Comm comm) {
  int me, all, word = 0;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &all);
  job j = begin(comm, 4000, 8);
  if (me == 0) {
    MPI_Wait(&j.request, MPI_STATUS_IGNORE);
    for (int to = 1; to < all; to++) MPI_Send(&to, 1, MPI_INT, to, 1, comm);
  } else {
    MPI_Recv(&word, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
    expect(word == me, "a message that comes behind it");
    MPI_Wait(&j.request, MPI_STATUS_IGNORE);
  }
  expect(finish(&j), "ranks that wait for something else");
  j = begin(comm, 3000, 9);
  if (me == 1) MPI_Wait(&j.request, MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
  if (me != 1) MPI_Wait(&j.request, MPI_STATUS_IGNORE);
  expect(finish(&j), "ranks that are in a barrier");
}

/* Communicators in another order on each rank, blocking calls between, and the communicator freed before the end. */
static void orders(MPI_Comm comm) {
  int me;
  MPI_Comm a, b;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_dup(comm, &a);
  MPI_Comm_split(comm, 0, -me, &b);
  job first = me % 2 ? begin(b, 700, 1) : begin(a, 600, 2), second = me % 2 ? begin(a, 600, 2) : begin(b, 700, 1);
  MPI_Comm_free(me % 2 ? &a : &b);
  MPI_Comm_free(me % 2 ? &b : &a);
  MPI_Wait(&second.request, MPI_STATUS_IGNORE);
  MPI_Wait(&first.request, MPI_STATUS_IGNORE);
  expect(finish(&first) & finish(&second), "two communicators, in another order on each rank");
  job before = begin(comm, 900, 11), between = make(comm, 900, 12);
  MPI_Alltoall(between.out, 900, MPI_INT, between.in, 900, MPI_INT, comm);
  job behind = begin(comm, 900, 13);
  MPI_Wait(&behind.request, MPI_STATUS_IGNORE);
  MPI_Wait(&before.request, MPI_STATUS_IGNORE);
  expect(finish(&before) & finish(&between) & finish(&behind), "a blocking call between");
}

/* A datatype and arrays that are gone before the end. */
static void arguments(MPI_Comm comm) {
  enum { COUNT = 300 };
  int me, all, good = 1;
  MPI_Datatype pair;
  MPI_Request request;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &all);
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  size_t room = (size_t)all * COUNT * 3 * sizeof(int);
  int *out = malloc(room), *in = calloc(room, 1), *counts = malloc((size_t)all * sizeof(int)), *places = malloc((size_t)all * sizeof(int));
  for (int i = 0; i < all * COUNT * 3; i++) out[i] = me * 1000000 + i;
  for (int peer = 0; peer < all; peer++) counts[peer] = peer == me ? 0 : COUNT, places[peer] = peer * COUNT;
  MPI_Ialltoallv(out, counts, places, pair, in, counts, places, pair, comm, &request);
  MPI_Type_free(&pair);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int peer = 0; peer < all; peer++)
    for (int i = 0; i < COUNT; i++)
      if (in[(peer * COUNT + i) * 3] != (peer == me ? 0 : peer * 1000000 + (me * COUNT + i) * 3) || in[(peer * COUNT + i) * 3 + 1] != 0) good = 0;
  expect(good, "a datatype that is freed before the end");
  free(out), free(in), free(counts), free(places);
}

#if PERSISTENT
/* Persistent ones: started alone and together, in another order on each rank, under way beside each other, freed. */
static void persistent(MPI_Comm comm) {
  enum { FEW = 6 };
  job jobs[FEW];
  MPI_Request requests[FEW];
  MPI_Status statuses[FEW];
  int me, good = 1;
  MPI_Comm_rank(comm, &me);
  for (int i = 0; i < FEW; i++) {
    jobs[i] = make(comm, 1 + 200 * i, i);
    MPI_Alltoall_init(jobs[i].out, jobs[i].count, MPI_INT, jobs[i].in, jobs[i].count, MPI_INT, comm, MPI_INFO_NULL, &requests[i]);
  }
  for (int turn = 0; turn < 5; turn++) {
    for (int i = 0; i < FEW; i++) fill(&jobs[i], 10 * turn + i);
    if (turn % 2) {
      MPI_Startall(FEW, requests);
    } else {
      for (int i = 0; i < FEW; i++) MPI_Start(&requests[(i + me) % FEW]);
    }
    if (turn == 3) MPI_Wait(&requests[me % FEW], MPI_STATUS_IGNORE);
    MPI_Waitall(FEW, requests, statuses);
    for (int i = 0; i < FEW; i++) good = good && is_right(&jobs[i]) && requests[i] != MPI_REQUEST_NULL;
  }
  MPI_Waitall(FEW, requests, statuses);
  for (int i = 0; i < FEW; i++) good = finish(&jobs[i]) && MPI_Request_free(&requests[i]) == MPI_SUCCESS && requests[i] == MPI_REQUEST_NULL && good;
  expect(good, "persistent ones");
  /* Others have the handles afterwards. */
  int word = me, got = -1, all;
  MPI_Comm_size(comm, &all);
  MPI_Recv_init(&got, 1, MPI_INT, (me + all - 1) % all, 4, comm, &requests[0]);
  MPI_Send_init(&word, 1, MPI_INT, (me + 1) % all, 4, comm, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, statuses);
  expect(got == (me + all - 1) % all, "persistent messages behind them");
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}
#endif

static void everything(MPI_Comm comm) {
  many(comm);
  mixed(comm);
  elsewhere(comm);
  orders(comm);
  arguments(comm);
#if PERSISTENT
  persistent(comm);
#endif
}

static void *work(void *comm) {
  for (int i = 0; i < 3; i++) everything(*(MPI_Comm *)comm);
  return NULL;
}

int main(int argc, char **argv) {
  enum { THREADS = 3 };
  int provided = MPI_THREAD_SINGLE, any = 0;
  if (argc == 2 && strcmp(argv[1], "single") == 0) {
    MPI_Init(&argc, &argv);
  } else {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  everything(MPI_COMM_WORLD);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank < (ranks + 1) / 2, rank, &half);
  int size;
  MPI_Comm_size(half, &size);
  if (size > 1) everything(half);
  MPI_Comm_free(&half);
  if (provided == MPI_THREAD_MULTIPLE) {
    MPI_Comm comms[THREADS];
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < THREADS; i++) pthread_create(&ids[i], NULL, work, &comms[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(ids[i], NULL);
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
  }
  MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("later on %d ranks%s: %d wrong\n", ranks, provided == MPI_THREAD_MULTIPLE ? ", threads" : "", any);
  MPI_Finalize();
  return 0;
}
