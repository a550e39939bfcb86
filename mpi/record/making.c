/* Calls that make communicators. What they send themselves is the library's business and not recorded. */
#include "record.h"

#define MAKES(Name, PARAMETERS, ARGUMENTS, parent, made, origin) \
  int MPI_##Name PARAMETERS { \
    flitwork_enter(); \
    int rc = PMPI_##Name ARGUMENTS; \
    if (rc == MPI_SUCCESS && flitwork_records()) flitwork_comm_made(parent, *made, origin); \
    flitwork_leave(); \
    return rc; \
  }

MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made), comm, made, FROM_ALL)
MAKES(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made), comm, made, FROM_ALL)
MAKES(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made), comm, made, FROM_ALL)
MAKES(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made), (comm, type, key, info, made), comm,
      made, FROM_ALL)
MAKES(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made), comm, made, FROM_ALL)
MAKES(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made), (comm, group, tag, made), comm, made,
      FROM_GROUP)
MAKES(Cart_create, (MPI_Comm comm, int dims, const int sizes[], const int wraps[], int reorder, MPI_Comm *made),
      (comm, dims, sizes, wraps, reorder, made), comm, made, FROM_ALL)
MAKES(Cart_sub, (MPI_Comm comm, const int remain[], MPI_Comm *made), (comm, remain, made), comm, made, FROM_ALL)
MAKES(Graph_create, (MPI_Comm comm, int nodes, const int index[], const int edges[], int reorder, MPI_Comm *made),
      (comm, nodes, index, edges, reorder, made), comm, made, FROM_ALL)
MAKES(Dist_graph_create,
      (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[], const int weights[], MPI_Info info,
       int reorder, MPI_Comm *made),
      (comm, n, sources, degrees, destinations, weights, info, reorder, made), comm, made, FROM_ALL)
MAKES(Dist_graph_create_adjacent,
      (MPI_Comm comm, int in, const int sources[], const int in_weights[], int out, const int destinations[], const int out_weights[],
       MPI_Info info, int reorder, MPI_Comm *made),
      (comm, in, sources, in_weights, out, destinations, out_weights, info, reorder, made), comm, made, FROM_ALL)
MAKES(Intercomm_create, (MPI_Comm comm, int leader, MPI_Comm bridge, int remote_leader, int tag, MPI_Comm *made),
      (comm, leader, bridge, remote_leader, tag, made), comm, made, FROM_BRIDGE)
MAKES(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made), comm, made, FROM_ALL)
