/* One-sided communication between fences: who puts how many bytes where, and gets from there.
 *
 * Between two fences of a window all of its ranks wait for each other, so what its records need is known. What is between other calls
 * (locks; start and complete, post and wait) is counted by name, as are windows whose making was not seen. */
#include "record.h"

#include <stdlib.h>

struct window {
  uint32_t comm;
  int rank;
  int fenced; /* the last synchronisation was a fence that began an epoch */
};

static int keyval = MPI_KEYVAL_INVALID;

static int forgotten(MPI_Win window, int key, void *value, void *extra) {
  (void)window, (void)key, (void)extra;
  free(value);
  return MPI_SUCCESS;
}

void flitwork_windows_start(void) { PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, forgotten, &keyval, NULL); }

static struct window *of(MPI_Win window) {
  void *found = NULL;
  int has = 0;
  PMPI_Win_get_attr(window, keyval, &found, &has);
  return has ? found : NULL;
}

void flitwork_window_made(MPI_Comm comm, MPI_Win window) {
  if (!flitwork_records()) return;
  struct window *made = calloc(1, sizeof *made);
  uint32_t number = flitwork_comm_of_window(comm);
  if (!made) return;
  made->comm = number;
  PMPI_Comm_rank(comm, &made->rank);
  PMPI_Win_set_attr(window, keyval, made);
}

void flitwork_fence(int assert, MPI_Win window) {
  if (!flitwork_records()) return;
  struct window *found = of(window);
  if (!found) {
    flitwork_unknown("MPI_Win_fence");
    return;
  }
  found->fenced = !(assert & MPI_MODE_NOSUCCEED);
  flitwork_write(&(struct event){.what = FENCE, .comm = found->comm, .tag = (assert & MPI_MODE_NOPRECEDE) != 0}, NULL);
}

void flitwork_not_fenced(const char *name, MPI_Win window) {
  if (!flitwork_records()) return;
  struct window *found = of(window);
  if (found) found->fenced = 0;
  flitwork_unknown(name);
}

static int64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  if (count > 0) PMPI_Type_size_x(type, &size);
  return count > 0 && size > 0 ? (int64_t)(count * size) : 0;
}

void flitwork_one_sided(const char *name, const struct call *call, MPI_Win window) {
  if (!flitwork_records() || call->peer == MPI_PROC_NULL) return;
  struct window *found = of(window);
  if (!found || !found->fenced) {
    flitwork_unknown(name);
    return;
  }
  int64_t bytes[2] = {bytes_of(call->op == MPI_NO_OP && call->recvcount ? 0 : call->sendcount, call->sendtype),
                      bytes_of(call->recvcount, call->recvtype)};
  if ((bytes[0] || bytes[1]) && call->peer != found->rank)
    flitwork_write(&(struct event){.what = ONE_SIDED, .words = 2, .peer = call->peer, .comm = found->comm}, bytes);
}

#define MAKES(Name, PARAMETERS, ARGUMENTS) \
  int MPI_##Name PARAMETERS { \
    flitwork_enter(); \
    int rc = PMPI_##Name ARGUMENTS; \
    if (rc == MPI_SUCCESS) flitwork_window_made(comm, *window); \
    flitwork_leave(); \
    return rc; \
  }
MAKES(Win_create, (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *window),
      (base, size, unit, info, comm, window))
MAKES(Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *window),
      (size, unit, info, comm, base, window))
MAKES(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *window), (info, comm, window))

int MPI_Win_fence(int assert, MPI_Win window) {
  flitwork_enter();
  int rc = PMPI_Win_fence(assert, window);
  if (rc == MPI_SUCCESS) flitwork_fence(assert, window);
  flitwork_leave();
  return rc;
}

#define NOT_FENCED(Name, PARAMETERS, ARGUMENTS) \
  int MPI_##Name PARAMETERS { \
    flitwork_enter(); \
    flitwork_not_fenced("MPI_" #Name, window); \
    int rc = PMPI_##Name ARGUMENTS; \
    flitwork_leave(); \
    return rc; \
  }
NOT_FENCED(Win_start, (MPI_Group group, int assert, MPI_Win window), (group, assert, window))
NOT_FENCED(Win_lock, (int type, int rank, int assert, MPI_Win window), (type, rank, assert, window))
NOT_FENCED(Win_lock_all, (int assert, MPI_Win window), (assert, window))
