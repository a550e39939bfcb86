/* Carries out a plan with the user's buffers. */
#define _POSIX_C_SOURCE 200809L
#include "interpose.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Messages between two ranks are matched in their order; the sizes and the blocks themselves are kept apart. */
enum { TAG_SIZES = 1, TAG_BLOCKS = 2 };

typedef struct {
  comm_state *state;
  const plan *p;
  const side *send, *receive;
  int tag;
  MPI_Count bytes;         /* of every block; below 0: they differ */
  const MPI_Count *sizes;  /* then: of each block held here */
  size_t *at;              /* then: where it lies; p->slots + 1 of them */
  char *hold, *gather;
  size_t gathered;         /* bytes of the gathering area that messages on their way use */
  MPI_Request *requests;   /* of step i the receive at 2 i, the send at 2 i + 1 */
  MPI_Status *statuses;
  int error;               /* the first that was met */
  uint32_t open;           /* all steps below are complete */
  uint8_t *arrived;        /* of each step whether its receive is complete */
  struct timespec last;
} run;

/* Memory that is kept for the next call. A rank without memory cannot go on, and its peers would wait for it: the program ends. */
static void *memory(const run *r, int which, size_t size) {
  scratch *s = &r->state->scratch[which];
  if (size <= s->size && s->memory != NULL) return s->memory;
  free(s->memory);
  s->memory = malloc(size ? size : 1);
  s->size = size;
  if (s->memory != NULL) return s->memory;
  say_once("there is no memory for the blocks that an all-to-all forwards; the program stops.");
  PMPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

static size_t place_of(const run *r, uint32_t slot) {
  return r->bytes >= 0 ? (size_t)slot * (size_t)r->bytes : r->at[slot];
}

static MPI_Count size_of(const run *r, uint32_t slot) {
  return r->bytes >= 0 ? r->bytes : r->sizes[slot];
}

static block held(const run *r, uint32_t first, uint32_t count) {
  size_t from = place_of(r, first), to = place_of(r, first + count);
  return (block){.at = r->hold + from, .count = (MPI_Count)(to - from), .bytes = (MPI_Count)(to - from), .type = MPI_PACKED, .plain = 1};
}

/* Whatever goes wrong, every message is sent and received: a rank that left would make its peers wait, and a message that stays behind
 * would be taken for one of the next call. The first error is what the caller hears of. */
static void note(run *r, int code) {
  if (r->error == MPI_SUCCESS) r->error = code;
}

/* Takes the blocks that stay here out of a message that has arrived. */
static void unpack_step(run *r, uint32_t i) {
  const plan_step *step = &r->p->steps[i];
  if (step->from == FLITWORK_NOBODY || r->arrived[i]) return;
  r->arrived[i] = 1;
  for (uint32_t k = 0; k < step->receive_count; k++) {
    const item *it = &r->p->receives[step->receive_first + k];
    if (it->peer == FLITWORK_NOBODY || it->slot == FLITWORK_NOBODY) continue;
    block to = block_at(r->receive, it->peer);
    note(r, block_unpack(&to, r->hold + place_of(r, it->slot), size_of(r, it->slot), r->state->private, r->state->rank));
  }
}

/* Waits for everything of the steps before `end`. */
static void complete(run *r, uint32_t end) {
  if (end <= r->open) return;
  uint32_t count = 2 * (end - r->open);
  MPI_Request *requests = r->requests + 2 * r->open;
#ifdef OPEN_MPI
  /* MPI_Waitall of Open MPI 4 does not return where a message that it waits for ends in an error. */
  for (uint32_t k = 0; k < count; k++) note(r, wait_for(&requests[k]));
#else
  int code = PMPI_Waitall((int)count, requests, r->statuses);
  for (uint32_t k = 0; code != MPI_SUCCESS && k < count; k++) {
    int its = code == MPI_ERR_IN_STATUS ? r->statuses[k].MPI_ERROR : MPI_ERR_PENDING;
    note(r, requests[k] != MPI_REQUEST_NULL && its == MPI_ERR_PENDING ? wait_for(&requests[k]) : its);
  }
#endif
  for (; r->open < end; r->open++) unpack_step(r, r->open);
  r->gathered = 0;
}

static void wait_for_needs(run *r, const plan_step *step) {
  for (uint32_t k = 0; k < step->needs_count; k++) {
    uint32_t by = r->p->needs[step->needs_first + k];
    if (by < r->open || r->arrived[by]) continue;
    note(r, wait_for(&r->requests[2 * by]));
    unpack_step(r, by);
  }
}

static void receive_step(run *r, const plan_step *step, MPI_Request *request) {
  const item *first = &r->p->receives[step->receive_first];
  block b;
  if (first->slot == FLITWORK_NOBODY) {
    b = block_at(r->receive, first->peer);
  } else {
    b = held(r, first->slot, step->receive_count);
  }
  int code = block_ireceive(&b, (int)step->from, r->tag, r->state->private, request);
  if (code == MPI_SUCCESS) return;
  note(r, code);
  PMPI_Irecv(r->hold, 0, MPI_PACKED, (int)step->from, r->tag, r->state->private, request);
}

/* Copies the blocks of a message together. */
static block gather_step(run *r, const plan_step *step) {
  char *to = r->gather + r->gathered, *start = to;
  for (uint32_t k = 0; k < step->send_count; k++) {
    const item *it = &r->p->sends[step->send_first + k];
    if (it->slot != FLITWORK_NOBODY) {
      block b = held(r, it->slot, 1);
      if (b.bytes > 0) memcpy(to, b.at, (size_t)b.bytes);
      to += b.bytes;
      continue;
    }
    block b = block_at(r->send, it->peer);
    note(r, block_pack(&b, to, r->state->private, r->state->rank));
    to += b.bytes;
  }
  r->gathered = (size_t)(to - r->gather);
  return (block){.at = start, .count = to - start, .bytes = to - start, .type = MPI_PACKED, .plain = 1};
}

/* Lets the pause between the starts of two messages go by. */
static void pace(run *r) {
  uint64_t pause = r->state->settings->pause_ns;
  struct timespec now;
  if (pause == 0) return;
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (r->last.tv_sec != 0 &&
           (uint64_t)(now.tv_sec - r->last.tv_sec) * 1000000000u + (uint64_t)now.tv_nsec - (uint64_t)r->last.tv_nsec < pause);
  r->last = now;
}

static void send_step(run *r, const plan_step *step, MPI_Request *request) {
  const item *first = &r->p->sends[step->send_first];
  block b;
  wait_for_needs(r, step);
  if (step->gathers) {
    b = gather_step(r, step);
  } else if (first->slot != FLITWORK_NOBODY) {
    b = held(r, first->slot, step->send_count);
  } else {
    b = block_at(r->send, first->peer);
  }
  pace(r);
  int code = block_isend(&b, (int)step->to, r->tag, r->state->private, request);
  if (code == MPI_SUCCESS) return;
  note(r, code);
  PMPI_Isend(r->hold, 0, MPI_PACKED, (int)step->to, r->tag, r->state->private, request);
}

static int go_through(run *r) {
  uint32_t count = r->p->count;
  size_t room = (size_t)count * (2 * sizeof(MPI_Request) + 2 * sizeof(MPI_Status) + 1);
  r->statuses = memory(r, SCRATCH_REQUESTS, room);
  r->requests = (MPI_Request *)(r->statuses + 2 * (size_t)count);
  r->arrived = (uint8_t *)(r->requests + 2 * (size_t)count);
  memset(r->arrived, 0, count);
  for (uint32_t k = 0; k < 2 * count; k++) r->requests[k] = MPI_REQUEST_NULL;
  for (uint32_t i = 0; i < count; i++) {
    const plan_step *step = &r->p->steps[i];
    if (step->from != FLITWORK_NOBODY) receive_step(r, step, &r->requests[2 * i]);
    if (step->to != FLITWORK_NOBODY) send_step(r, step, &r->requests[2 * i + 1]);
    if (step->waits) complete(r, i + 1);
  }
  complete(r, count);
  return r->error;
}

/* The most bytes that are gathered and not yet waited for. */
static size_t gathering_room(const run *r) {
  if (r->bytes >= 0) return (size_t)r->p->most_gathered * (size_t)r->bytes;
  size_t now = 0, most = 0;
  for (uint32_t i = 0; i < r->p->count; i++) {
    const plan_step *step = &r->p->steps[i];
    for (uint32_t k = 0; step->gathers && k < step->send_count; k++) {
      const item *it = &r->p->sends[step->send_first + k];
      now += (size_t)(it->slot != FLITWORK_NOBODY ? r->sizes[it->slot] : block_at(r->send, it->peer).bytes);
    }
    if (now > most) most = now;
    if (step->waits) now = 0;
  }
  return most;
}

static void make_room(run *r) {
  r->hold = memory(r, SCRATCH_HOLD, place_of(r, r->p->slots));
  r->gather = memory(r, SCRATCH_GATHER, gathering_room(r));
}

/* Sends the sizes of the blocks the way that the blocks will go: then every rank knows the sizes of what it forwards. */
static void learn_sizes(run *r) {
  uint32_t ranks = (uint32_t)r->state->ranks, slots = r->p->slots;
  size_t room = 2 * ranks * sizeof(MPI_Count) + slots * sizeof(MPI_Count) + ((size_t)slots + 1) * sizeof(size_t);
  MPI_Count *mine = memory(r, SCRATCH_SIZES, room);
  MPI_Count *theirs = mine + ranks, *sizes = theirs + ranks;
  for (uint32_t peer = 0; peer < ranks; peer++) mine[peer] = block_at(r->send, peer).bytes;
  side from = side_uniform(mine, sizeof(MPI_Count), MPI_PACKED), to = side_uniform(theirs, sizeof(MPI_Count), MPI_PACKED);
  from.size = from.extent = to.size = to.extent = 1;
  from.plain = to.plain = 1;
  run first = {.state = r->state, .p = r->p, .send = &from, .receive = &to, .tag = TAG_SIZES, .bytes = sizeof(MPI_Count)};
  make_room(&first);
  memset(first.hold, 0, slots * sizeof(MPI_Count)); /* after an error a size may be missing */
  note(r, go_through(&first));
  memcpy(sizes, first.hold, slots * sizeof(MPI_Count));
  r->sizes = sizes;
  r->at = (size_t *)(sizes + slots);
  r->at[0] = 0;
  for (uint32_t slot = 0; slot < slots; slot++) r->at[slot + 1] = r->at[slot] + (size_t)sizes[slot];
  r->bytes = -1;
}

/* MPI_IN_PLACE: what is sent lies where it will be overwritten, so it is packed first. */
static side set_aside(run *r) {
  uint32_t ranks = (uint32_t)r->state->ranks;
  size_t total = 0, tables = ranks * (sizeof(MPI_Count) + sizeof(MPI_Aint));
  for (uint32_t peer = 0; peer < ranks; peer++) total += (size_t)block_at(r->receive, peer).bytes;
  MPI_Count *counts = memory(r, SCRATCH_IN_PLACE, tables + total);
  MPI_Aint *displacements = (MPI_Aint *)(counts + ranks);
  char *packed = (char *)(displacements + ranks);
  MPI_Aint at = 0;
  for (uint32_t peer = 0; peer < ranks; peer++) {
    block b = block_at(r->receive, peer);
    counts[peer] = b.bytes;
    displacements[peer] = at;
    if ((int)peer != r->state->rank) note(r, block_pack(&b, packed + at, r->state->private, r->state->rank));
    at += (MPI_Aint)b.bytes;
  }
  side aside = side_v(packed, counts, displacements, MPI_PACKED, 1);
  aside.size = aside.extent = 1;
  aside.plain = 1;
  return aside;
}

int engine_run(comm_state *state, const plan *p, const side *send, const side *receive, int in_place) {
  run r = {.state = state, .p = p, .send = send, .receive = receive, .tag = TAG_BLOCKS};
  side aside;
  if (in_place) {
    aside = set_aside(&r);
    r.send = &aside;
  }
  r.bytes = receive->form == UNIFORM ? (in_place ? receive->count * receive->size : send->count * send->size) : 0;
  if (receive->form != UNIFORM && p->forwards) learn_sizes(&r);
  make_room(&r);
  go_through(&r);
  if (in_place) return r.error;
  block mine = block_at(send, (uint32_t)state->rank), there = block_at(receive, (uint32_t)state->rank);
  note(&r, block_copy(&mine, &there, state->private, state->rank));
  return r.error;
}
