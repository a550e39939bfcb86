/* Ranks that are started by others, with the library or without it, and all-to-alls on communicators of both. Argument: `with` or
 * `without`. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STARTED = 2 };
static int wrong;

static void exchange(MPI_Comm comm, int later) {
  int me, all, out[64], in[64];
  MPI_Request request;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &all);
  for (int peer = 0; peer < all; peer++) {
    out[peer] = 100 * me + peer;
    in[peer] = -1;
  }
  if (later) {
    MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm);
  }
  for (int peer = 0; peer < all; peer++) wrong += in[peer] != 100 * peer + me;
}

int main(int argc, char **argv) {
  MPI_Comm parent, inter, all, copy, part;
  int rank, any = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  exchange(MPI_COMM_WORLD, 0);
  if (parent == MPI_COMM_NULL) {
    const char *way = argc > 1 ? argv[1] : "with";
    char *without[] = {"-u", "LD_PRELOAD", argv[0], NULL}, *with[] = {argv[0], NULL};
    MPI_Comm_spawn("/usr/bin/env", strcmp(way, "with") == 0 ? with : without, STARTED, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
  } else {
    inter = parent;
  }
  for (int high = 0; high < 2; high++) {
    MPI_Intercomm_merge(inter, parent == MPI_COMM_NULL ? high : !high, &all);
    exchange(all, 1);
    exchange(all, 0);
    MPI_Comm_dup(all, &copy);
    exchange(copy, 1);
    exchange(copy, 0);
    int mine, size;
    MPI_Comm_rank(all, &mine);
    MPI_Comm_size(all, &size);
    MPI_Comm_split(all, mine == 0 || mine == size - 1, mine, &part); /* of both worlds */
    exchange(part, 0);
    MPI_Comm_free(&part);
    MPI_Comm_split(all, parent == MPI_COMM_NULL, mine, &part); /* of one */
    exchange(part, 0);
    MPI_Comm_free(&part);
    MPI_Comm_free(&copy);
    MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_SUM, high ? 0 : STARTED, all);
    MPI_Comm_free(&all);
  }
  if (parent == MPI_COMM_NULL && rank == 0) printf("spawned: %d wrong\n", any);
  MPI_Comm_disconnect(&inter);
  MPI_Finalize();
  return 0;
}
