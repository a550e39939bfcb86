/* Errors of waiting that belong to the communicator of the call, not to MPI_COMM_WORLD. */
#include "interpose.h"
#include <pthread.h>

/* Whether the program wants to hear of errors on its communicator. */
int errors_are_heard(MPI_Comm user) {
  MPI_Errhandler handler;
  if (PMPI_Comm_get_errhandler(user, &handler) != MPI_SUCCESS) return 0;
  int fatal = handler == MPI_ERRORS_ARE_FATAL;
  PMPI_Errhandler_free(&handler);
  return !fatal;
}

#ifdef MPICH_VERSION

/* MPICH gives an error of MPI_Waitall to the handler of MPI_COMM_WORLD or MPI_COMM_SELF, whatever the messages' communicator. Where the user's
 * communicator lets errors return, these two must for a moment, too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int users;
static MPI_Errhandler world, self;

int errors_return(void) {
  pthread_mutex_lock(&lock);
  if (users++ == 0) {
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &world);
    PMPI_Comm_get_errhandler(MPI_COMM_SELF, &self);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  }
  pthread_mutex_unlock(&lock);
  return 1;
}

/* Only where the program hears of errors on its communicator. */
int errors_return_for(MPI_Comm user) {
  return errors_are_heard(user) ? errors_return() : 0;
}

void errors_as_before(int changed) {
  if (!changed) return;
  pthread_mutex_lock(&lock);
  if (--users == 0) {
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, world);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, self);
    PMPI_Errhandler_free(&world);
    PMPI_Errhandler_free(&self);
  }
  pthread_mutex_unlock(&lock);
}

#else

int errors_return(void) {
  return 0;
}

int errors_return_for(MPI_Comm user) {
  (void)user;
  return 0;
}

void errors_as_before(int changed) {
  (void)changed;
}

#endif
