/* What the library adds to an all-to-all: against the same algorithm in this program, and to a call that it passes on. Prints the
 * least of many; says nothing about networks. Arguments: bytes to a peer, repetitions. Run it with FLITWORK_MPI_ALLTOALL=pairwise_shift for
 * the first number, with FLITWORK_MPI_ALLTOALL=library for the second. PMPI_Alltoall is the MPI library's pairwise exchange where it is told to take
 * that: OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_alltoall_algorithm=2, or MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM=pairwise. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The pairwise exchange, as a program would write it. */
static void pairwise(const char *out, char *in, int bytes, MPI_Comm comm) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int step = 1; step < ranks; step++) {
    int to = (rank + step) % ranks, from = (rank + ranks - step) % ranks;
    MPI_Request requests[2];
    MPI_Irecv(in + (size_t)from * (size_t)bytes, bytes, MPI_BYTE, from, 1, comm, &requests[0]);
    MPI_Isend(out + (size_t)to * (size_t)bytes, bytes, MPI_BYTE, to, 1, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  memcpy(in + (size_t)rank * (size_t)bytes, out + (size_t)rank * (size_t)bytes, (size_t)bytes);
}

static int by_value(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int bytes = argc > 1 ? atoi(argv[1]) : 1 << 20, times = argc > 2 ? atoi(argv[2]) : 200;
  char *out = calloc((size_t)ranks, (size_t)bytes), *in = calloc((size_t)ranks, (size_t)bytes);
  double *took[3];
  for (int way = 0; way < 3; way++) took[way] = malloc((size_t)times * sizeof(double));
  for (int i = 0; i < times; i++) {
    for (int turn = 0; turn < 3; turn++) {
      int way = (turn + i) % 3;
      MPI_Barrier(MPI_COMM_WORLD);
      double from = MPI_Wtime(), mine, most;
      if (way == 0) MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
      if (way == 1) pairwise(out, in, bytes, MPI_COMM_WORLD);
      if (way == 2) PMPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
      mine = MPI_Wtime() - from;
      MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      took[way][i] = 1e6 * most;
    }
  }
  for (int way = 0; way < 3; way++) qsort(took[way], (size_t)times, sizeof(double), by_value);
  if (rank == 0) {
    printf("%d ranks, %d bytes to a peer, us (least, median): MPI_Alltoall %.2f %.2f, pairwise in C %.2f %.2f, PMPI_Alltoall %.2f %.2f\n", ranks,
           bytes, took[0][0], took[0][times / 2], took[1][0], took[1][times / 2], took[2][0], took[2][times / 2]);
    printf("ratio of the least to pairwise in C: %.3f, to PMPI_Alltoall: %.3f\n", took[0][0] / took[1][0], took[0][0] / took[2][0]);
  }
  /* A call on one rank alone costs what passing on costs: the MPI library has next to nothing to do. */
  double least[2] = {1, 1};
  for (int i = 0; i < 200; i++) {
    for (int way = 0; way < 2; way++) {
      double from = MPI_Wtime();
      for (int k = 0; k < 100; k++) {
        if (way == 0) MPI_Alltoall(out, 1, MPI_BYTE, in, 1, MPI_BYTE, MPI_COMM_SELF);
        if (way == 1) PMPI_Alltoall(out, 1, MPI_BYTE, in, 1, MPI_BYTE, MPI_COMM_SELF);
      }
      double each = (MPI_Wtime() - from) / 100;
      if (each < least[way]) least[way] = each;
    }
  }
  if (rank == 0) printf("a call that is passed on, least: %.3f us more than without (%.3f us)\n", 1e6 * (least[0] - least[1]), 1e6 * least[1]);
  MPI_Finalize();
  return 0;
}
