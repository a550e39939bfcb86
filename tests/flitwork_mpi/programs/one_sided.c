/* One-sided calls between fences; each rank checks what came to it and prints the bytes that it put or had others send. */
#include <mpi.h>
#include <stdio.h>

enum { RANKS = 4, ROOM = 8 };

int main(int argc, char **argv) {
  int rank, wrong = 0, out[ROOM], in[ROOM] = {0}, old[2], there[ROOM] = {0}, half_there = 0;
  MPI_Win window, of_half;
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < ROOM; i++) out[i] = rank + 1;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half); /* the other way round: ranks of a window are not those of the world */
  MPI_Win_create(there, sizeof there, sizeof *there, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_create(&half_there, sizeof half_there, sizeof half_there, MPI_INFO_NULL, half, &of_half);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  for (int turn = 0; turn < 3; turn++) {
    MPI_Put(out, rank + 1, MPI_INT, (rank + 1) % RANKS, 0, rank + 1, MPI_INT, window);
    MPI_Put(out, 1, MPI_INT, rank, ROOM - 1, 1, MPI_INT, window); /* to itself: no message */
    MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    wrong |= there[0] != (rank + RANKS - 1) % RANKS + 1;
    MPI_Get(in, 1, MPI_INT, (rank + 2) % RANKS, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    wrong |= in[0] != (rank + 1) % RANKS + 1;
  }
  MPI_Accumulate(out, 2, MPI_INT, 0, 4, 2, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  wrong |= rank == 0 && there[4] != 1 + 2 + 3 + 4;
  if (rank == 3) MPI_Get_accumulate(out, 2, MPI_INT, old, 2, MPI_INT, 0, 4, 2, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  wrong |= rank == 3 && old[0] != 10;
  MPI_Win_fence(MPI_MODE_NOPRECEDE, of_half);
  if (rank < 2) MPI_Put(out, 1, MPI_INT, 0, 0, 1, MPI_INT, of_half); /* to rank 2 or 3 of the world */
  MPI_Win_fence(MPI_MODE_NOSUCCEED, of_half);
  wrong |= rank >= 2 && half_there != rank - 1;
  MPI_Win_free(&of_half);
  MPI_Win_free(&window);
  int row[RANKS] = {0};
  row[(rank + 1) % RANKS] += 3 * (rank + 1) * 4;                       /* put */
  row[(rank + 2) % RANKS] += 3 * 4;                                    /* got by that rank */
  if (rank != 0) row[0] += 2 * 4;                                      /* accumulated */
  if (rank == 3) row[0] += 2 * 4;                                      /* what is to be added, */
  if (rank == 0) row[3] += 2 * 4;                                      /* and what was there */
  if (rank < 2) row[rank + 2] += 4;
  char text[200];
  int size = snprintf(text, sizeof text, "row %d: %d %d %d %d\n", rank, row[0], row[1], row[2], row[3]);
  fwrite(text, 1, (size_t)size, stdout);
  MPI_Finalize();
  return wrong;
}
