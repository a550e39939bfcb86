/* The calls of table.h in C. Included with NAME(name) as is, and once more for large counts. */
#define DECLARE_CBUF(n) const void *n
#define DECLARE_BUF(n) void *n
#define DECLARE_COUNT(n) NUMBER n
#define DECLARE_COUNTS(n) const NUMBER n[]
#define DECLARE_DISPLS(n) const OFFSET n[]
#define DECLARE_AINTS(n) const MPI_Aint n[]
#define DECLARE_AINT(n) MPI_Aint n
#define DECLARE_COUNT_THERE(n) NUMBER n
#define DECLARE_TYPE(n) MPI_Datatype n
#define DECLARE_TYPE_THERE(n) MPI_Datatype n
#define DECLARE_TYPES(n) const MPI_Datatype n[]
#define DECLARE_OP(n) MPI_Op n
#define DECLARE_INT(n) int n
#define FIELD_CBUF(n) .n = n,
#define FIELD_BUF(n) .n = n,
#define FIELD_COUNT(n) .n = n,
#define FIELD_COUNTS(n) .n = n,
#define FIELD_DISPLS(n)
#define FIELD_AINTS(n)
#define FIELD_AINT(n)
#define FIELD_COUNT_THERE(n)
#define FIELD_TYPE(n) .n = n,
#define FIELD_TYPE_THERE(n)
#define FIELD_TYPES(n) .n = n,
#define FIELD_OP(n) .n = n,
#define FIELD_INT(n) .n = n,
#define PARAMETER(kind, n) DECLARE_##kind(n),
#define ARGUMENT(kind, n) n,
#define FIELD(kind, n) FIELD_##kind(n)
#define CALL_WITHOUT_COMM(LIST) (&(struct call){LIST(FIELD).large = LARGE})
#define CALL_OF(LIST) (&(struct call){LIST(FIELD).large = LARGE, .comm = comm})

#define BLOCKING_SEND(Name, name, flags) \
  int NAME(MPI_, Name)(SENDS(PARAMETER) MPI_Comm comm) { \
    flitwork_enter(); \
    int rc = NAME(PMPI_, Name)(SENDS(ARGUMENT) comm); \
    if (rc == MPI_SUCCESS) flitwork_send(CALL_OF(SENDS), flags, NULL, 0); \
    flitwork_leave(); \
    return rc; \
  }
BLOCKING_SENDS(BLOCKING_SEND)

#define STARTED_SEND_(Name, flags, persists) \
  int NAME(MPI_, Name)(SENDS(PARAMETER) MPI_Comm comm, MPI_Request *request) { \
    flitwork_enter(); \
    int rc = NAME(PMPI_, Name)(SENDS(ARGUMENT) comm, request); \
    if (rc == MPI_SUCCESS) flitwork_send(CALL_OF(SENDS), flags, request, persists); \
    flitwork_leave(); \
    return rc; \
  }
#define STARTED_SEND(Name, name, flags) STARTED_SEND_(Name, flags, 0)
#define PERSISTENT_SEND(Name, name, flags) STARTED_SEND_(Name, flags, 1)
STARTED_SENDS(STARTED_SEND)
PERSISTENT_SENDS(PERSISTENT_SEND)

int NAME(MPI_, Recv)(RECVS(PARAMETER) MPI_Comm comm, MPI_Status *status) {
  MPI_Status spare, *to = status == MPI_STATUS_IGNORE ? &spare : status;
  flitwork_enter();
  int rc = NAME(PMPI_, Recv)(RECVS(ARGUMENT) comm, to);
  if (rc == MPI_SUCCESS) flitwork_recv(CALL_OF(RECVS), to, NULL, 0);
  flitwork_leave();
  return rc;
}

#define STARTED_RECV(Name, persists) \
  int NAME(MPI_, Name)(RECVS(PARAMETER) MPI_Comm comm, MPI_Request *request) { \
    flitwork_enter(); \
    int rc = NAME(PMPI_, Name)(RECVS(ARGUMENT) comm, request); \
    if (rc == MPI_SUCCESS) flitwork_recv(CALL_OF(RECVS), NULL, request, persists); \
    flitwork_leave(); \
    return rc; \
  }
STARTED_RECV(Irecv, 0)
STARTED_RECV(Recv_init, 1)

int NAME(MPI_, Sendrecv)(const void *sendbuf, NUMBER sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
                         NUMBER recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status) {
  MPI_Status spare, *to = status == MPI_STATUS_IGNORE ? &spare : status;
  flitwork_enter();
  int rc = NAME(PMPI_, Sendrecv)(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, to);
  if (rc == MPI_SUCCESS)
    flitwork_exchanged(&(struct call){.count = sendcount, .type = sendtype, .peer = dest, .tag = sendtag, .comm = comm},
                       &(struct call){.peer = source, .tag = recvtag, .comm = comm}, to);
  flitwork_leave();
  return rc;
}

int NAME(MPI_, Sendrecv_replace)(void *buf, NUMBER count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,
                                 MPI_Comm comm, MPI_Status *status) {
  MPI_Status spare, *to = status == MPI_STATUS_IGNORE ? &spare : status;
  flitwork_enter();
  int rc = NAME(PMPI_, Sendrecv_replace)(buf, count, type, dest, sendtag, source, recvtag, comm, to);
  if (rc == MPI_SUCCESS)
    flitwork_exchanged(&(struct call){.count = count, .type = type, .peer = dest, .tag = sendtag, .comm = comm},
                       &(struct call){.peer = source, .tag = recvtag, .comm = comm}, to);
  flitwork_leave();
  return rc;
}

int NAME(MPI_, Mrecv)(void *buf, NUMBER count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
  uint64_t key = flitwork_message_key(*message);
  flitwork_enter();
  int rc = NAME(PMPI_, Mrecv)(buf, count, type, message, status);
  if (rc == MPI_SUCCESS && flitwork_records()) flitwork_request_complete(key, status);
  flitwork_leave();
  return rc;
}

int NAME(MPI_, Imrecv)(void *buf, NUMBER count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
  uint64_t key = flitwork_message_key(*message);
  flitwork_enter();
  int rc = NAME(PMPI_, Imrecv)(buf, count, type, message, request);
  if (rc == MPI_SUCCESS && flitwork_records()) flitwork_request_move(key, flitwork_key(*request));
  flitwork_leave();
  return rc;
}

#define COLLECTIVE(Name, name, kind, LIST) \
  int NAME(MPI_, Name)(LIST(PARAMETER) MPI_Comm comm) { \
    flitwork_enter(); \
    int rc = NAME(PMPI_, Name)(LIST(ARGUMENT) comm); \
    if (rc == MPI_SUCCESS) flitwork_collective(kind, CALL_OF(LIST), NULL, 0); \
    flitwork_leave(); \
    return rc; \
  } \
  int NAME(MPI_, I##name)(LIST(PARAMETER) MPI_Comm comm, MPI_Request *request) { \
    flitwork_enter(); \
    int rc = NAME(PMPI_, I##name)(LIST(ARGUMENT) comm, request); \
    if (rc == MPI_SUCCESS) flitwork_collective(kind, CALL_OF(LIST), request, 0); \
    flitwork_leave(); \
    return rc; \
  }
OF_THIS_SIZE(COLLECTIVE)

#define NEIGHBOUR(Name, name, kind, LIST) \
  int NAME(MPI_, Name)(LIST(PARAMETER) MPI_Comm comm) { \
    flitwork_enter(); \
    int rc = NAME(PMPI_, Name)(LIST(ARGUMENT) comm); \
    if (rc == MPI_SUCCESS) flitwork_neighbours(kind, CALL_OF(LIST), NULL, 0); \
    flitwork_leave(); \
    return rc; \
  } \
  int NAME(MPI_, I##name)(LIST(PARAMETER) MPI_Comm comm, MPI_Request *request) { \
    flitwork_enter(); \
    int rc = NAME(PMPI_, I##name)(LIST(ARGUMENT) comm, request); \
    if (rc == MPI_SUCCESS) flitwork_neighbours(kind, CALL_OF(LIST), request, 0); \
    flitwork_leave(); \
    return rc; \
  }
NEIGHBOURS(NEIGHBOUR)

#define ONE_SIDED_CALL(Name, name, LIST) \
  int NAME(MPI_, Name)(LIST(PARAMETER) MPI_Win window) { \
    flitwork_enter(); \
    int rc = NAME(PMPI_, Name)(LIST(ARGUMENT) window); \
    if (rc == MPI_SUCCESS) flitwork_one_sided("MPI_" #Name, CALL_WITHOUT_COMM(LIST), window); \
    flitwork_leave(); \
    return rc; \
  }
ONE_SIDED(ONE_SIDED_CALL)

#if HAS_PERSISTENT
#define PERSISTENT_NEIGHBOUR(Name, name, kind, LIST) \
  int NAME(MPI_, Name##_init)(LIST(PARAMETER) MPI_Comm comm, MPI_Info info, MPI_Request *request) { \
    flitwork_enter(); \
    int rc = NAME(PMPI_, Name##_init)(LIST(ARGUMENT) comm, info, request); \
    if (rc == MPI_SUCCESS) flitwork_neighbours(kind, CALL_OF(LIST), request, 1); \
    flitwork_leave(); \
    return rc; \
  }
NEIGHBOURS(PERSISTENT_NEIGHBOUR)
#define PERSISTENT_COLLECTIVE(Name, name, kind, LIST) \
  int NAME(MPI_, Name##_init)(LIST(PARAMETER) MPI_Comm comm, MPI_Info info, MPI_Request *request) { \
    flitwork_enter(); \
    int rc = NAME(PMPI_, Name##_init)(LIST(ARGUMENT) comm, info, request); \
    if (rc == MPI_SUCCESS) flitwork_collective(kind, CALL_OF(LIST), request, 1); \
    flitwork_leave(); \
    return rc; \
  }
OF_THIS_SIZE(PERSISTENT_COLLECTIVE)
#endif
