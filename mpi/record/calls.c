/* The calls that a program makes in C: messages and collectives. */
#include "record.h"
#include "table.h"

#define NUMBER int
#define OFFSET int
#define LARGE 0
#define NAME(prefix, name) prefix##name
#define OF_THIS_SIZE COLLECTIVES
#include "wrappers.h"
