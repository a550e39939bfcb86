/* The all-to-alls that return before they are complete, and those that are started again and again. */
#include "interpose.h"

#pragma GCC visibility push(default)

#define UNIFORM_SIDES(LARGE) \
  side send = side_uniform(sendbuf, sendcount, sendtype), receive = side_uniform(recvbuf, recvcount, recvtype);
#define V_SIDES(LARGE)                                             \
  side send = side_v(sendbuf, sendcounts, sdispls, sendtype, LARGE), \
       receive = side_v(recvbuf, recvcounts, rdispls, recvtype, LARGE);
#define W_SIDES(LARGE)                                              \
  side send = side_w(sendbuf, sendcounts, sdispls, sendtypes, LARGE), \
       receive = side_w(recvbuf, recvcounts, rdispls, recvtypes, LARGE);

#define LATER(NAME, KIND, OPERATION, SIDES, PARAMETERS, ARGUMENTS)                                  \
  int MPI_##NAME PARAMETERS {                                                                       \
    int result;                                                                                     \
    SIDES if (take_later(KIND, OPERATION, &send, &receive, comm, request, &result)) return result; \
    return PMPI_##NAME ARGUMENTS;                                                                   \
  }

LATER(Ialltoall, NON_BLOCKING, ALLTOALL, UNIFORM_SIDES(0),
      (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
       MPI_Request *request),
      (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request))

LATER(Ialltoallv, NON_BLOCKING, ALLTOALLV, V_SIDES(0),
      (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
       const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request))

LATER(Ialltoallw, NON_BLOCKING, ALLTOALLW, W_SIDES(0),
      (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
       const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request))

#if HAS_PERSISTENT
LATER(Alltoall_init, PERSISTENT, ALLTOALL, UNIFORM_SIDES(0),
      (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
       MPI_Info info, MPI_Request *request),
      (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))

LATER(Alltoallv_init, PERSISTENT, ALLTOALLV, V_SIDES(0),
      (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
       const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info, request))

LATER(Alltoallw_init, PERSISTENT, ALLTOALLW, W_SIDES(0),
      (const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
       const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info, request))
#endif

#if HAS_LARGE_COUNTS
LATER(Ialltoall_c, NON_BLOCKING, ALLTOALL, UNIFORM_SIDES(1),
      (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
       MPI_Comm comm, MPI_Request *request),
      (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request))

LATER(Ialltoallv_c, NON_BLOCKING, ALLTOALLV, V_SIDES(1),
      (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
       const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, request))

LATER(Ialltoallw_c, NON_BLOCKING, ALLTOALLW, W_SIDES(1),
      (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
       const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, request))

LATER(Alltoall_init_c, PERSISTENT, ALLTOALL, UNIFORM_SIDES(1),
      (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
       MPI_Comm comm, MPI_Info info, MPI_Request *request),
      (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request))

LATER(Alltoallv_init_c, PERSISTENT, ALLTOALLV, V_SIDES(1),
      (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
       const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info, request))

LATER(Alltoallw_init_c, PERSISTENT, ALLTOALLW, W_SIDES(1),
      (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
       const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
       MPI_Request *request),
      (sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info, request))
#endif
