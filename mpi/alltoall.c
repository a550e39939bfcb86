/* The functions of MPI that programs call here instead of in the MPI library. */
#include "interpose.h"

#pragma GCC visibility push(default)

/* ---- start and end ---- */

static int begun(int code) {
  if (code != MPI_SUCCESS) return code;
  settings_agree_on_world();
  refused_begins();
  prepare(MPI_COMM_WORLD);
  return code;
}

int MPI_Init(int *argc, char ***argv) {
  int level = progress_level(MPI_THREAD_SINGLE), provided;
  return begun(level == MPI_THREAD_SINGLE ? PMPI_Init(argc, argv) : PMPI_Init_thread(argc, argv, level, &provided));
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  return begun(PMPI_Init_thread(argc, argv, progress_level(required), provided));
}

int MPI_Finalize(void) {
  if (library_is_on()) {
    if (settings_of_process()->report) report_print();
    library_ends();
  }
  return PMPI_Finalize();
}

#if HAS_SESSIONS
/* Sessions that are open. Where a program has nothing else there is no MPI_COMM_WORLD over which its ranks could agree: its calls are left to
 * the MPI library, and counted. */
static atomic_int sessions;

int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session) {
  int code = PMPI_Session_init(info, handler, session);
  if (code == MPI_SUCCESS) atomic_fetch_add(&sessions, 1);
  if (code == MPI_SUCCESS) settings_say_started();
  return code;
}

int MPI_Session_finalize(MPI_Session *session) {
  int is_one = session != NULL && *session != MPI_SESSION_NULL;
  if (is_one && atomic_fetch_sub(&sessions, 1) == 1 && !library_is_on() && settings_of_process()->report) report_print_alone(*session);
  return PMPI_Session_finalize(session);
}
#endif

/* ---- blocking ---- */

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                 MPI_Comm comm) {
  side send = side_uniform(sendbuf, sendcount, sendtype), receive = side_uniform(recvbuf, recvcount, recvtype);
  int result;
  if (take(ALLTOALL, &send, &receive, comm, &result)) return result;
  return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
                  const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  side send = side_v(sendbuf, sendcounts, sdispls, sendtype, 0), receive = side_v(recvbuf, recvcounts, rdispls, recvtype, 0);
  int result;
  if (take(ALLTOALLV, &send, &receive, comm, &result)) return result;
  return PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

int MPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                  const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  side send = side_w(sendbuf, sendcounts, sdispls, sendtypes, 0), receive = side_w(recvbuf, recvcounts, rdispls, recvtypes, 0);
  int result;
  if (take(ALLTOALLW, &send, &receive, comm, &result)) return result;
  return PMPI_Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}

#if HAS_LARGE_COUNTS
int MPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm) {
  side send = side_uniform(sendbuf, sendcount, sendtype), receive = side_uniform(recvbuf, recvcount, recvtype);
  int result;
  if (take(ALLTOALL, &send, &receive, comm, &result)) return result;
  return PMPI_Alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  side send = side_v(sendbuf, sendcounts, sdispls, sendtype, 1), receive = side_v(recvbuf, recvcounts, rdispls, recvtype, 1);
  int result;
  if (take(ALLTOALLV, &send, &receive, comm, &result)) return result;
  return PMPI_Alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm);
}

int MPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                    MPI_Comm comm) {
  side send = side_w(sendbuf, sendcounts, sdispls, sendtypes, 1), receive = side_w(recvbuf, recvcounts, rdispls, recvtypes, 1);
  int result;
  if (take(ALLTOALLW, &send, &receive, comm, &result)) return result;
  return PMPI_Alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm);
}
#endif
