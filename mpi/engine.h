/* How far one rank is with one all-to-all. A blocking call goes through it at once; one that returns before it is complete goes on wherever
 * the MPI library lets it (operations.c). */
#ifndef FLITWORK_ENGINE_H
#define FLITWORK_ENGINE_H
#include "interpose.h"
#include <time.h>

#pragma GCC visibility push(hidden)

/* One pass over the steps: of the sizes, or of the blocks. */
typedef struct {
  comm_state *state;
  const plan *p;
  const side *send, *receive;
  scratch *scratch;        /* memory that is kept for the next call */
  int tag, self_tag;        /* of messages to others, and of those of a rank to itself */
  int blocks;              /* whether to wait inside; otherwise go_on returns where it would have to */
  int lets_return;         /* whether errors of waiting are the caller's to hear of (errors.c) */
  MPI_Count bytes;         /* of every block; below 0: they differ */
  const MPI_Count *sizes;  /* then: of each block held here */
  size_t *at;              /* then: where it lies; p->slots + 1 of them */
  char *hold, *gather;
  size_t gathered;         /* bytes of the gathering area that messages on their way use */
  MPI_Request *requests;   /* of step i the receive at 2 i, the send at 2 i + 1 */
  MPI_Status *statuses;
  int error;               /* the first that was met */
  uint32_t step;           /* all before are posted */
  int received;            /* the receive of this one is posted, too */
  int sent;                /* and its message has left */
  uint32_t open;           /* all steps below are complete */
  uint8_t *arrived;        /* of each step whether its receive is complete */
  struct timespec last;
} run;

/* A whole all-to-all. */
typedef struct {
  run first, second;       /* the sizes, where others' blocks of different sizes are forwarded; the blocks */
  int learns, knows;       /* the first pass is under way; it was made in an earlier start with the same arguments */
  side sizes_out, sizes_in;/* what the first pass works on */
  side aside;              /* MPI_IN_PLACE: what is sent, packed */
} exchange;

/* What it works on: must not move until it is complete. */
typedef struct {
  comm_state *state;
  const plan *p;
  const side *send, *receive;
  int in_place, blocks, lets_return;
  scratch *scratch;
  int tags;                /* the first of TAGS tags that are its own */
} task;

enum { TAG_BELL, TAG_SIZES, TAG_BLOCKS, TAG_SELF, TAGS };

/* Copies the block from this rank to itself, which no step does; waits inside. */
int exchange_self_block(const task *);
void exchange_begin(exchange *, const task *);
/* Whether it is complete; where `blocks` is set, always. */
int exchange_goes_on(exchange *);
/* The first error that was met. */
int exchange_error(const exchange *);

#pragma GCC visibility pop
#endif
