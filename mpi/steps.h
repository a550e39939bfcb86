/* The all-to-alls of flitwork, step by step: the functions that the simulator runs, behind a C interface.
 *
 * The implementation is the crate flitwork-steps, linked statically. Nothing here calls MPI, keeps a global or aborts. */
#ifndef FLITWORK_STEPS_H
#define FLITWORK_STEPS_H
#include <stddef.h>
#include <stdint.h>

#define FLITWORK_NOBODY UINT32_MAX

/* What an algorithm knows of the communicator. All pointers are read during flitwork_steps_new only. */
typedef struct {
  uint32_t ranks;            /* 2 to 2^24 */
  const uint32_t *server_of; /* of each rank a number that ranks of one server share; NULL: every rank is on a server of its own */
  uint32_t dims;             /* of the grid whose routers the ranks are, first dimension fastest; 0: no grid is known */
  const uint32_t *sizes;     /* routers in each dimension */
  const uint8_t *wraps;      /* of each dimension whether it is a ring */
  uint32_t radix;            /* base of Bruck's digits; 0: the default */
  uint32_t leaders;          /* leaders on each server; 0: the default */
  uint32_t descending;       /* whether bits are exchanged from the highest down */
} flitwork_world;

/* One step of one rank: at most one message out and one in, posted together, the receive first. */
typedef struct {
  uint32_t to, from;                    /* FLITWORK_NOBODY: nothing in this direction */
  uint64_t send_count, receive_count;   /* blocks in the messages */
  const uint64_t *send, *receive;       /* the blocks in the order in which they lie in the message; block i*ranks+j goes from rank i to
                                           rank j. Valid until the next call with the same handle */
  uint32_t waits;                       /* whether the rank waits for all that it has posted before its next step */
} flitwork_step;

typedef struct flitwork_steps flitwork_steps;

/* The algorithm for this world; NULL where it is not defined there, with the reason in `error`. */
flitwork_steps *flitwork_steps_new(const char *algorithm, const flitwork_world *world, char *error, size_t error_size);
void flitwork_steps_free(flitwork_steps *);
uint32_t flitwork_steps_count(const flitwork_steps *);
/* Step `step` of rank `rank`; 0, or -1 where there is no such rank or step. */
int flitwork_steps_at(flitwork_steps *, uint32_t rank, uint32_t step, flitwork_step *out);
/* Whether every block travels as a message of its own from its source to its destination. An algorithm that hands blocks on says no
 * even where a world leaves it nothing to hand on. */
int flitwork_steps_are_direct(const flitwork_steps *);
/* The name and the one-line summary of algorithm number `index`; NULL past the last. */
const char *flitwork_steps_name(uint32_t index);
const char *flitwork_steps_summary(uint32_t index);
/* Whether an algorithm has the parameter `radix` or `leaders`; 0 where it is not known. */
int flitwork_steps_has(const char *algorithm, const char *parameter);
/* The library's version. */
const char *flitwork_steps_version(void);
#endif
