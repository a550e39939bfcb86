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
/* MPI_Neighbor_alltoallw has addresses for displacements. */
#define NEIGHBOUR_ALLTOALLWS(X) \
  X(CBUF, sendbuf) X(COUNTS, sendcounts) X(AINTS, sdispls) X(TYPES, sendtypes) \
  X(BUF, recvbuf) X(COUNTS, recvcounts) X(AINTS, rdispls) X(TYPES, recvtypes)
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

/* Y(name, name in Fortran, what a neighbour is sent, list): collectives with the neighbours on a grid or a graph, and those that return at once */
#define NEIGHBOURS(Y) \
  Y(Neighbor_allgather, neighbor_allgather, ALLGATHER, ALLGATHERS) Y(Neighbor_allgatherv, neighbor_allgatherv, ALLGATHER, ALLGATHERVS) \
  Y(Neighbor_alltoall, neighbor_alltoall, ALLTOALL, ALLGATHERS) Y(Neighbor_alltoallv, neighbor_alltoallv, ALLTOALLV, ALLTOALLVS) \
  Y(Neighbor_alltoallw, neighbor_alltoallw, ALLTOALLW, NEIGHBOUR_ALLTOALLWS)

/* One-sided calls: Y(name, name in Fortran, list before the window). What goes out is `send...`, what comes in `recv...`. */
#define THERE(X) X(INT, peer) X(AINT, place) X(COUNT_THERE, there) X(TYPE_THERE, type_there)
#define PUTS(X) FROM_ONE(X) THERE(X)
#define GETS(X) TO_ONE(X) THERE(X)
#define ACCUMULATES(X) PUTS(X) X(OP, op)
#define GET_ACCUMULATES(X) FROM_ONE(X) TO_ONE(X) THERE(X) X(OP, op)
#define ONE_SIDED(Y) \
  Y(Put, put, PUTS) Y(Get, get, GETS) Y(Accumulate, accumulate, ACCUMULATES) Y(Get_accumulate, get_accumulate, GET_ACCUMULATES)

/* Calls that communicate and are not recorded. They are counted, and named at the end. Y(C name, Fortran name, arguments in C, arguments in
 * Fortran, the lengths of strings among them). */
#define NOT_RECORDED(Y) \
  Y(Fetch_and_op, fetch_and_op, 7, 8) Y(Compare_and_swap, compare_and_swap, 7, 8) Y(Rput, rput, 9, 10) \
  Y(Rget, rget, 9, 10) Y(Raccumulate, raccumulate, 10, 11) Y(Rget_accumulate, rget_accumulate, 13, 14) \
  Y(Win_complete, win_complete, 1, 2) \
  Y(Win_post, win_post, 3, 4) Y(Win_wait, win_wait, 1, 2) Y(Win_unlock, win_unlock, 2, 3) \
  Y(Win_unlock_all, win_unlock_all, 1, 2) Y(Win_flush, win_flush, 2, 3) \
  Y(Win_flush_all, win_flush_all, 1, 2) Y(Comm_spawn, comm_spawn, 8, 11) \
  Y(Comm_spawn_multiple, comm_spawn_multiple, 9, 12) Y(Comm_accept, comm_accept, 5, 7) \
  Y(Comm_connect, comm_connect, 5, 7) Y(Psend_init, psend_init, 9, 10) Y(Precv_init, precv_init, 9, 10) \
  Y(Isendrecv, isendrecv, 12, 13) Y(Isendrecv_replace, isendrecv_replace, 9, 10)
#endif
