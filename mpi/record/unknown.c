/* Calls that are not recorded: counted by name, and passed on, in C and in Fortran.
 *
 * No argument of these calls is a floating-point number, so each is a word in an integer register or on the stack. So mpi.h, whose
 * declarations would differ, is not included. */
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
/* As many words as a call has, and no more: the words beside them on the stack are its caller's own. */
#define W1 word a
#define W2 W1, word b
#define W3 W2, word c
#define W4 W3, word d
#define W5 W4, word e
#define W6 W5, word f
#define W7 W6, word g
#define W8 W7, word h
#define W9 W8, word i
#define W10 W9, word j
#define W11 W10, word k
#define W12 W11, word l
#define W13 W12, word m
#define W14 W13, word n
#define W15 W14, word o
#define G1 a
#define G2 G1, b
#define G3 G2, c
#define G4 G3, d
#define G5 G4, e
#define G6 G5, f
#define G7 G6, g
#define G8 G7, h
#define G9 G8, i
#define G10 G9, j
#define G11 G10, k
#define G12 G11, l
#define G13 G12, m
#define G14 G13, n
#define G15 G14, o
typedef int (*function)();

static function next(const char *symbol) {
  function found = (function)dlsym(RTLD_NEXT, symbol);
  if (found) return found;
  fprintf(stderr, "flitwork mpi record: this MPI library has no %s\n", symbol);
  abort();
}

#define PASS(symbol, text, words) \
  int symbol(W##words) { \
    static function real; \
    if (!real) real = next(#symbol); \
    flitwork_enter(); \
    flitwork_unknown(text); \
    int rc = real(G##words); \
    flitwork_leave(); \
    return rc; \
  }
#define PASS_ALL(Name, name, in_c, in_fortran) \
  PASS(MPI_##Name, "MPI_" #Name, in_c) \
  PASS(mpi_##name##_, "MPI_" #Name, in_fortran) \
  PASS(mpi_##name##_f08_, "MPI_" #Name, in_fortran)
NOT_RECORDED(PASS_ALL)
