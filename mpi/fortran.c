/* The Fortran functions that do not call the C functions of MPI. With Open MPI that is all of them: mpif.h and `use mpi` by the names
 * that compilers give, `use mpi_f08` by its own. Those of MPICH call MPI_Alltoall in C and are taken over there, but for the start and the
 * end of `use mpi_f08`. */
#define _GNU_SOURCE
#include "fortran.h"
#include <dlfcn.h>
#include <stdlib.h>

FORTRAN f_init(MPI_Fint *ierr) {
  set_error(ierr, MPI_Init(NULL, NULL));
}

FORTRAN f_init_thread(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr) {
  int level = 0;
  set_error(ierr, MPI_Init_thread(NULL, NULL, (int)*required, &level));
  *provided = (MPI_Fint)level;
}

FORTRAN f_finalize(MPI_Fint *ierr) {
  set_error(ierr, MPI_Finalize());
}

NAME(f_init, mpi_init_f08_);
NAME(f_init_thread, mpi_init_thread_f08_);
NAME(f_finalize, mpi_finalize_f08_);

#ifdef OPEN_MPI

/* The addresses that stand for MPI_IN_PLACE and MPI_BOTTOM: common blocks that the program and the library share. */
static void *find_common(const char *const names[4]) {
  for (int i = 0; i < 4; i++) {
    void *at = dlsym(RTLD_DEFAULT, names[i]);
    if (at != NULL) return at;
  }
  return NULL;
}

void *buffer_of(char *buffer) {
  static const char *const IN_PLACE[] = {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"};
  static const char *const BOTTOM[] = {"mpi_fortran_bottom_", "mpi_fortran_bottom", "mpi_fortran_bottom__", "MPI_FORTRAN_BOTTOM"};
  static void *in_place, *bottom;
  if (in_place == NULL) in_place = find_common(IN_PLACE);
  if (bottom == NULL) bottom = find_common(BOTTOM);
  if (buffer == NULL) return NULL;
  if (buffer == in_place) return MPI_IN_PLACE;
  return buffer == bottom ? MPI_BOTTOM : buffer;
}

int ranks_of(MPI_Comm comm) {
  int ranks = 0, inter = 0;
  if (comm == MPI_COMM_NULL || !library_is_on()) return 0;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return 0;
  if ((inter ? PMPI_Comm_remote_size(comm, &ranks) : PMPI_Comm_size(comm, &ranks)) != MPI_SUCCESS) return 0;
  return ranks;
}

/* Fortran integers as C integers: the same memory where they are as long. */
const int *ints(const MPI_Fint *numbers, int count, int **owned) {
  if (sizeof(MPI_Fint) == sizeof(int)) return (const int *)(const void *)numbers;
  *owned = malloc(((size_t)count + 1) * sizeof **owned);
  for (int i = 0; *owned != NULL && i < count; i++) (*owned)[i] = (int)numbers[i];
  return *owned;
}

MPI_Datatype *datatypes(const MPI_Fint *types, int count) {
  MPI_Datatype *owned = malloc(((size_t)count + 1) * sizeof *owned);
  for (int i = 0; owned != NULL && i < count; i++) owned[i] = PMPI_Type_f2c(types[i]);
  return owned;
}

FORTRAN f_alltoall(char *sendbuf, const MPI_Fint *sendcount, const MPI_Fint *sendtype, char *recvbuf, const MPI_Fint *recvcount,
                   const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierr) {
  void *send = buffer_of(sendbuf);
  /* In place the arguments of the sender have no meaning. */
  MPI_Datatype type = send == MPI_IN_PLACE ? MPI_DATATYPE_NULL : PMPI_Type_f2c(*sendtype);
  set_error(ierr, MPI_Alltoall(send, (int)*sendcount, type, buffer_of(recvbuf), (int)*recvcount, PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)));
}

FORTRAN f_alltoallv(char *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *sdispls, const MPI_Fint *sendtype, char *recvbuf,
                    const MPI_Fint *recvcounts, const MPI_Fint *rdispls, const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *ierr) {
  void *send = buffer_of(sendbuf);
  int in_place = send == MPI_IN_PLACE;
  MPI_Comm c = PMPI_Comm_f2c(*comm);
  int ranks = ranks_of(c);
  int *owned[4] = {NULL, NULL, NULL, NULL};
  set_error(ierr, MPI_Alltoallv(send, in_place ? NULL : ints(sendcounts, ranks, &owned[0]), in_place ? NULL : ints(sdispls, ranks, &owned[1]),
                           in_place ? MPI_DATATYPE_NULL : PMPI_Type_f2c(*sendtype), buffer_of(recvbuf), ints(recvcounts, ranks, &owned[2]),
                           ints(rdispls, ranks, &owned[3]), PMPI_Type_f2c(*recvtype), c));
  for (int i = 0; i < 4; i++) free(owned[i]);
}

FORTRAN f_alltoallw(char *sendbuf, const MPI_Fint *sendcounts, const MPI_Fint *sdispls, const MPI_Fint *sendtypes, char *recvbuf,
                    const MPI_Fint *recvcounts, const MPI_Fint *rdispls, const MPI_Fint *recvtypes, const MPI_Fint *comm, MPI_Fint *ierr) {
  void *send = buffer_of(sendbuf);
  int in_place = send == MPI_IN_PLACE;
  MPI_Comm c = PMPI_Comm_f2c(*comm);
  int ranks = ranks_of(c);
  int *owned[4] = {NULL, NULL, NULL, NULL};
  MPI_Datatype *out = in_place ? NULL : datatypes(sendtypes, ranks), *in = datatypes(recvtypes, ranks);
  set_error(ierr, MPI_Alltoallw(send, in_place ? NULL : ints(sendcounts, ranks, &owned[0]), in_place ? NULL : ints(sdispls, ranks, &owned[1]), out,
                           buffer_of(recvbuf), ints(recvcounts, ranks, &owned[2]), ints(rdispls, ranks, &owned[3]), in, c));
  for (int i = 0; i < 4; i++) free(owned[i]);
  free(out);
  free(in);
}

NAMES(f_init, mpi_init, MPI_INIT);
NAMES(f_init_thread, mpi_init_thread, MPI_INIT_THREAD);
NAMES(f_finalize, mpi_finalize, MPI_FINALIZE);
NAMES(f_alltoall, mpi_alltoall, MPI_ALLTOALL);
NAMES(f_alltoallv, mpi_alltoallv, MPI_ALLTOALLV);
NAMES(f_alltoallw, mpi_alltoallw, MPI_ALLTOALLW);
NAME(f_alltoall, mpi_alltoall_f08_);
NAME(f_alltoallv, mpi_alltoallv_f08_);
NAME(f_alltoallw, mpi_alltoallw_f08_);
#endif
