/* Calls that are not recorded: counted by name, and passed on, in C and in Fortran.
 *
 * No argument of these calls is a floating-point number, so each is a word in an integer register or on the stack. A
 * function that takes more words than its caller gave passes on what happens to lie there, and the library's function,
 * which knows how many there are, does not look at it. So mpi.h, whose declarations would differ, is not included. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "table.h"

void flitwork_enter(void);
void flitwork_leave(void);
void flitwork_unknown(const char *name);

typedef long word;
#define WORDS word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k, word l, word m, word n
#define GIVEN a, b, c, d, e, f, g, h, i, j, k, l, m, n
typedef int (*function)(WORDS);

static function next(const char *symbol) {
  function found = (function)dlsym(RTLD_NEXT, symbol);
  if (found) return found;
  fprintf(stderr, "flitwork mpi record: this MPI library has no %s\n", symbol);
  abort();
}

#define PASS(symbol, text) \
  int symbol(WORDS) { \
    static function real; \
    if (!real) real = next(#symbol); \
    flitwork_enter(); \
    flitwork_unknown(text); \
    int rc = real(GIVEN); \
    flitwork_leave(); \
    return rc; \
  }
#define PASS_ALL(Name, name) PASS(MPI_##Name, "MPI_" #Name) PASS(mpi_##name##_, "MPI_" #Name) PASS(mpi_##name##_f08_, "MPI_" #Name)
NOT_RECORDED(PASS_ALL)
