/* Operations that are left to the MPI library: a step of an algorithm can wait for another rank, and nobody calls this library while a
 * program computes. They are counted. */
#include "interpose.h"

#define WHY_NONBLOCKING "non-blocking"
#define WHY_PERSISTENT "persistent"

static void count(report_row **row, const char *operation, const char *why) {
  if (*row == NULL) *row = report_row_of(operation, why, 0);
  report_count(*row, 0);
}

#pragma GCC visibility push(default)

#define LEAVE(NAME, OPERATION, WHY, PARAMETERS, ARGUMENTS)          \
  int MPI_##NAME PARAMETERS {                                       \
    static report_row *row;                                         \
    if (library_is_on()) count(&row, OPERATION, WHY);               \
    return PMPI_##NAME ARGUMENTS;                                   \
  }

LEAVE(Ialltoall, "ialltoall", WHY_NONBLOCKING,
      (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
       MPI_Request *request),
      (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request))

LEAVE(Ialltoallv, "ialltoallv", WHY_NONBLOCKING,
      (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
       const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request))

LEAVE(Ialltoallw, "ialltoallw", WHY_NONBLOCKING,
      (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
       const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request))

#if HAS_PERSISTENT
LEAVE(Alltoall_init, "alltoall_init", WHY_PERSISTENT,
      (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
       MPI_Info info, MPI_Request *request),
      (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))

LEAVE(Alltoallv_init, "alltoallv_init", WHY_PERSISTENT,
      (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
       const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info, request))

LEAVE(Alltoallw_init, "alltoallw_init", WHY_PERSISTENT,
      (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
       const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info, request))
#endif

#if HAS_LARGE_COUNTS
LEAVE(Ialltoall_c, "ialltoall", WHY_NONBLOCKING,
      (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
       MPI_Comm comm, MPI_Request *request),
      (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request))

LEAVE(Ialltoallv_c, "ialltoallv", WHY_NONBLOCKING,
      (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
       const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request))

LEAVE(Ialltoallw_c, "ialltoallw", WHY_NONBLOCKING,
      (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
       const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request))

LEAVE(Alltoall_init_c, "alltoall_init", WHY_PERSISTENT,
      (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
       MPI_Comm comm, MPI_Info info, MPI_Request *request),
      (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))

LEAVE(Alltoallv_init_c, "alltoallv_init", WHY_PERSISTENT,
      (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
       const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info, request))

LEAVE(Alltoallw_init_c, "alltoallw_init", WHY_PERSISTENT,
      (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
       const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
       MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info, request))
#endif
