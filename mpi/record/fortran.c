/* The same calls in Fortran: mpif.h, `use mpi`, and `use mpi_f08` of Open MPI, whose arguments are the same addresses.
 *
 * A program's call goes on to the library's own Fortran function, which knows the names that stand for "in place" and "ignore"; what it
 * calls in C is not recorded again. `ierr` may be absent in mpi_f08. */
#include "record.h"
#include "table.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS_OF_STATUS (sizeof(MPI_Status) / sizeof(MPI_Fint))
#define OPEN(...) __VA_ARGS__
typedef void (*function)();

static function next(const char *symbol) {
  function found = (function)dlsym(RTLD_NEXT, symbol);
  if (found) return found;
  fprintf(stderr, "flitwork mpi record: this MPI library has no %s\n", symbol);
  abort();
}

#define ENTRY(symbol, name, PARAMETERS, ARGUMENTS) \
  void symbol(OPEN PARAMETERS, MPI_Fint *ierr) { \
    static function real; \
    if (!real) real = next(#symbol); \
    fortran_##name(real, OPEN ARGUMENTS, ierr); \
  }
/* `after` is done where the call was right and is recorded; `before` always. */
#define WRAP(name, PARAMETERS, ARGUMENTS, before, after) \
  static void fortran_##name(function real, OPEN PARAMETERS, MPI_Fint *ierr) { \
    MPI_Fint rc = MPI_SUCCESS; \
    before; \
    flitwork_enter(); \
    real(OPEN ARGUMENTS, &rc); \
    if (rc == MPI_SUCCESS && flitwork_records()) { after; } \
    flitwork_leave(); \
    if (ierr) *ierr = rc; \
  } \
  ENTRY(mpi_##name##_, name, PARAMETERS, ARGUMENTS) \
  ENTRY(mpi_##name, name, PARAMETERS, ARGUMENTS) \
  ENTRY(mpi_##name##__, name, PARAMETERS, ARGUMENTS) \
  ENTRY(mpi_##name##_f08_, name, PARAMETERS, ARGUMENTS)

/* What stands for MPI_IN_PLACE: Open MPI's common block, or the address that MPICH keeps. */
static const void *buffer(const void *given) {
  static void *block, *kept;
  static int looked;
  if (!looked) {
    block = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
    void **place = dlsym(RTLD_DEFAULT, "MPIR_F_MPI_IN_PLACE");
    kept = place ? *place : NULL;
    looked = 1;
  }
  return given && (given == block || given == kept) ? MPI_IN_PLACE : given;
}

/* The statuses that stand for "ignore" in mpi_f08 of MPICH; those of mpif.h, MPI names. */
static const void *ignored_one, *ignored_many;

__attribute__((constructor)) static void find_ignored(void) {
  ignored_one = dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_STATUS_IGNORE_OBJ");
  ignored_many = dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
}

static MPI_Fint *status_or(MPI_Fint *given, MPI_Fint *spare) {
  return given == MPI_F_STATUS_IGNORE || given == ignored_one ? spare : given;
}

static void complete(MPI_Request handle, const MPI_Fint *status) {
  MPI_Status found;
  PMPI_Status_f2c(status, &found);
  flitwork_request_complete(flitwork_key(handle), &found);
}

static void matched(MPI_Fint comm, MPI_Fint message, const MPI_Fint *status) {
  MPI_Status found;
  PMPI_Status_f2c(status, &found);
  flitwork_matched(PMPI_Comm_f2c(comm), PMPI_Message_f2c(message), &found);
}

/* Handles as they were before the call, and statuses where the program wants none. */
struct several {
  MPI_Request *handles;
  MPI_Fint *statuses, *spare;
};

static struct several prepare(MPI_Fint count, const MPI_Fint *requests, MPI_Fint *statuses) {
  size_t many = count > 0 ? (size_t)count : 0;
  struct several several = {malloc((many + 1) * sizeof(MPI_Request)), statuses, NULL};
  for (size_t i = 0; several.handles && i < many; i++) several.handles[i] = PMPI_Request_f2c(requests[i]);
  if (statuses == MPI_F_STATUSES_IGNORE || statuses == ignored_many)
    several.statuses = several.spare = calloc(many + 1, sizeof(MPI_Status));
  return several;
}

static void one_of(struct several *several, MPI_Fint index, MPI_Fint place) {
  if (several->handles) complete(several->handles[index], several->statuses + WORDS_OF_STATUS * (size_t)place);
}

static void release(struct several *several) {
  free(several->handles);
  free(several->spare);
}

#define DECLARE_CBUF(n) void *n
#define DECLARE_BUF(n) void *n
#define DECLARE_COUNT(n) MPI_Fint *n
#define DECLARE_COUNTS(n) MPI_Fint *n
#define DECLARE_DISPLS(n) MPI_Fint *n
#define DECLARE_AINTS(n) MPI_Aint *n
#define DECLARE_AINT(n) MPI_Aint *n
#define DECLARE_COUNT_THERE(n) MPI_Fint *n
#define DECLARE_TYPE(n) MPI_Fint *n
#define DECLARE_TYPE_THERE(n) MPI_Fint *n
#define DECLARE_TYPES(n) MPI_Fint *n
#define DECLARE_OP(n) MPI_Fint *n
#define DECLARE_INT(n) MPI_Fint *n
#define FIELD_CBUF(n) .n = buffer(n),
#define FIELD_BUF(n) .n = n,
#define FIELD_COUNT(n) .n = *n,
#define FIELD_COUNTS(n) .n = n,
#define FIELD_DISPLS(n)
#define FIELD_AINTS(n)
#define FIELD_AINT(n)
#define FIELD_COUNT_THERE(n)
#define FIELD_TYPE(n) .n = PMPI_Type_f2c(*n),
#define FIELD_TYPE_THERE(n)
#define FIELD_TYPES(n) .n##_f = n,
#define FIELD_OP(n) .n = PMPI_Op_f2c(*n),
#define FIELD_INT(n) .n = *n,
#define PARAMETER(kind, n) DECLARE_##kind(n),
#define ARGUMENT(kind, n) n,
#define FIELD(kind, n) FIELD_##kind(n)
#define CALL_WITHOUT_COMM(LIST) (&(struct call){LIST(FIELD).large = 0})
#define CALL_OF(LIST) (&(struct call){LIST(FIELD).comm = PMPI_Comm_f2c(*comm)})
#define HANDLE MPI_Request handle = PMPI_Request_f2c(*request)

#define BLOCKING_SEND(Name, name, flags) \
  WRAP(name, (SENDS(PARAMETER) MPI_Fint *comm), (SENDS(ARGUMENT) comm), , flitwork_send(CALL_OF(SENDS), flags, NULL, 0))
BLOCKING_SENDS(BLOCKING_SEND)
#define STARTED_SEND_(name, flags, persists) \
  WRAP(name, (SENDS(PARAMETER) MPI_Fint *comm, MPI_Fint *request), (SENDS(ARGUMENT) comm, request), , \
       HANDLE; flitwork_send(CALL_OF(SENDS), flags, &handle, persists))
#define STARTED_SEND(Name, name, flags) STARTED_SEND_(name, flags, 0)
#define PERSISTENT_SEND(Name, name, flags) STARTED_SEND_(name, flags, 1)
STARTED_SENDS(STARTED_SEND)
PERSISTENT_SENDS(PERSISTENT_SEND)
#define STARTED_RECV(name, persists) \
  WRAP(name, (RECVS(PARAMETER) MPI_Fint *comm, MPI_Fint *request), (RECVS(ARGUMENT) comm, request), , \
       HANDLE; flitwork_recv(CALL_OF(RECVS), NULL, &handle, persists))
STARTED_RECV(irecv, 0)
STARTED_RECV(recv_init, 1)

#define SPARE_STATUS \
  MPI_Fint spare[WORDS_OF_STATUS] = {0}; \
  status = status_or(status, spare)
#define IN_C \
  MPI_Status found; \
  PMPI_Status_f2c(status, &found)
WRAP(recv, (RECVS(PARAMETER) MPI_Fint *comm, MPI_Fint *status), (RECVS(ARGUMENT) comm, status), SPARE_STATUS,
     IN_C; flitwork_recv(CALL_OF(RECVS), &found, NULL, 0))

#define EXCHANGED(many, of) \
  IN_C; \
  flitwork_exchanged(&(struct call){.count = *many, .type = PMPI_Type_f2c(*of), .peer = *dest, .tag = *sendtag, .comm = PMPI_Comm_f2c(*comm)}, \
                     &(struct call){.peer = *source, .tag = *recvtag, .comm = PMPI_Comm_f2c(*comm)}, &found)
WRAP(sendrecv,
     (void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, MPI_Fint *dest, MPI_Fint *sendtag, void *recvbuf, MPI_Fint *recvcount,
      MPI_Fint *recvtype, MPI_Fint *source, MPI_Fint *recvtag, MPI_Fint *comm, MPI_Fint *status),
     (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status), SPARE_STATUS,
     EXCHANGED(sendcount, sendtype))
WRAP(sendrecv_replace,
     (void *buf, MPI_Fint *count, MPI_Fint *type, MPI_Fint *dest, MPI_Fint *sendtag, MPI_Fint *source, MPI_Fint *recvtag, MPI_Fint *comm,
      MPI_Fint *status),
     (buf, count, type, dest, sendtag, source, recvtag, comm, status), SPARE_STATUS, EXCHANGED(count, type))

#define COLLECTIVE(Name, name, kind, LIST) \
  WRAP(name, (LIST(PARAMETER) MPI_Fint *comm), (LIST(ARGUMENT) comm), , flitwork_collective(kind, CALL_OF(LIST), NULL, 0)) \
  WRAP(i##name, (LIST(PARAMETER) MPI_Fint *comm, MPI_Fint *request), (LIST(ARGUMENT) comm, request), , \
       HANDLE; flitwork_collective(kind, CALL_OF(LIST), &handle, 0)) \
  WRAP(name##_init, (LIST(PARAMETER) MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request), (LIST(ARGUMENT) comm, info, request), , \
       HANDLE; flitwork_collective(kind, CALL_OF(LIST), &handle, 1))
COLLECTIVES(COLLECTIVE)
#define NEIGHBOUR(Name, name, kind, LIST) \
  WRAP(name, (LIST(PARAMETER) MPI_Fint *comm), (LIST(ARGUMENT) comm), , flitwork_neighbours(kind, CALL_OF(LIST), NULL, 0)) \
  WRAP(i##name, (LIST(PARAMETER) MPI_Fint *comm, MPI_Fint *request), (LIST(ARGUMENT) comm, request), , \
       HANDLE; flitwork_neighbours(kind, CALL_OF(LIST), &handle, 0)) \
  WRAP(name##_init, (LIST(PARAMETER) MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request), (LIST(ARGUMENT) comm, info, request), , \
       HANDLE; flitwork_neighbours(kind, CALL_OF(LIST), &handle, 1))
NEIGHBOURS(NEIGHBOUR)
#define ONE_SIDED_CALL(Name, name, LIST) \
  WRAP(name, (LIST(PARAMETER) MPI_Fint *window), (LIST(ARGUMENT) window), , \
       flitwork_one_sided("MPI_" #Name, CALL_WITHOUT_COMM(LIST), PMPI_Win_f2c(*window)))
ONE_SIDED(ONE_SIDED_CALL)

#define HANDLES(statuses) __attribute__((cleanup(release))) struct several several = prepare(*count, requests, statuses)
#define SEVERAL \
  HANDLES(statuses); \
  statuses = several.statuses
WRAP(wait, (MPI_Fint *request, MPI_Fint *status), (request, status), HANDLE; SPARE_STATUS, complete(handle, status))
WRAP(test, (MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status), (request, flag, status), HANDLE; SPARE_STATUS,
     if (*flag) complete(handle, status))
WRAP(waitall, (MPI_Fint *count, MPI_Fint *requests, MPI_Fint *statuses), (count, requests, statuses), SEVERAL,
     for (MPI_Fint i = 0; i < *count; i++) one_of(&several, i, i))
WRAP(testall, (MPI_Fint *count, MPI_Fint *requests, MPI_Fint *flag, MPI_Fint *statuses), (count, requests, flag, statuses),
     SEVERAL, for (MPI_Fint i = 0; *flag && i < *count; i++) one_of(&several, i, i))
WRAP(waitany, (MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *status), (count, requests, index, status),
     SPARE_STATUS; HANDLES(status), if (*index != MPI_UNDEFINED) one_of(&several, *index - 1, 0))
WRAP(testany, (MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status), (count, requests, index, flag, status),
     SPARE_STATUS; HANDLES(status), if (*flag && *index != MPI_UNDEFINED) one_of(&several, *index - 1, 0))
#define SOME(name) \
  WRAP(name, (MPI_Fint *count, MPI_Fint *requests, MPI_Fint *done, MPI_Fint *indices, MPI_Fint *statuses), \
       (count, requests, done, indices, statuses), SEVERAL, \
       for (MPI_Fint i = 0; *done != MPI_UNDEFINED && i < *done; i++) one_of(&several, indices[i] - 1, i))
SOME(waitsome)
SOME(testsome)

WRAP(start, (MPI_Fint *request), (request), , flitwork_request_start(flitwork_key(PMPI_Request_f2c(*request))))
WRAP(startall, (MPI_Fint *count, MPI_Fint *requests), (count, requests), ,
     for (MPI_Fint i = 0; i < *count; i++) flitwork_request_start(flitwork_key(PMPI_Request_f2c(requests[i]))))
WRAP(request_free, (MPI_Fint *request), (request), HANDLE, flitwork_request_free(flitwork_key(handle)))
WRAP(cancel, (MPI_Fint *request), (request), , flitwork_request_cancel(flitwork_key(PMPI_Request_f2c(*request))))
WRAP(probe, (MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *status), (source, tag, comm, status), , )
WRAP(iprobe, (MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *status), (source, tag, comm, flag, status), , )
WRAP(mprobe, (MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *message, MPI_Fint *status), (source, tag, comm, message, status),
     SPARE_STATUS, matched(*comm, *message, status))
WRAP(improbe, (MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm, MPI_Fint *flag, MPI_Fint *message, MPI_Fint *status),
     (source, tag, comm, flag, message, status), SPARE_STATUS, if (*flag) matched(*comm, *message, status))
#define MESSAGE uint64_t key = flitwork_message_key(PMPI_Message_f2c(*message))
WRAP(mrecv, (void *buf, MPI_Fint *count, MPI_Fint *type, MPI_Fint *message, MPI_Fint *status), (buf, count, type, message, status),
     MESSAGE; SPARE_STATUS, IN_C; flitwork_request_complete(key, &found))
WRAP(imrecv, (void *buf, MPI_Fint *count, MPI_Fint *type, MPI_Fint *message, MPI_Fint *request), (buf, count, type, message, request), MESSAGE,
     HANDLE; flitwork_request_move(key, flitwork_key(handle)))

#define MADE(parent, origin) flitwork_comm_made(PMPI_Comm_f2c(*parent), PMPI_Comm_f2c(*made), origin)
#define P(n) MPI_Fint *n
WRAP(comm_dup, (P(comm), P(made)), (comm, made), , MADE(comm, FROM_ALL))
WRAP(comm_dup_with_info, (P(comm), P(info), P(made)), (comm, info, made), , MADE(comm, FROM_ALL))
WRAP(comm_split, (P(comm), P(color), P(key), P(made)), (comm, color, key, made), , MADE(comm, FROM_ALL))
WRAP(comm_split_type, (P(comm), P(type), P(key), P(info), P(made)), (comm, type, key, info, made), , MADE(comm, FROM_ALL))
WRAP(comm_create, (P(comm), P(group), P(made)), (comm, group, made), , MADE(comm, FROM_ALL))
WRAP(comm_create_group, (P(comm), P(group), P(tag), P(made)), (comm, group, tag, made), , MADE(comm, FROM_GROUP))
WRAP(cart_create, (P(comm), P(dims), P(sizes), P(wraps), P(reorder), P(made)), (comm, dims, sizes, wraps, reorder, made), , MADE(comm, FROM_ALL))
WRAP(cart_sub, (P(comm), P(remain), P(made)), (comm, remain, made), , MADE(comm, FROM_ALL))
WRAP(graph_create, (P(comm), P(nodes), P(index), P(edges), P(reorder), P(made)), (comm, nodes, index, edges, reorder, made), ,
     MADE(comm, FROM_ALL))
WRAP(intercomm_create, (P(comm), P(leader), P(bridge), P(remote), P(tag), P(made)), (comm, leader, bridge, remote, tag, made), ,
     MADE(comm, FROM_BRIDGE))
WRAP(intercomm_merge, (P(comm), P(high), P(made)), (comm, high, made), , MADE(comm, FROM_ALL))

#define WINDOW flitwork_window_made(PMPI_Comm_f2c(*comm), PMPI_Win_f2c(*window))
WRAP(win_create, (void *base, MPI_Aint *size, P(unit), P(info), P(comm), P(window)), (base, size, unit, info, comm, window), , WINDOW)
WRAP(win_allocate, (MPI_Aint *size, P(unit), P(info), P(comm), void *base, P(window)), (size, unit, info, comm, base, window), , WINDOW)
WRAP(win_allocate_cptr, (MPI_Aint *size, P(unit), P(info), P(comm), void *base, P(window)), (size, unit, info, comm, base, window), , WINDOW)
WRAP(win_create_dynamic, (P(info), P(comm), P(window)), (info, comm, window), , WINDOW)
WRAP(win_fence, (P(assert), P(window)), (assert, window), , flitwork_fence(*assert, PMPI_Win_f2c(*window)))
#define NOT_FENCED(Name) flitwork_not_fenced("MPI_" #Name, PMPI_Win_f2c(*window))
WRAP(win_start, (P(group), P(assert), P(window)), (group, assert, window), , NOT_FENCED(Win_start))
WRAP(win_lock, (P(type), P(rank), P(assert), P(window)), (type, rank, assert, window), , NOT_FENCED(Win_lock))
WRAP(win_lock_all, (P(assert), P(window)), (assert, window), , NOT_FENCED(Win_lock_all))

/* The beginning and the end have no other arguments. */
#define EDGE(symbol, before, after) \
  void symbol(MPI_Fint *ierr) { \
    MPI_Fint rc = MPI_SUCCESS; \
    flitwork_enter(); \
    before; \
    next(#symbol)(&rc); \
    after; \
    flitwork_leave(); \
    if (ierr) *ierr = rc; \
  }
#define EDGES(name, before, after) \
  EDGE(mpi_##name##_, before, after) EDGE(mpi_##name, before, after) EDGE(mpi_##name##__, before, after) EDGE(mpi_##name##_f08_, before, after)
EDGES(init, , if (rc == MPI_SUCCESS) flitwork_start())
EDGES(finalize, if (flitwork_records()) flitwork_end(), )
#define INIT_THREAD(symbol) \
  void symbol(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr) { \
    MPI_Fint rc = MPI_SUCCESS; \
    flitwork_enter(); \
    next(#symbol)(required, provided, &rc); \
    if (rc == MPI_SUCCESS) flitwork_start(); \
    flitwork_leave(); \
    if (ierr) *ierr = rc; \
  }
INIT_THREAD(mpi_init_thread_)
INIT_THREAD(mpi_init_thread)
INIT_THREAD(mpi_init_thread__)
INIT_THREAD(mpi_init_thread_f08_)
