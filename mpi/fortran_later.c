/* What Fortran needs beside the blocking all-to-alls: non-blocking and persistent ones, requests that are started and freed, and communicators
 * that are made. What is not taken over goes on to the MPI library's Fortran function of the same name, which keeps what it needs. */
#define _GNU_SOURCE
#include "fortran.h"
#include <dlfcn.h>
#include <stdlib.h>

/* ---- persistent requests, for both families: `use mpi_f08` of MPICH starts and frees them by other ways than C ---- */

FORTRAN f_start(MPI_Fint *request, MPI_Fint *ierr) {
  MPI_Request in_c = PMPI_Request_f2c(*request);
  int code = MPI_Start(&in_c);
  if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(in_c);
  set_error(ierr, code);
}

FORTRAN f_startall(const MPI_Fint *count, MPI_Fint *requests, MPI_Fint *ierr) {
  int many = *count > 0 ? (int)*count : 0;
  MPI_Request *in_c = malloc(((size_t)many + 1) * sizeof *in_c);
  if (in_c == NULL) {
    set_error(ierr, MPI_ERR_NO_MEM);
    return;
  }
  for (int i = 0; i < many; i++) in_c[i] = PMPI_Request_f2c(requests[i]);
  int code = MPI_Startall((int)*count, in_c);
  for (int i = 0; code == MPI_SUCCESS && i < many; i++) requests[i] = PMPI_Request_c2f(in_c[i]);
  free(in_c);
  set_error(ierr, code);
}

FORTRAN f_request_free(MPI_Fint *request, MPI_Fint *ierr) {
  MPI_Request in_c = PMPI_Request_f2c(*request);
  int code = MPI_Request_free(&in_c);
  if (code == MPI_SUCCESS) *request = PMPI_Request_c2f(in_c);
  set_error(ierr, code);
}

NAME(f_start, mpi_start_f08_);
NAME(f_startall, mpi_startall_f08_);
NAME(f_request_free, mpi_request_free_f08_);

/* ---- the library's own function of a name ---- */

typedef void any_function();
/* As many words as a function has, and no more: the words beside them on the stack are its caller's own. */
#define W1 void *a
#define W2 W1, void *b
#define W3 W2, void *c
#define W4 W3, void *d
#define W5 W4, void *e
#define W6 W5, void *f
#define W7 W6, void *g
#define W8 W7, void *h
#define W9 W8, void *i
#define W10 W9, void *j
#define W11 W10, void *k
#define W12 W11, void *l
#define G1 a
#define G2 G1, b
#define G3 G2, c
#define G4 G3, d
#define G5 G4, e
#define G6 G5, f
#define G7 G6, g
#define G8 G7, h
#define G9 G8, i
#define G10 G9, j
#define G11 G10, k
#define G12 G11, l

static any_function *next(any_function **kept, const char *name) {
  if (*kept == NULL) *kept = (any_function *)(uintptr_t)dlsym(RTLD_NEXT, name);
  if (*kept == NULL) {
    say_once("a Fortran function of the MPI library cannot be found; the program stops.");
    PMPI_Abort(MPI_COMM_WORLD, 1);
  }
  return *kept;
}

/* ---- communicators: OUT is the argument with the new one, IERR the last, number COUNT ---- */

static void made(MPI_Fint *out, const MPI_Fint *ierr) {
  if (ierr != NULL && *ierr != MPI_SUCCESS) return;
  prepare(PMPI_Comm_f2c(*out));
}

#define MAKES(name, COUNT, OUT, IERR)                                        \
  __attribute__((visibility("default"))) void name(W##COUNT);           \
  void name(W##COUNT) {                                                 \
    static any_function *kept;                                          \
    *(MPI_Fint *)(OUT) = PMPI_Comm_c2f(MPI_COMM_NULL);                  \
    next(&kept, #name)(G##COUNT);                                       \
    made(OUT, IERR);                                                    \
  }
#ifdef OPEN_MPI
#define MAKES_ALL(lower, COUNT, OUT, IERR) \
  MAKES(lower, COUNT, OUT, IERR) MAKES(lower##_, COUNT, OUT, IERR) MAKES(lower##__, COUNT, OUT, IERR) MAKES(lower##_f08_, COUNT, OUT, IERR)
#else
#define MAKES_ALL(lower, COUNT, OUT, IERR) MAKES(lower##_f08_, COUNT, OUT, IERR)
#endif
MAKES_ALL(mpi_comm_dup, 3, b, c)
MAKES_ALL(mpi_comm_dup_with_info, 4, c, d)
MAKES_ALL(mpi_comm_create, 4, c, d)
MAKES_ALL(mpi_comm_create_group, 5, d, e)
MAKES_ALL(mpi_comm_split, 5, d, e)
MAKES_ALL(mpi_comm_split_type, 6, e, f)
MAKES_ALL(mpi_intercomm_merge, 4, c, d)
MAKES_ALL(mpi_cart_create, 7, f, g)
MAKES_ALL(mpi_cart_sub, 4, c, d)
MAKES_ALL(mpi_graph_create, 7, f, g)
MAKES_ALL(mpi_dist_graph_create, 10, i, j)
MAKES_ALL(mpi_dist_graph_create_adjacent, 11, j, k)

#ifdef OPEN_MPI

NAMES(f_start, mpi_start, MPI_START);
NAMES(f_startall, mpi_startall, MPI_STARTALL);
NAMES(f_request_free, mpi_request_free, MPI_REQUEST_FREE);

/* ---- all-to-alls: 1 where it was taken over ---- */

static int take_one(int kind, int operation, side *send, side *receive, MPI_Comm comm, MPI_Fint *request, MPI_Fint *ierr) {
  MPI_Request in_c = MPI_REQUEST_NULL;
  int result;
  if (!take_later(kind, operation, send, receive, comm, &in_c, &result)) return 0;
  *request = PMPI_Request_c2f(in_c);
  set_error(ierr, result);
  return 1;
}

static int take_uniform(int kind, char *out, const MPI_Fint *sendcount, const MPI_Fint *sendtype, char *in, const MPI_Fint *recvcount,
                        const MPI_Fint *recvtype, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierr) {
  void *from = buffer_of(out);
  side send = side_uniform(from, *sendcount, from == MPI_IN_PLACE ? MPI_DATATYPE_NULL : PMPI_Type_f2c(*sendtype));
  side receive = side_uniform(buffer_of(in), *recvcount, PMPI_Type_f2c(*recvtype));
  return take_one(kind, ALLTOALL, &send, &receive, PMPI_Comm_f2c(*comm), request, ierr);
}

/* With one datatype, or with one for each rank. */
static int take_each(int kind, int operation, char *out, const MPI_Fint *sendcounts, const MPI_Fint *sdispls, const MPI_Fint *sendtypes,
                     char *in, const MPI_Fint *recvcounts, const MPI_Fint *rdispls, const MPI_Fint *recvtypes, const MPI_Fint *comm,
                     MPI_Fint *request, MPI_Fint *ierr) {
  void *from = buffer_of(out);
  MPI_Comm c = PMPI_Comm_f2c(*comm);
  int ranks = ranks_of(c), in_place = from == MPI_IN_PLACE;
  int *owned[4] = {NULL, NULL, NULL, NULL};
  const int *sc = in_place ? NULL : ints(sendcounts, ranks, &owned[0]), *sd = in_place ? NULL : ints(sdispls, ranks, &owned[1]);
  const int *rc = ints(recvcounts, ranks, &owned[2]), *rd = ints(rdispls, ranks, &owned[3]);
  MPI_Datatype *st = NULL, *rt = NULL;
  side send, receive;
  if (operation == ALLTOALLW) {
    st = in_place ? NULL : datatypes(sendtypes, ranks);
    rt = datatypes(recvtypes, ranks);
    send = side_w(from, sc, sd, st, 0);
    receive = side_w(buffer_of(in), rc, rd, rt, 0);
  } else {
    send = side_v(from, sc, sd, in_place ? MPI_DATATYPE_NULL : PMPI_Type_f2c(*sendtypes), 0);
    receive = side_v(buffer_of(in), rc, rd, PMPI_Type_f2c(*recvtypes), 0);
  }
  int taken = take_one(kind, operation, &send, &receive, c, request, ierr);
  for (int i = 0; i < 4; i++) free(owned[i]);
  free(st);
  free(rt);
  return taken;
}

#define LATER(name, COUNT, TAKEN)                              \
  __attribute__((visibility("default"))) void name(W##COUNT); \
  void name(W##COUNT) {                                       \
    static any_function *kept;                             \
    if (!(TAKEN)) next(&kept, #name)(G##COUNT);               \
  }
#define LATER_ALL(lower, COUNT, TAKEN) \
  LATER(lower, COUNT, TAKEN) LATER(lower##_, COUNT, TAKEN) LATER(lower##__, COUNT, TAKEN) LATER(lower##_f08_, COUNT, TAKEN)
LATER_ALL(mpi_ialltoall, 9, take_uniform(NON_BLOCKING, a, b, c, d, e, f, g, h, i))
LATER_ALL(mpi_ialltoallv, 11, take_each(NON_BLOCKING, ALLTOALLV, a, b, c, d, e, f, g, h, i, j, k))
LATER_ALL(mpi_ialltoallw, 11, take_each(NON_BLOCKING, ALLTOALLW, a, b, c, d, e, f, g, h, i, j, k))
#if HAS_PERSISTENT
LATER_ALL(mpi_alltoall_init, 10, take_uniform(PERSISTENT, a, b, c, d, e, f, g, i, j))
LATER_ALL(mpi_alltoallv_init, 12, take_each(PERSISTENT, ALLTOALLV, a, b, c, d, e, f, g, h, i, k, l))
LATER_ALL(mpi_alltoallw_init, 12, take_each(PERSISTENT, ALLTOALLW, a, b, c, d, e, f, g, h, i, k, l))
#endif
#endif
