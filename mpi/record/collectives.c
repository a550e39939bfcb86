/* Records of collectives: what each rank gives or gets; who else takes part, the communicator says. */
#include "record.h"

#include <pthread.h>
#include <stdlib.h>

static MPI_Count size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  return size > 0 ? size : 0;
}

static MPI_Count count_at(const struct call *call, const void *counts, int rank) {
  return call->large ? ((const MPI_Count *)counts)[rank] : ((const int *)counts)[rank];
}

static MPI_Datatype type_at(const MPI_Datatype *types, const MPI_Fint *types_f, int rank) {
  return types ? types[rank] : PMPI_Type_f2c(types_f[rank]);
}

/* Bytes of each of many blocks; of alltoallw a datatype each. */
static int64_t *sizes(const struct call *call, int received, int ranks) {
  int64_t *list = malloc(sizeof *list * (size_t)(ranks ? ranks : 1));
  const void *counts = received ? call->recvcounts : call->sendcounts;
  const MPI_Datatype *types = received ? call->recvtypes : call->sendtypes;
  const MPI_Fint *types_f = received ? call->recvtypes_f : call->sendtypes_f;
  for (int rank = 0; list && rank < ranks; rank++) {
    MPI_Count count = count_at(call, counts, rank);
    MPI_Datatype one = received ? call->recvtype : call->sendtype;
    if (types || types_f) one = count ? type_at(types, types_f, rank) : MPI_BYTE;
    list[rank] = (int64_t)(count * size_of(one));
  }
  return list;
}

/* Looked at only where they are significant: elsewhere a program may pass anything. */
static int64_t given(const struct call *call) { return (int64_t)(call->sendcount * size_of(call->sendtype)); }
static int64_t got(const struct call *call) { return (int64_t)(call->recvcount * size_of(call->recvtype)); }

static void reduction(struct event *event, const struct call *call) {
  int commutes = 1;
  PMPI_Op_commutative(call->op, &commutes);
  if (!commutes) event->flags |= ORDERED;
  event->tag = (int32_t)size_of(call->recvtype);
}

/* What this rank gives (gather, allgather) or gets (scatter, bcast), or the list of what it gives to each. */
static int64_t *describe(struct event *event, const struct call *call) {
  int rank, ranks, in_place = call->sendbuf == MPI_IN_PLACE;
  PMPI_Comm_rank(call->comm, &rank);
  PMPI_Comm_size(call->comm, &ranks);
  int64_t *list = NULL;
  switch (event->what) {
    case BARRIER: break;
    case GATHER:
    case ALLGATHER:
    case ALLTOALL: event->bytes = (uint64_t)(in_place ? got(call) : given(call)); break;
    case GATHERV:
    case ALLGATHERV:
      event->bytes = (uint64_t)(in_place ? (int64_t)(count_at(call, call->recvcounts, rank) * size_of(call->recvtype)) : given(call));
      break;
    case SCATTER: event->bytes = (uint64_t)(rank == call->root ? given(call) : got(call)); break;
    case SCATTERV:
      event->bytes =
          (uint64_t)(rank == call->root ? (int64_t)(count_at(call, call->sendcounts, rank) * size_of(call->sendtype)) : got(call));
      break;
    case ALLTOALLV:
    case ALLTOALLW: list = sizes(call, in_place, ranks); break;
    case REDUCE_SCATTER:
      list = sizes(call, 1, ranks);
      reduction(event, call);
      break;
    case BCAST: event->bytes = (uint64_t)got(call); break;
    default: /* reductions */
      event->bytes = (uint64_t)got(call);
      reduction(event, call);
  }
  if (list) event->words = (uint32_t)ranks;
  return list;
}

/* Persistent collectives of a communicator, counted: ranks make them in one order and may start them in another. */
int64_t flitwork_number_of_init(uint32_t comm) {
  static int64_t *counts;
  static uint32_t room;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  int64_t number = 0;
  pthread_mutex_lock(&lock);
  if (comm >= room) {
    uint32_t wanted = 2 * comm + 16;
    int64_t *larger = realloc(counts, wanted * sizeof *larger);
    for (uint32_t i = room; larger && i < wanted; i++) larger[i] = 0;
    if (larger) counts = larger, room = wanted;
  }
  if (comm < room) number = counts[comm]++;
  pthread_mutex_unlock(&lock);
  return number;
}

static void persist(struct event *event, int64_t **list, MPI_Request request) {
  int64_t *longer = realloc(*list, sizeof *longer * (event->words + 1));
  if (!longer) return;
  longer[event->words++] = flitwork_number_of_init(event->comm);
  *list = longer;
  event->flags |= PERSISTENT;
  flitwork_request_persist(flitwork_key(request), event, longer);
}

void flitwork_collective(enum kind kind, const struct call *call, MPI_Request *request, int persists) {
  if (!flitwork_records()) return;
  if (flitwork_is_remote(call->comm)) {
    flitwork_unknown("a collective of an intercommunicator");
    return;
  }
  struct event event = {
      .what = (uint8_t)kind, .flags = request ? STARTED : 0, .peer = call->root, .comm = flitwork_comm(call->comm)};
  int64_t *list = describe(&event, call);
  if (persists) persist(&event, &list, *request);
  else {
    if (request) event.request = flitwork_request_add(flitwork_key(*request), OF_COLLECTIVE, 0);
    flitwork_write(&event, list);
  }
  free(list);
}
