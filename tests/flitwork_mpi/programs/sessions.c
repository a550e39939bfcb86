/* A program that uses MPI by sessions alone: all-to-alls in two of them, one within the other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Comm all_of(MPI_Session session) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "flitwork.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return comm;
}

/* Numbers of the right blocks that come from each of the ranks. */
static int right(MPI_Comm comm, int waits) {
  int rank, ranks, good = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int *out = malloc(sizeof(int) * (size_t)ranks), *in = calloc((size_t)ranks, sizeof(int));
  for (int i = 0; i < ranks; i++) out[i] = 100 * rank + i;
  if (waits) {
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
  } else {
    MPI_Request request;
    MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < ranks; i++) good += in[i] == 100 * i + rank;
  free(out);
  free(in);
  return good;
}

int main(void) {
  MPI_Session outer, inner;
  int rank, good = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &outer);
  MPI_Comm comm = all_of(outer);
  MPI_Comm_rank(comm, &rank);
  good += right(comm, 1) + right(comm, 0);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inner);
  MPI_Session_finalize(&inner);
  good += right(comm, 1);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&outer);
  printf("rank %d: %d right blocks\n", rank, good);
  return 0;
}
