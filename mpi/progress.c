/* Who goes on with operations while the program does something else: the MPI library, from within any function of its own that waits or
 * tests, as it goes on with its own non-blocking collectives; or a thread.
 *
 * Open MPI has a list of functions for that, MPICH has MPIX_Async_start from 4.3 on. Other libraries call nobody: there it takes a thread,
 * and MPI_THREAD_MULTIPLE. */
#define _GNU_SOURCE
#include "interpose.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int level_of_threads(void) {
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  return level;
}

#if defined(OPEN_MPI)

typedef int register_function(int (*)(void));

static register_function *function_of(void) {
  static register_function *found;
  if (found == NULL) found = (register_function *)(uintptr_t)dlsym(RTLD_DEFAULT, "opal_progress_register");
  return found;
}

static int is_hooked; /* under the lock of operations.c */

static int has_hook(void) {
  return function_of() != NULL;
}

static void hook(void) {
  if (!is_hooked) function_of()(operations_go_on);
  is_hooked = 1;
}

#elif defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40300000

static int is_hooked; /* under the lock of operations.c */

/* MPICH 5.0 holds a mutex while it calls us, which a function of ours that makes progress would ask for again. */
static int has_hook(void) {
  return level_of_threads() < MPI_THREAD_MULTIPLE;
}

/* Stays with the MPI library: MPI_Finalize waits for those that it has, so the last one ends there. */
static int on_progress(MPIX_Async_thing thing) {
  (void)thing;
  operations_go_on();
  return operations_under_way() == 0 && !library_is_on() ? MPIX_ASYNC_DONE : MPIX_ASYNC_NOPROGRESS;
}

static void hook(void) {
  if (!is_hooked) PMPIX_Async_start(on_progress, NULL, MPIX_STREAM_NULL);
  is_hooked = 1;
}

#else

static int has_hook(void) {
  return 0;
}

static void hook(void) {}

#endif

/* ---- a thread of our own ---- */

static pthread_t thread;
static atomic_int thread_runs, thread_ends;

static void *work(void *nothing) {
  int idle = 0;
  while (!atomic_load(&thread_ends)) {
    idle = operations_under_way() == 0 ? idle + 1 : 0;
    if (operations_go_on() > 0) continue;
    if (idle > 1000) {
      nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    } else {
      sched_yield();
    }
  }
  return nothing;
}

static int raised_level;

int progress_level(int required) {
  const char *value = getenv("FLITWORK_MPI_PROGRESS");
  int level = value != NULL && strcmp(value, "thread") == 0 ? MPI_THREAD_MULTIPLE : required;
  raised_level = level != required;
  return level;
}

/* MPICH after 4.0 looks at the level when it chooses a collective, on each rank at its own: where some have MPI_THREAD_MULTIPLE and others
 * have not, its MPI_Allreduce waits for ever after a few calls (5.0.2 does). */
int progress_levels_clash(int *by_us) {
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40100000
  int multiple = level_of_threads() == MPI_THREAD_MULTIPLE, mine[3] = {multiple, !multiple, raised_level}, any[3] = {0, 0, 0};
  PMPI_Allreduce(mine, any, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  *by_us = any[2];
  return any[0] && any[1];
#else
  (void)raised_level;
  *by_us = 0;
  return 0;
#endif
}

static int wants_hook(void) {
  return settings_of_process()->progress == PROGRESS_HOOK && has_hook();
}

int progress_can_be_had(void) {
  if (settings_of_process()->progress == PROGRESS_NONE) return 0;
  return wants_hook() || level_of_threads() == MPI_THREAD_MULTIPLE;
}

/* Called before each operation, under the lock of operations.c. */
void progress_wanted(void) {
  if (wants_hook()) {
    hook();
    return;
  }
  if (atomic_exchange(&thread_runs, 1)) return;
  if (pthread_create(&thread, NULL, work, NULL) == 0) return;
  say_once("there is no thread to go on with all-to-alls; the program stops.");
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

void progress_ends(void) {
  atomic_store(&thread_ends, 1);
  if (atomic_load(&thread_runs)) pthread_join(thread, NULL);
}
