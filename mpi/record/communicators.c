/* Communicators: each has a number of its own, and the world ranks of its groups are written once.
 *
 * The number is an attribute, which MPI does not copy to duplicates and takes away with the communicator. That the
 * communicators of several ranks are the same one is found out later, by the order of the calls that made them. */
#include "record.h"

#include <stdlib.h>

static int keyval = MPI_KEYVAL_INVALID;
static uint32_t made_so_far;
static MPI_Group world;

int flitwork_is_remote(MPI_Comm comm) {
  int remote = 0;
  PMPI_Comm_test_inter(comm, &remote);
  return remote;
}

/* The world ranks of a group; those that are not of this world are -1. */
static int ranks_of(MPI_Group group, int64_t *out) {
  int size;
  PMPI_Group_size(group, &size);
  int *numbers = malloc(2 * sizeof(int) * (size_t)(size ? size : 1));
  if (numbers && out) {
    for (int rank = 0; rank < size; rank++) numbers[rank] = rank;
    PMPI_Group_translate_ranks(group, size, numbers, world, numbers + size);
    for (int rank = 0; rank < size; rank++) out[rank] = numbers[size + rank] == MPI_UNDEFINED ? -1 : numbers[size + rank];
  }
  free(numbers);
  return size;
}

static uint32_t written(MPI_Comm comm, uint32_t parent, enum origin origin) {
  uint32_t number = __sync_fetch_and_add(&made_so_far, 1);
  MPI_Group local, remote = MPI_GROUP_NULL;
  int is_remote = flitwork_is_remote(comm);
  PMPI_Comm_group(comm, &local);
  if (is_remote) PMPI_Comm_remote_group(comm, &remote);
  int size = ranks_of(local, NULL), more = is_remote ? ranks_of(remote, NULL) : 0;
  int64_t *list = calloc((size_t)(size + more + 1), sizeof *list);
  if (list) {
    ranks_of(local, list);
    if (is_remote) ranks_of(remote, list + size);
    struct event event = {.what = COMM,
                          .flags = is_remote ? REMOTE : 0,
                          .words = (uint32_t)(size + more),
                          .tag = origin,
                          .comm = parent,
                          .request = number,
                          .bytes = (uint64_t)size};
    flitwork_write(&event, list);
  }
  free(list);
  PMPI_Group_free(&local);
  if (is_remote) PMPI_Group_free(&remote);
  return number;
}

static uint32_t added(MPI_Comm comm, uint32_t parent, enum origin origin) {
  uint32_t number = written(comm, parent, origin);
  PMPI_Comm_set_attr(comm, keyval, (void *)(intptr_t)(number + 1));
  return number;
}

void flitwork_comms_start(void) {
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  added(MPI_COMM_WORLD, 0, FROM_ALL);
  added(MPI_COMM_SELF, 0, FROM_GROUP);
}

uint32_t flitwork_comm(MPI_Comm comm) {
  void *found = NULL;
  int has = 0;
  PMPI_Comm_get_attr(comm, keyval, &found, &has);
  return has ? (uint32_t)((intptr_t)found - 1) : added(comm, 0, FROM_NOWHERE);
}

uint32_t flitwork_comm_of_window(MPI_Comm comm) { return written(comm, flitwork_comm(comm), FROM_ALL); }

void flitwork_comm_made(MPI_Comm parent, MPI_Comm made, enum origin origin) {
  uint32_t from = flitwork_comm(parent);
  if (made != MPI_COMM_NULL) {
    added(made, from, origin);
    return;
  }
  /* Whoever gets no communicator has called, too: the order of calls counts. */
  struct event event = {.what = COMM, .tag = origin, .comm = from, .request = UINT32_MAX};
  flitwork_write(&event, NULL);
}
