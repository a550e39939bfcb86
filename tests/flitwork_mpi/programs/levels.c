/* Rank 0 asks for another level of threads than its peers; then two all-to-alls. Argument: `differ` or `same`. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  /* Launchers of both families say which rank it is before MPI does. */
  const char *open = getenv("OMPI_COMM_WORLD_RANK"), *other = getenv("PMI_RANK");
  int first = atoi(open != NULL ? open : other != NULL ? other : "0") == 0, differ = argc > 1 && strcmp(argv[1], "differ") == 0;
  int level, rank, ranks, out[64], in[64], wrong = 0;
  MPI_Init_thread(&argc, &argv, first && differ ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < ranks; i++) out[i] = 100 * rank + i + turn, in[i] = -1;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) wrong += in[i] != 100 * i + rank + turn;
  }
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return 0;
}
