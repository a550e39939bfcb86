/* Messages of all kinds. Each rank adds up what it sends to whom and prints it: `row RANK: BYTES BYTES ...`.
 *
 * Collectives are added up as the algorithms do that the test chooses: linear ones, ring (allgather), pairwise (reduce_scatter) and
 * pairwise_shift (all-to-alls). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 64
static int rank, ranks;
static long long row[MOST];
static char out[1 << 16], in[1 << 16];

static void count(int to, long long bytes) { row[to] += bytes; }

/* World ranks of a communicator, gathered round the ring. */
static void world_of(MPI_Comm comm, int *found) {
  int n, r;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &r);
  MPI_Allgather(&rank, 1, MPI_INT, found, 1, MPI_INT, comm);
  if (n > 1) count(found[(r + 1) % n], (long long)sizeof(int) * (n - 1));
}


static void point_to_point(void) {
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, flag, index, done, which[8];
  MPI_Request requests[8];
  MPI_Status status, statuses[8];
  MPI_Message message;
  if (rank == 0) {
    for (int to = 1; to < ranks; to++) {
      MPI_Send(out, 10 * to, MPI_INT, to, 1, MPI_COMM_WORLD), count(to, 40 * to);
      MPI_Ssend(out, 7, MPI_CHAR, to, 2, MPI_COMM_WORLD), count(to, 7);
    }
    for (int from = 1; from < ranks; from++) MPI_Recv(in, 100, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(in, 1000, MPI_INT, 0, 1, MPI_COMM_WORLD, &status);
    MPI_Recv(in, 1000, MPI_CHAR, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    usleep(1000 * (ranks - rank));
    MPI_Send(out, rank, MPI_DOUBLE, 0, 10 + rank, MPI_COMM_WORLD), count(0, 8 * rank);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  void *room = malloc(4096);
  MPI_Buffer_attach(room, 4096);
  MPI_Bsend(out, 33, MPI_CHAR, right, 3, MPI_COMM_WORLD), count(right, 33);
  MPI_Recv(in, 33, MPI_CHAR, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&room, &done);
  free(room);

  MPI_Datatype column;
  MPI_Type_vector(5, 2, 4, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < 4; i++) MPI_Irecv(in + 4096 * i, 100, MPI_INT, i % 2 ? left : MPI_ANY_SOURCE, i < 2 ? 20 : 21, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < 4; i++) MPI_Isend(out, 1 + i, column, right, i < 2 ? 20 : 21, MPI_COMM_WORLD, &requests[4 + i]), count(right, 40 * (1 + i));
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  MPI_Type_free(&column);

  for (int i = 0; i < 2; i++) MPI_Irecv(in, 500, MPI_CHAR, left, i, MPI_COMM_WORLD, &requests[i]);
  MPI_Issend(out, 200, MPI_CHAR, right, 1, MPI_COMM_WORLD, &requests[2]), count(right, 200);
  MPI_Isend(out, 100, MPI_CHAR, right, 0, MPI_COMM_WORLD, &requests[3]), count(right, 100);
  MPI_Waitany(4, requests, &index, &status);
  MPI_Waitsome(4, requests, &done, which, statuses);
  do MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE); while (!flag);

  MPI_Irecv(in, 5, MPI_CHAR, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, 5, MPI_CHAR, left, 5, MPI_COMM_WORLD, &requests[1]), count(left, 5);
  MPI_Request_free(&requests[1]);
  do MPI_Test(&requests[0], &flag, &status); while (!flag);
  MPI_Irecv(in, 5, MPI_CHAR, left, 99, MPI_COMM_WORLD, &requests[0]);
  MPI_Cancel(&requests[0]);
  MPI_Wait(&requests[0], &status);

  MPI_Recv_init(in, 60, MPI_CHAR, left, 6, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out, 60, MPI_CHAR, right, 6, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 3; i++) {
    if (i == 1) MPI_Start(&requests[0]), MPI_Start(&requests[1]);
    else MPI_Startall(2, requests);
    count(right, 60);
    MPI_Waitall(2, requests, statuses);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);

  MPI_Sendrecv(out, 11, MPI_INT, right, 7, in, 11, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE), count(right, 44);
  MPI_Sendrecv_replace(in, 3, MPI_INT, left, 8, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &status), count(left, 12);
  int up = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, down = rank ? rank - 1 : MPI_PROC_NULL;
  MPI_Sendrecv(out, 9, MPI_CHAR, up, 9, in, 9, MPI_CHAR, down, 9, MPI_COMM_WORLD, &status);
  if (up != MPI_PROC_NULL) count(up, 9);

  MPI_Isend(out, 77, MPI_CHAR, right, 30, MPI_COMM_WORLD, &requests[0]), count(right, 77);
  MPI_Probe(MPI_ANY_SOURCE, 30, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_CHAR, &done);
  MPI_Recv(in, done, MPI_CHAR, status.MPI_SOURCE, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Isend(out, 78, MPI_CHAR, right, 31, MPI_COMM_WORLD, &requests[0]), count(right, 78);
  MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(in, 100, MPI_CHAR, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Isend(out, 79, MPI_CHAR, right, 32, MPI_COMM_WORLD, &requests[0]), count(right, 79);
  do MPI_Improbe(left, 32, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE); while (!flag);
  MPI_Imrecv(in, 100, MPI_CHAR, &message, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void communicators(void) {
  int n, r, all[MOST], sizes[2] = {ranks / 2, 2}, wraps[2] = {1, 0}, keep[2] = {1, 0}, low, high;
  MPI_Comm half, twin, grid, line, bridge, whole, some;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_dup(half, &twin);
  MPI_Comm comms[2] = {half, twin};
  MPI_Comm_size(half, &n);
  MPI_Comm_rank(half, &r);
  world_of(half, all);
  /* The same tag in two communicators, received in the other order. */
  for (int i = 0; n > 1 && i < 2; i++) {
    MPI_Request request;
    if (r == 0) {
      MPI_Request both[2];
      MPI_Isend(out, 100, MPI_CHAR, 1, 0, comms[0], &both[0]), count(all[1], 100);
      MPI_Isend(out, 900, MPI_CHAR, 1, 0, comms[1], &both[1]), count(all[1], 900);
      MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    } else if (r == 1) {
      MPI_Irecv(in, 900, MPI_CHAR, MPI_ANY_SOURCE, 0, comms[1 - i], &request);
      MPI_Recv(in, 900, MPI_CHAR, 0, MPI_ANY_TAG, comms[i], MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  MPI_Comm_free(&twin);
  if (ranks % 2 == 0) {
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, wraps, 0, &grid);
    MPI_Cart_sub(grid, keep, &line);
    MPI_Cart_shift(line, 0, 1, &low, &high);
    world_of(line, all);
    MPI_Sendrecv(out, 17, MPI_CHAR, high, 0, in, 17, MPI_CHAR, low, 0, line, MPI_STATUS_IGNORE), count(all[high], 17);
    MPI_Comm_free(&line);
    MPI_Comm_free(&grid);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? ranks - 2 : ranks - 1, 4, &bridge);
    /* Rank r of a half talks to rank r of the other: both count down from the end. */
    int other = rank % 2 ? rank - 1 : rank + 1;
    MPI_Sendrecv(out, 19, MPI_CHAR, r, 0, in, 19, MPI_CHAR, r, 0, bridge, MPI_STATUS_IGNORE), count(other, 19);
    MPI_Intercomm_merge(bridge, rank % 2, &whole);
    world_of(whole, all);
    MPI_Comm_free(&whole);
    MPI_Comm_free(&bridge);
  }
  MPI_Group world, group;
  int first[2] = {ranks - 1, 0};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 2, first, &group);
  if (rank == 0 || rank == ranks - 1) {
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 1, &some);
    if (rank) MPI_Send(out, 23, MPI_CHAR, 1, 0, some), count(0, 23);
    else MPI_Recv(in, 23, MPI_CHAR, 0, 0, some, MPI_STATUS_IGNORE);
    MPI_Comm_free(&some);
  }
  MPI_Comm_create(MPI_COMM_WORLD, group, &some);
  if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_Comm_free(&half);
}

/* What collectives send by the algorithms of the test. */
static void rooted(int root, long long bytes, int from_root) {
  if (from_root && rank == root)
    for (int to = 0; to < ranks; to++) row[to] += to == root ? 0 : bytes;
  if (!from_root && rank != root) count(root, bytes);
}
static void to_all(const int *counts, int unit) {
  for (int to = 0; to < ranks; to++) row[to] += to == rank ? 0 : (long long)counts[to] * unit;
}
static void chain(long long bytes) {
  if (rank + 1 < ranks) count(rank + 1, bytes);
}

#define BOTH(call, icall) \
  do { \
    MPI_Request request; \
    call; \
    icall; \
    MPI_Wait(&request, MPI_STATUS_IGNORE); \
  } while (0)

static void collectives(void) {
  MPI_Comm w = MPI_COMM_WORLD;
  int counts[MOST], back[MOST], places[MOST], byte_places[MOST], equal[MOST], total = 0, root = ranks - 1;
  MPI_Datatype types[MOST];
  for (int i = 0; i < ranks; i++) {
    counts[i] = (rank + 2 * i) % 5, back[i] = (i + 2 * rank) % 5, equal[i] = 3;
    places[i] = 8 * i, byte_places[i] = 64 * i, types[i] = i % 2 ? MPI_INT : MPI_FLOAT, total += 3;
  }
  BOTH(MPI_Barrier(w), MPI_Ibarrier(w, &request));
  BOTH(MPI_Bcast(out, 100, MPI_INT, root, w), MPI_Ibcast(out, 100, MPI_INT, root, w, &request));
  rooted(root, 800, 1);
  BOTH(MPI_Gather(out, 6, MPI_INT, in, 6, MPI_INT, 0, w), MPI_Igather(out, 6, MPI_INT, in, 6, MPI_INT, 0, w, &request));
  rooted(0, 48, 0);
  if (rank) MPI_Gather(out, 6, MPI_INT, NULL, 0, MPI_INT, 0, w);
  else MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, in, 6, MPI_INT, 0, w);
  rooted(0, 24, 0);
  int own[MOST];
  for (int i = 0; i < ranks; i++) own[i] = i + 1;
  BOTH(MPI_Gatherv(out, rank + 1, MPI_INT, in, own, places, MPI_INT, 0, w),
       MPI_Igatherv(out, rank + 1, MPI_INT, in, own, places, MPI_INT, 0, w, &request));
  rooted(0, 8 * (rank + 1), 0);
  BOTH(MPI_Scatter(out, 5, MPI_INT, in, 5, MPI_INT, root, w), MPI_Iscatter(out, 5, MPI_INT, in, 5, MPI_INT, root, w, &request));
  rooted(root, 40, 1);
  BOTH(MPI_Scatterv(out, own, places, MPI_INT, in, rank + 1, MPI_INT, 0, w),
       MPI_Iscatterv(out, own, places, MPI_INT, in, rank + 1, MPI_INT, 0, w, &request));
  for (int to = 1; rank == 0 && to < ranks; to++) count(to, 8 * (to + 1));
  int next = (rank + 1) % ranks;
  BOTH(MPI_Allgather(out, 4, MPI_INT, in, 4, MPI_INT, w), MPI_Iallgather(out, 4, MPI_INT, in, 4, MPI_INT, w, &request));
  count(next, 32 * (ranks - 1));
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, in, 4, MPI_INT, w), count(next, 16 * (ranks - 1));
  BOTH(MPI_Allgatherv(out, rank + 1, MPI_INT, in, own, places, MPI_INT, w),
       MPI_Iallgatherv(out, rank + 1, MPI_INT, in, own, places, MPI_INT, w, &request));
  count(next, 8 * (ranks * (ranks + 1) / 2 - (next + 1)));
  BOTH(MPI_Alltoall(out, 3, MPI_INT, in, 3, MPI_INT, w), MPI_Ialltoall(out, 3, MPI_INT, in, 3, MPI_INT, w, &request));
  to_all(equal, 8);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, in, 3, MPI_INT, w), to_all(equal, 4);
  BOTH(MPI_Alltoallv(out, counts, places, MPI_INT, in, back, places, MPI_INT, w),
       MPI_Ialltoallv(out, counts, places, MPI_INT, in, back, places, MPI_INT, w, &request));
  to_all(counts, 8);
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, in, equal, places, MPI_INT, w), to_all(equal, 4);
  BOTH(MPI_Alltoallw(out, counts, byte_places, types, in, back, byte_places, types, w),
       MPI_Ialltoallw(out, counts, byte_places, types, in, back, byte_places, types, w, &request));
  to_all(counts, 8);
  BOTH(MPI_Reduce(out, in, 10, MPI_INT, MPI_SUM, root, w), MPI_Ireduce(out, in, 10, MPI_INT, MPI_SUM, root, w, &request));
  rooted(root, 80, 0);
  BOTH(MPI_Allreduce(out, in, 10, MPI_INT, MPI_SUM, w), MPI_Iallreduce(out, in, 10, MPI_INT, MPI_SUM, w, &request));
  /* Recursive doubling; the test has a power of two. */
  for (int bit = 1; bit < ranks; bit *= 2) count(rank ^ bit, 80);
  BOTH(MPI_Reduce_scatter(out, in, equal, MPI_INT, MPI_SUM, w), MPI_Ireduce_scatter(out, in, equal, MPI_INT, MPI_SUM, w, &request));
  to_all(equal, 8);
  BOTH(MPI_Reduce_scatter_block(out, in, 3, MPI_INT, MPI_SUM, w),
       MPI_Ireduce_scatter_block(out, in, 3, MPI_INT, MPI_SUM, w, &request));
  to_all(equal, 8);
  BOTH(MPI_Scan(out, in, 10, MPI_INT, MPI_SUM, w), MPI_Iscan(out, in, 10, MPI_INT, MPI_SUM, w, &request));
  chain(80);
  BOTH(MPI_Exscan(out, in, 10, MPI_INT, MPI_SUM, w), MPI_Iexscan(out, in, 10, MPI_INT, MPI_SUM, w, &request));
  chain(80);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  point_to_point();
  communicators();
  collectives();
  char text[4096];
  int at = snprintf(text, sizeof text, "row %d:", rank);
  for (int to = 0; to < ranks; to++) at += snprintf(text + at, sizeof text - (size_t)at, " %lld", row[to]);
  puts(text);
  MPI_Finalize();
  return 0;
}
