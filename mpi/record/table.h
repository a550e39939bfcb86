/* The calls that are recorded, each once: the wrappers for C, for large counts and for Fortran are made from these lists.
 *
 * A list names the arguments of a call before its communicator, X(kind, name). `name` is a field of `struct call`, or
 * something that records do not need. */
#ifndef FLITWORK_TABLE_H
#define FLITWORK_TABLE_H

#define SENDS(X) X(CBUF, buf) X(COUNT, count) X(TYPE, type) X(INT, peer) X(INT, tag)
#define RECVS(X) X(BUF, buf) X(COUNT, count) X(TYPE, type) X(INT, peer) X(INT, tag)

/* Y(C name, Fortran name, flags) */
#define BLOCKING_SENDS(Y) Y(Send, send, 0) Y(Bsend, bsend, DETACHED) Y(Ssend, ssend, 0) Y(Rsend, rsend, 0)
#define STARTED_SENDS(Y) Y(Isend, isend, STARTED) Y(Ibsend, ibsend, STARTED) Y(Issend, issend, STARTED) Y(Irsend, irsend, STARTED)
#define PERSISTENT_SENDS(Y) \
  Y(Send_init, send_init, STARTED) Y(Bsend_init, bsend_init, STARTED) Y(Ssend_init, ssend_init, STARTED) Y(Rsend_init, rsend_init, STARTED)

#define NO_DATA(X)
#define BCASTS(X) X(BUF, recvbuf) X(COUNT, recvcount) X(TYPE, recvtype) X(INT, root)
#define FROM_ONE(X) X(CBUF, sendbuf) X(COUNT, sendcount) X(TYPE, sendtype)
#define FROM_MANY(X) X(CBUF, sendbuf) X(COUNTS, sendcounts) X(DISPLS, sdispls) X(TYPE, sendtype)
#define TO_ONE(X) X(BUF, recvbuf) X(COUNT, recvcount) X(TYPE, recvtype)
#define TO_MANY(X) X(BUF, recvbuf) X(COUNTS, recvcounts) X(DISPLS, rdispls) X(TYPE, recvtype)
#define GATHERS(X) FROM_ONE(X) TO_ONE(X) X(INT, root)
#define GATHERVS(X) FROM_ONE(X) TO_MANY(X) X(INT, root)
#define SCATTERVS(X) FROM_MANY(X) TO_ONE(X) X(INT, root)
#define ALLGATHERS(X) FROM_ONE(X) TO_ONE(X)
#define ALLGATHERVS(X) FROM_ONE(X) TO_MANY(X)
#define ALLTOALLVS(X) FROM_MANY(X) TO_MANY(X)
#define ALLTOALLWS(X) \
  X(CBUF, sendbuf) X(COUNTS, sendcounts) X(DISPLS, sdispls) X(TYPES, sendtypes) \
  X(BUF, recvbuf) X(COUNTS, recvcounts) X(DISPLS, rdispls) X(TYPES, recvtypes)
#define ALLREDUCES(X) X(CBUF, sendbuf) X(BUF, recvbuf) X(COUNT, recvcount) X(TYPE, recvtype) X(OP, op)
#define REDUCES(X) ALLREDUCES(X) X(INT, root)
#define REDUCE_SCATTERS(X) X(CBUF, sendbuf) X(BUF, recvbuf) X(COUNTS, recvcounts) X(TYPE, recvtype) X(OP, op)

/* Y(name, name in Fortran, kind of record, list): the call, and with an `I` or `i` before it the one that returns at once */
#define COLLECTIVES_WITH_COUNTS(Y) \
  Y(Bcast, bcast, BCAST, BCASTS) Y(Gather, gather, GATHER, GATHERS) Y(Gatherv, gatherv, GATHERV, GATHERVS) \
  Y(Scatter, scatter, SCATTER, GATHERS) Y(Scatterv, scatterv, SCATTERV, SCATTERVS) \
  Y(Allgather, allgather, ALLGATHER, ALLGATHERS) Y(Allgatherv, allgatherv, ALLGATHERV, ALLGATHERVS) \
  Y(Alltoall, alltoall, ALLTOALL, ALLGATHERS) Y(Alltoallv, alltoallv, ALLTOALLV, ALLTOALLVS) \
  Y(Alltoallw, alltoallw, ALLTOALLW, ALLTOALLWS) Y(Reduce, reduce, REDUCE, REDUCES) \
  Y(Allreduce, allreduce, ALLREDUCE, ALLREDUCES) Y(Reduce_scatter, reduce_scatter, REDUCE_SCATTER, REDUCE_SCATTERS) \
  Y(Reduce_scatter_block, reduce_scatter_block, REDUCE_SCATTER_BLOCK, ALLREDUCES) Y(Scan, scan, SCAN, ALLREDUCES) \
  Y(Exscan, exscan, EXSCAN, ALLREDUCES)
#define COLLECTIVES(Y) Y(Barrier, barrier, BARRIER, NO_DATA) COLLECTIVES_WITH_COUNTS(Y)

/* Calls that communicate and are not recorded. They are counted, and named at the end. */
#define NOT_RECORDED(Y) \
  Y(Neighbor_allgather, neighbor_allgather) Y(Neighbor_allgatherv, neighbor_allgatherv) Y(Neighbor_alltoall, neighbor_alltoall) \
  Y(Neighbor_alltoallv, neighbor_alltoallv) Y(Neighbor_alltoallw, neighbor_alltoallw) Y(Ineighbor_allgather, ineighbor_allgather) \
  Y(Ineighbor_allgatherv, ineighbor_allgatherv) Y(Ineighbor_alltoall, ineighbor_alltoall) Y(Ineighbor_alltoallv, ineighbor_alltoallv) \
  Y(Ineighbor_alltoallw, ineighbor_alltoallw) Y(Put, put) Y(Get, get) Y(Accumulate, accumulate) Y(Get_accumulate, get_accumulate) \
  Y(Fetch_and_op, fetch_and_op) Y(Compare_and_swap, compare_and_swap) Y(Rput, rput) Y(Rget, rget) Y(Raccumulate, raccumulate) \
  Y(Rget_accumulate, rget_accumulate) Y(Win_fence, win_fence) Y(Win_start, win_start) Y(Win_complete, win_complete) Y(Win_post, win_post) \
  Y(Win_wait, win_wait) Y(Win_lock, win_lock) Y(Win_unlock, win_unlock) Y(Win_lock_all, win_lock_all) Y(Win_unlock_all, win_unlock_all) \
  Y(Win_flush, win_flush) Y(Win_flush_all, win_flush_all) Y(Comm_spawn, comm_spawn) Y(Comm_spawn_multiple, comm_spawn_multiple) \
  Y(Comm_accept, comm_accept) Y(Comm_connect, comm_connect) Y(Psend_init, psend_init) Y(Precv_init, precv_init) \
  Y(Isendrecv, isendrecv) Y(Isendrecv_replace, isendrecv_replace) \
  Y(Bcast_init, bcast_init) Y(Gather_init, gather_init) Y(Gatherv_init, gatherv_init) Y(Scatter_init, scatter_init) \
  Y(Scatterv_init, scatterv_init) Y(Allgather_init, allgather_init) Y(Allgatherv_init, allgatherv_init) Y(Alltoall_init, alltoall_init) \
  Y(Alltoallv_init, alltoallv_init) Y(Alltoallw_init, alltoallw_init) Y(Reduce_init, reduce_init) Y(Allreduce_init, allreduce_init) \
  Y(Reduce_scatter_init, reduce_scatter_init) Y(Reduce_scatter_block_init, reduce_scatter_block_init) Y(Scan_init, scan_init) \
  Y(Exscan_init, exscan_init) Y(Barrier_init, barrier_init)
#endif
