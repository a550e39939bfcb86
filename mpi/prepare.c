/* Communicators that are made ready for non-blocking all-to-alls when they are made: a non-blocking call must not wait for other ranks, so
 * what ranks have to agree on is settled before. */
#include "interpose.h"

static atomic_int prepared;

void prepare(MPI_Comm comm) {
  const char *why;
  int inter = 1, ranks = 0, mine, all = 0;
  if (!library_is_on() || comm == MPI_COMM_NULL) return;
  const settings *s = settings_of_process();
  if (s->rule_count == 0 || s->fault[0] || s->prepared == 0 || s->progress == PROGRESS_NONE) return;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS) return;
  if (inter || ranks < 2 || !is_of_this_world(comm, ranks)) {
    communicator_state(comm, &why); /* left to the MPI library, with this reason; nobody is asked */
    return;
  }
  mine = (uint64_t)atomic_load(&prepared) < s->prepared;
  if (PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS || !all) return;
  atomic_fetch_add(&prepared, 1);
  comm_state *state = communicator_state(comm, &why);
  if (state != NULL && state->driven) prepare_plans(state);
}

/* What was made, if it was. */
static int made(int code, const MPI_Comm *comm) {
  if (code == MPI_SUCCESS && comm != NULL) prepare(*comm);
  return code;
}

#pragma GCC visibility push(default)

#define MAKES(NAME, PARAMETERS, ARGUMENTS) \
  int MPI_##NAME PARAMETERS { return made(PMPI_##NAME ARGUMENTS, out); }

MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm *out), (comm, out))
MAKES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *out), (comm, info, out))
MAKES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *out), (comm, group, out))
MAKES(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *out), (comm, group, tag, out))
MAKES(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *out), (comm, color, key, out))
MAKES(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out), (comm, type, key, info, out))
MAKES(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *out), (comm, high, out))
MAKES(Cart_create, (MPI_Comm comm, int dims, const int sizes[], const int wraps[], int reorder, MPI_Comm *out),
      (comm, dims, sizes, wraps, reorder, out))
MAKES(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *out), (comm, remain, out))
MAKES(Graph_create, (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm *out),
      (comm, nodes, index, edges, reorder, out))
MAKES(Dist_graph_create,
      (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[], const int weights[], MPI_Info info,
       int reorder, MPI_Comm *out),
      (comm, n, sources, degrees, destinations, weights, info, reorder, out))
MAKES(Dist_graph_create_adjacent,
      (MPI_Comm comm, int in, const int sources[], const int from_weights[], int outside, const int destinations[], const int to_weights[],
       MPI_Info info, int reorder, MPI_Comm *out),
      (comm, in, sources, from_weights, outside, destinations, to_weights, info, reorder, out))
