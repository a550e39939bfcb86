/* All-to-alls that go on after the call that began them.
 *
 * The program holds a request of the MPI library's own: a receive of no bytes from this rank itself, which is sent when the operation is
 * complete. So whatever waits, tests, stores or frees requests does what it always did, in any language. */
#include "engine.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Operations of one communicator have tags of their own. Those of a non-blocking one come again, and wait for its predecessor. */
enum { NON_BLOCKING_TAGS = 4096, PERSISTENT_TAGS = 3500 };

typedef struct operation {
  struct operation *next;      /* of those under way */
  struct operation *next_kept; /* of the persistent ones */
  task task;
  exchange exchange;
  side send, receive;
  scratch scratch[SCRATCHES];
  report_row *row;
  MPI_Count bytes;
  MPI_Request handle;          /* of a persistent one */
  int persists, nothing, heard, begun, active, freed, error;
} operation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static operation *first, **last = &first; /* under way, the oldest first */
static operation *kept;
static atomic_int under_way, persistent;
static char nothing[1]; /* what requests receive */

int operations_under_way(void) {
  return atomic_load_explicit(&under_way, memory_order_relaxed);
}

static void drop(operation *o) {
  int ranks = o->task.state->ranks;
  if (!o->task.in_place) side_drop(&o->send, ranks);
  side_drop(&o->receive, ranks);
  for (int i = 0; i < SCRATCHES; i++) free(o->scratch[i].memory);
  communicator_leave(o->task.state);
  free(o);
}

/* Completes the program's request. The message to this rank itself has a receive and no bytes, so it is gone at once; an error makes it
 * too long, which is one for whoever waits. */
static void ring(operation *o) {
  comm_state *state = o->task.state;
  MPI_Request sent = MPI_REQUEST_NULL;
  if (o->error != MPI_SUCCESS && !o->heard) PMPI_Comm_call_errhandler(state->user != MPI_COMM_NULL ? state->user : MPI_COMM_WORLD, o->error);
  PMPI_Isend(nothing, o->error != MPI_SUCCESS, MPI_BYTE, state->rank, o->task.tags + TAG_BELL, state->private, &sent);
  if (sent != MPI_REQUEST_NULL) PMPI_Request_free(&sent);
}

/* Whether an older operation has the same tags. */
static int follows(const operation *o) {
  for (const operation *other = first; other != NULL && other != o; other = other->next)
    if (other->task.state == o->task.state && other->task.tags == o->task.tags) return 1;
  return 0;
}

/* Goes on with one; whether it is complete. */
static int goes_on(operation *o) {
  if (o->nothing) return 1;
  if (!o->begun && follows(o)) return 0;
  if (!o->begun) exchange_begin(&o->exchange, &o->task);
  o->begun = 1;
  if (!exchange_goes_on(&o->exchange)) return 0;
  if (o->error == MPI_SUCCESS) o->error = exchange_error(&o->exchange);
  return 1;
}

static void end(operation *o) {
  o->active = 0;
  atomic_fetch_sub(&under_way, 1);
  ring(o);
  if (!o->persists || o->freed) drop(o);
}

/* An operation whose request waits for it begins. */
static void start(operation *o) {
  o->error = o->nothing ? MPI_SUCCESS : exchange_self_block(&o->task);
  report_count(o->row, o->bytes);
  pthread_mutex_lock(&lock);
  o->begun = 0;
  o->active = 1;
  o->next = NULL;
  *last = o;
  last = &o->next;
  atomic_fetch_add(&under_way, 1);
  progress_wanted();
  pthread_mutex_unlock(&lock);
  operations_go_on();
}

/* Also called by the MPI library from within its functions, and by several threads: one at a time looks after all. */
int operations_go_on(void) {
  int ended = 0;
  if (operations_under_way() == 0 || pthread_mutex_trylock(&lock) != 0) return 0;
  for (operation **at = &first; *at != NULL;) {
    operation *o = *at;
    if (!goes_on(o)) {
      at = &o->next;
      continue;
    }
    *at = o->next;
    if (last == &o->next) last = at;
    end(o);
    ended++;
  }
  pthread_mutex_unlock(&lock);
  return ended;
}

static operation *make(const choice *c, const side *send, const side *receive) {
  operation *o = calloc(1, sizeof *o);
  if (o == NULL) return NULL;
  o->task = (task){.state = c->state, .p = c->p, .send = &o->send, .receive = &o->receive, .in_place = c->in_place, .scratch = o->scratch};
  o->row = c->row;
  o->bytes = c->bytes;
  o->nothing = c->nothing;
  o->heard = o->task.lets_return = errors_are_heard(c->state->user);
  atomic_fetch_add(&c->state->users, 1);
  int ranks = c->state->ranks, code = side_keep(receive, ranks, &o->receive);
  if (!c->in_place && code == MPI_SUCCESS) code = side_keep(send, ranks, &o->send);
  if (code == MPI_SUCCESS) return o;
  o->task.in_place = c->in_place || o->send.counts == NULL;
  drop(o);
  return NULL;
}

/* Ranks that cannot take part must not leave the others alone: memory for the arguments is all that can be missing. */
static void no_memory(void) {
  say_once("there is no memory for the arguments of an all-to-all; the program stops.");
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

static int begin(const choice *c, const side *send, const side *receive, MPI_Request *request) {
  operation *o = make(c, send, receive);
  if (o == NULL) no_memory();
  o->task.tags = TAGS * (int)(1 + c->state->started++ % NON_BLOCKING_TAGS);
  int code = PMPI_Irecv(nothing, 0, MPI_BYTE, c->state->rank, o->task.tags + TAG_BELL, c->state->private, request);
  if (code != MPI_SUCCESS) no_memory();
  start(o);
  return MPI_SUCCESS;
}

/* Whether a persistent operation on this rank has these tags. */
static int in_use(const comm_state *state, int tags) {
  int found = 0;
  pthread_mutex_lock(&lock);
  for (const operation *o = kept; o != NULL; o = o->next_kept) found = found || (o->task.state == state && o->task.tags == tags);
  for (const operation *o = first; o != NULL; o = o->next) found = found || (o->task.state == state && o->task.tags == tags);
  pthread_mutex_unlock(&lock);
  return found;
}

/* Ranks agree here, as MPI lets an initialisation wait for others. 0: left to the MPI library. */
static int initialise(const choice *c, const side *send, const side *receive, MPI_Request *request) {
  comm_state *state = c->state;
  int tags = TAGS * (int)(1 + NON_BLOCKING_TAGS + state->made++ % PERSISTENT_TAGS), any = 1;
  operation *o = make(c, send, receive);
  int lacks = o == NULL || in_use(state, tags);
  if (o != NULL) {
    o->task.tags = tags;
    o->persists = 1;
    lacks = lacks || PMPI_Recv_init(nothing, 0, MPI_BYTE, state->rank, tags + TAG_BELL, state->private, &o->handle) != MPI_SUCCESS;
  }
  if (PMPI_Allreduce(&lacks, &any, 1, MPI_INT, MPI_MAX, state->private) != MPI_SUCCESS) any = 1;
  if (any) {
    if (o != NULL && !lacks) PMPI_Request_free(&o->handle);
    if (o != NULL) drop(o);
    return 0;
  }
  *request = o->handle;
  pthread_mutex_lock(&lock);
  o->next_kept = kept;
  kept = o;
  pthread_mutex_unlock(&lock);
  atomic_fetch_add(&persistent, 1);
  return 1;
}

int take_later(int kind, int operation, side *send, side *receive, MPI_Comm comm, MPI_Request *request, int *result) {
  if (request == NULL) return 0;
  choice c = choose(kind, operation, send, receive, comm);
  *result = c.code;
  if (c.code != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, c.code);
  if (c.code != MPI_SUCCESS || c.p == NULL) return c.code != MPI_SUCCESS;
  if (kind == PERSISTENT) return initialise(&c, send, receive, request);
  *result = begin(&c, send, receive, request);
  return 1;
}

/* ---- persistent requests: started and freed as all others are, and by name here ---- */

static operation *kept_by(MPI_Request handle) {
  if (atomic_load_explicit(&persistent, memory_order_relaxed) == 0) return NULL;
  pthread_mutex_lock(&lock);
  operation *o = kept;
  while (o != NULL && o->handle != handle) o = o->next_kept;
  pthread_mutex_unlock(&lock);
  return o;
}

/* The program gives the request back. An operation that is under way goes on to its end. */
static operation *taken_back(MPI_Request handle) {
  if (atomic_load_explicit(&persistent, memory_order_relaxed) == 0) return NULL;
  pthread_mutex_lock(&lock);
  operation **at = &kept;
  while (*at != NULL && (*at)->handle != handle) at = &(*at)->next_kept;
  operation *o = *at;
  if (o != NULL) {
    *at = o->next_kept;
    o->freed = 1;
    atomic_fetch_sub(&persistent, 1);
    if (o->active) o = NULL;
  }
  pthread_mutex_unlock(&lock);
  return o;
}

#pragma GCC visibility push(default)

int MPI_Start(MPI_Request *request) {
  operation *o = request != NULL ? kept_by(*request) : NULL;
  int code = PMPI_Start(request);
  if (o != NULL && code == MPI_SUCCESS) start(o);
  return code;
}

int MPI_Startall(int count, MPI_Request requests[]) {
  int code = PMPI_Startall(count, requests);
  for (int i = 0; code == MPI_SUCCESS && i < count; i++) {
    operation *o = kept_by(requests[i]);
    if (o != NULL) start(o);
  }
  return code;
}

int MPI_Request_free(MPI_Request *request) {
  operation *o = request != NULL ? taken_back(*request) : NULL;
  int code = PMPI_Request_free(request);
  if (o != NULL) drop(o);
  return code;
}
