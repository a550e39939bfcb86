/* The same with large counts, where the MPI library has them. */
#include "record.h"
#include "table.h"

#if MPI_VERSION >= 4
#define NUMBER MPI_Count
#define OFFSET MPI_Aint
#define LARGE 1
#define NAME(prefix, name) prefix##name##_c
#define OF_THIS_SIZE COLLECTIVES_WITH_COUNTS
#include "wrappers.h"
#endif
