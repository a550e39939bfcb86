/* Collectives with the neighbours on a grid or a graph: a message from each and one to each. */
#include "record.h"

#include <stdlib.h>

/* No message of a program has this tag. */
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

static uint32_t count_of(const int *ranks, int many) {
  uint32_t count = 0;
  for (int i = 0; i < many; i++) count += ranks[i] != MPI_PROC_NULL;
  return count;
}

static void write_all(enum kind kind, const struct call *call, const struct neighbours *found, MPI_Request *request) {
  uint32_t comm = flitwork_comm(call->comm), count = count_of(found->from, found->in) + count_of(found->to, found->out);
  uint32_t first = flitwork_request_add_all(request ? flitwork_key(*request) : 0, count), number = first;
  for (int i = 0; i < found->in; i++) {
    if (found->from[i] == MPI_PROC_NULL) continue;
    flitwork_write(&(struct event){.what = RECV, .flags = STARTED, .peer = found->from[i], .tag = TAG, .comm = comm, .request = number++}, NULL);
  }
  for (int i = 0; i < found->out; i++) {
    if (found->to[i] == MPI_PROC_NULL) continue;
    flitwork_write(&(struct event){.what = SEND, .flags = STARTED, .peer = found->to[i], .tag = TAG, .comm = comm, .request = number++,
                                   .bytes = bytes_to(kind, call, i)}, NULL);
  }
  for (uint32_t i = 0; !request && i < count; i++) flitwork_write(&(struct event){.what = COMPLETE, .request = first + i}, NULL);
}

void flitwork_neighbours(enum kind kind, const struct call *call, MPI_Request *request) {
  struct neighbours found = {0};
  int form = MPI_UNDEFINED;
  if (!flitwork_records()) return;
  PMPI_Topo_test(call->comm, &form);
  if (form == MPI_CART) on_grid(call->comm, &found);
  if (form == MPI_GRAPH) on_graph(call->comm, &found);
  if (form == MPI_DIST_GRAPH) on_distributed_graph(call->comm, &found);
  if (found.from && found.to) write_all(kind, call, &found, request);
  free(found.from);
  free(found.to);
}
