/* An all-to-all whose data can be checked: prints "right" on rank 0, or what is wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 3 };

int main(int argc, char **argv) {
  int rank, ranks, wrong = 0, wrong_in_all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int *out = malloc(sizeof(int) * BLOCK * (size_t)ranks), *in = malloc(sizeof(int) * BLOCK * (size_t)ranks);
  if (out == NULL || in == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int to = 0; to < ranks; to++)
    for (int i = 0; i < BLOCK; i++) out[to * BLOCK + i] = 1000 * rank + 10 * to + i, in[to * BLOCK + i] = -1;
  MPI_Alltoall(out, BLOCK, MPI_INT, in, BLOCK, MPI_INT, MPI_COMM_WORLD);
  for (int from = 0; from < ranks; from++)
    for (int i = 0; i < BLOCK; i++) wrong += in[from * BLOCK + i] != 1000 * from + 10 * rank + i;
  MPI_Reduce(&wrong, &wrong_in_all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0 && wrong_in_all == 0) printf("right: %d ranks\n", ranks);
  if (rank == 0 && wrong_in_all != 0) printf("%d of %d numbers are wrong\n", wrong_in_all, BLOCK * ranks * ranks);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
