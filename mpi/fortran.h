/* Functions that Fortran calls, by the names that compilers and modules give them. */
#ifndef FLITWORK_FORTRAN_H
#define FLITWORK_FORTRAN_H
#include "interpose.h"

#define FORTRAN static __attribute__((used)) void
#define NAME(FUNCTION, name)             \
  extern __typeof__(FUNCTION) name;      \
  extern __typeof__(FUNCTION) name __attribute__((alias(#FUNCTION), visibility("default")))
/* The names that Fortran compilers give to a function. */
#define NAMES(FUNCTION, lower, UPPER) \
  NAME(FUNCTION, lower);              \
  NAME(FUNCTION, lower##_);           \
  NAME(FUNCTION, lower##__);          \
  NAME(FUNCTION, UPPER)

static inline void set_error(MPI_Fint *ierr, int code) {
  if (ierr != NULL) *ierr = (MPI_Fint)code;
}

#pragma GCC visibility push(hidden)
/* fortran.c, for Open MPI */
void *buffer_of(char *buffer);
int ranks_of(MPI_Comm);
const int *ints(const MPI_Fint *numbers, int count, int **owned);
MPI_Datatype *datatypes(const MPI_Fint *types, int count);
#pragma GCC visibility pop
#endif
