/* Collectives with the neighbours on a grid or a graph: a message from each and one to each. */
#include "record.h"

#include <stdlib.h>

/* No message of a program has this tag. Persistent ones have one each below it: ranks may start them in any order. */
#define TAG (-77)

struct neighbours {
  int in, out;
  int *from, *to;
};

static void on_grid(MPI_Comm comm, struct neighbours *found) {
  int dims = 0;
  PMPI_Cartdim_get(comm, &dims);
  found->in = found->out = 2 * dims;
  found->from = malloc(sizeof(int) * (size_t)(2 * dims + 1));
  found->to = malloc(sizeof(int) * (size_t)(2 * dims + 1));
  for (int dim = 0; found->from && found->to && dim < dims; dim++) {
    PMPI_Cart_shift(comm, dim, 1, &found->from[2 * dim], &found->from[2 * dim + 1]);
    found->to[2 * dim] = found->from[2 * dim];
    found->to[2 * dim + 1] = found->from[2 * dim + 1];
  }
}

static void on_graph(MPI_Comm comm, struct neighbours *found) {
  int rank, count = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Graph_neighbors_count(comm, rank, &count);
  found->in = found->out = count;
  found->from = malloc(sizeof(int) * (size_t)(count + 1));
  found->to = malloc(sizeof(int) * (size_t)(count + 1));
  if (!found->from || !found->to) return;
  PMPI_Graph_neighbors(comm, rank, count, found->from);
  PMPI_Graph_neighbors(comm, rank, count, found->to);
}

static void on_distributed_graph(MPI_Comm comm, struct neighbours *found) {
  int weighted, in = 0, out = 0;
  PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  int *weights = malloc(sizeof(int) * (size_t)(in + out + 1));
  found->in = in;
  found->out = out;
  found->from = malloc(sizeof(int) * (size_t)(in + 1));
  found->to = malloc(sizeof(int) * (size_t)(out + 1));
  if (found->from && found->to && weights) PMPI_Dist_graph_neighbors(comm, in, found->from, weights, out, found->to, weights + in);
  free(weights);
}

static uint64_t bytes_to(enum kind kind, const struct call *call, int place) {
  MPI_Count size = 0, count = call->sendcount;
  MPI_Datatype type = call->sendtype;
  if (kind == ALLTOALLV || kind == ALLTOALLW)
    count = call->large ? ((const MPI_Count *)call->sendcounts)[place] : ((const int *)call->sendcounts)[place];
  if (kind == ALLTOALLW) type = call->sendtypes ? call->sendtypes[place] : PMPI_Type_f2c(call->sendtypes_f[place]);
  if (count > 0) PMPI_Type_size_x(type, &size);
  return count > 0 && size > 0 ? (uint64_t)(count * size) : 0;
}

/* What all of it is: a receive of each neighbour, then a send to each; how many. */
static uint32_t all_of(enum kind kind, const struct call *call, const struct neighbours *found, struct event like, struct event *events) {
  uint32_t count = 0;
  like.flags = STARTED;
  for (int i = 0; i < found->in; i++) {
    if (found->from[i] == MPI_PROC_NULL) continue;
    like.what = RECV;
    like.peer = found->from[i];
    events[count++] = like;
  }
  for (int i = 0; i < found->out; i++) {
    if (found->to[i] == MPI_PROC_NULL) continue;
    like.what = SEND;
    like.peer = found->to[i];
    like.bytes = bytes_to(kind, call, i);
    events[count++] = like;
  }
  return count;
}

static void write_all(enum kind kind, const struct call *call, const struct neighbours *found, MPI_Request *request, int persists) {
  struct event like = {.tag = TAG, .comm = flitwork_comm(call->comm)};
  struct event *events = malloc(((size_t)found->in + (size_t)found->out + 1) * sizeof *events);
  if (!events) return;
  if (persists) like.tag -= 1 + (int32_t)flitwork_number_of_init(like.comm);
  uint32_t count = all_of(kind, call, found, like, events);
  if (persists) flitwork_request_persist_all(flitwork_key(*request), events, count);
  else {
    uint32_t first = flitwork_request_add_all(request ? flitwork_key(*request) : 0, count);
    for (uint32_t i = 0; i < count; i++) {
      events[i].request = first + i;
      flitwork_write(&events[i], NULL);
    }
    for (uint32_t i = 0; !request && i < count; i++) flitwork_write(&(struct event){.what = COMPLETE, .request = first + i}, NULL);
  }
  free(events);
}

void flitwork_neighbours(enum kind kind, const struct call *call, MPI_Request *request, int persists) {
  struct neighbours found = {0};
  int form = MPI_UNDEFINED;
  if (!flitwork_records()) return;
  PMPI_Topo_test(call->comm, &form);
  if (form == MPI_CART) on_grid(call->comm, &found);
  if (form == MPI_GRAPH) on_graph(call->comm, &found);
  if (form == MPI_DIST_GRAPH) on_distributed_graph(call->comm, &found);
  if (found.from && found.to) write_all(kind, call, &found, request, persists);
  free(found.from);
  free(found.to);
}
