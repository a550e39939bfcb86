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
  uint32_t open;           /* all steps below are complete */
  uint8_t *arrived;        /* of each step whether its receive is complete */
  struct timespec last;
} run;

void *scratch_get(scratch *s, size_t size) {
  if (size <= s->size && s->memory != NULL) return s->memory;
  free(s->memory);
  s->memory = malloc(size ? size : 1);
  s->size = s->memory ? size : 0;
  return s->memory;
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

/* Takes the blocks that stay here out of a message that has arrived. */
static int unpack_step(run *r, uint32_t i) {
  const plan_step *step = &r->p->steps[i];
  if (step->from == FLITWORK_NOBODY || r->arrived[i]) return MPI_SUCCESS;
  r->arrived[i] = 1;
  for (uint32_t k = 0; k < step->receive_count; k++) {
    const item *it = &r->p->receives[step->receive_first + k];
    if (it->peer == FLITWORK_NOBODY || it->slot == FLITWORK_NOBODY) continue;
    block to = block_at(r->receive, it->peer);
    int code = block_unpack(&to, r->hold + place_of(r, it->slot), size_of(r, it->slot), r->state->private, r->state->rank);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

/* Waits for everything of the steps before `end`. */
static int complete(run *r, uint32_t end) {
  if (end <= r->open) return MPI_SUCCESS;
  int count = (int)(2 * (end - r->open));
  int code = PMPI_Waitall(count, r->requests + 2 * r->open, r->statuses);
  if (code == MPI_ERR_IN_STATUS) {
    for (int k = 0; k < count; k++)
      if (r->statuses[k].MPI_ERROR != MPI_SUCCESS && r->statuses[k].MPI_ERROR != MPI_ERR_PENDING) return r->statuses[k].MPI_ERROR;
  }
  for (; code == MPI_SUCCESS && r->open < end; r->open++) code = unpack_step(r, r->open);
  r->gathered = 0;
  return code;
}

static int wait_for_needs(run *r, const plan_step *step) {
  for (uint32_t k = 0; k < step->needs_count; k++) {
    uint32_t by = r->p->needs[step->needs_first + k];
    if (by < r->open || r->arrived[by]) continue;
    int code = PMPI_Wait(&r->requests[2 * by], MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) code = unpack_step(r, by);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

static int receive_step(run *r, const plan_step *step, MPI_Request *request) {
  const item *first = &r->p->receives[step->receive_first];
  block b;
  if (first->slot == FLITWORK_NOBODY) {
    b = block_at(r->receive, first->peer);
  } else {
    b = held(r, first->slot, step->receive_count);
  }
  return block_ireceive(&b, (int)step->from, r->tag, r->state->private, request);
}

/* Copies the blocks of a message together. */
static int gather_step(run *r, const plan_step *step, block *message) {
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
    int code = block_pack(&b, to, r->state->private, r->state->rank);
    if (code != MPI_SUCCESS) return code;
    to += b.bytes;
  }
  r->gathered = (size_t)(to - r->gather);
  *message = (block){.at = start, .count = to - start, .bytes = to - start, .type = MPI_PACKED, .plain = 1};
  return MPI_SUCCESS;
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

static int send_step(run *r, const plan_step *step, MPI_Request *request) {
  const item *first = &r->p->sends[step->send_first];
  block b;
  int code = wait_for_needs(r, step);
  if (code != MPI_SUCCESS) return code;
  if (step->gathers) {
    code = gather_step(r, step, &b);
  } else if (first->slot != FLITWORK_NOBODY) {
    b = held(r, first->slot, step->send_count);
  } else {
    b = block_at(r->send, first->peer);
  }
  if (code != MPI_SUCCESS) return code;
  pace(r);
  return block_isend(&b, (int)step->to, r->tag, r->state->private, request);
}

/* After an error: nothing may still write into the user's buffers. */
static void give_up(run *r) {
  for (uint32_t k = 2 * r->open; k < 2 * r->p->count; k++) {
    if (r->requests[k] == MPI_REQUEST_NULL) continue;
    if (k % 2) {
      PMPI_Request_free(&r->requests[k]);
    } else {
      PMPI_Cancel(&r->requests[k]);
      PMPI_Wait(&r->requests[k], MPI_STATUS_IGNORE);
    }
  }
}

static int go_through(run *r) {
  uint32_t count = r->p->count;
  size_t room = (size_t)count * (2 * sizeof(MPI_Request) + 2 * sizeof(MPI_Status) + 1);
  r->statuses = scratch_get(&r->state->scratch[SCRATCH_REQUESTS], room);
  if (r->statuses == NULL) return MPI_ERR_NO_MEM;
  r->requests = (MPI_Request *)(r->statuses + 2 * (size_t)count);
  r->arrived = (uint8_t *)(r->requests + 2 * (size_t)count);
  r->open = 0;
  memset(r->arrived, 0, count);
  for (uint32_t k = 0; k < 2 * count; k++) r->requests[k] = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
  for (uint32_t i = 0; i < count && code == MPI_SUCCESS; i++) {
    const plan_step *step = &r->p->steps[i];
    if (step->from != FLITWORK_NOBODY) code = receive_step(r, step, &r->requests[2 * i]);
    if (code == MPI_SUCCESS && step->to != FLITWORK_NOBODY) code = send_step(r, step, &r->requests[2 * i + 1]);
    if (code == MPI_SUCCESS && step->waits) code = complete(r, i + 1);
  }
  if (code == MPI_SUCCESS) code = complete(r, count);
  if (code != MPI_SUCCESS) give_up(r);
  return code;
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

static int make_room(run *r) {
  r->hold = scratch_get(&r->state->scratch[SCRATCH_HOLD], place_of(r, r->p->slots));
  r->gather = scratch_get(&r->state->scratch[SCRATCH_GATHER], gathering_room(r));
  return r->hold && r->gather ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* Sends the sizes of the blocks the way that the blocks will go: then every rank knows the sizes of what it forwards. */
static int learn_sizes(run *r) {
  uint32_t ranks = (uint32_t)r->state->ranks, slots = r->p->slots;
  size_t room = 2 * ranks * sizeof(MPI_Count) + slots * sizeof(MPI_Count) + ((size_t)slots + 1) * sizeof(size_t);
  MPI_Count *mine = scratch_get(&r->state->scratch[SCRATCH_SIZES], room);
  if (mine == NULL) return MPI_ERR_NO_MEM;
  MPI_Count *theirs = mine + ranks, *sizes = theirs + ranks;
  for (uint32_t peer = 0; peer < ranks; peer++) mine[peer] = block_at(r->send, peer).bytes;
  side from = side_uniform(mine, sizeof(MPI_Count), MPI_PACKED), to = side_uniform(theirs, sizeof(MPI_Count), MPI_PACKED);
  from.size = from.extent = to.size = to.extent = 1;
  from.plain = to.plain = 1;
  run first = {.state = r->state, .p = r->p, .send = &from, .receive = &to, .tag = TAG_SIZES, .bytes = sizeof(MPI_Count)};
  int code = make_room(&first);
  if (code == MPI_SUCCESS) code = go_through(&first);
  if (code != MPI_SUCCESS) return code;
  memcpy(sizes, first.hold, slots * sizeof(MPI_Count));
  r->sizes = sizes;
  r->at = (size_t *)(sizes + slots);
  r->at[0] = 0;
  for (uint32_t slot = 0; slot < slots; slot++) r->at[slot + 1] = r->at[slot] + (size_t)sizes[slot];
  r->bytes = -1;
  return MPI_SUCCESS;
}

/* MPI_IN_PLACE: what is sent lies where it will be overwritten, so it is packed first. */
static int set_aside(run *r, side *aside) {
  uint32_t ranks = (uint32_t)r->state->ranks;
  size_t total = 0, tables = ranks * (sizeof(MPI_Count) + sizeof(MPI_Aint));
  for (uint32_t peer = 0; peer < ranks; peer++) total += (size_t)block_at(r->receive, peer).bytes;
  MPI_Count *counts = scratch_get(&r->state->scratch[SCRATCH_IN_PLACE], tables + total);
  if (counts == NULL) return MPI_ERR_NO_MEM;
  MPI_Aint *displacements = (MPI_Aint *)(counts + ranks);
  char *packed = (char *)(displacements + ranks);
  MPI_Aint at = 0;
  for (uint32_t peer = 0; peer < ranks; peer++) {
    block b = block_at(r->receive, peer);
    counts[peer] = b.bytes;
    displacements[peer] = at;
    int code = (int)peer == r->state->rank ? MPI_SUCCESS : block_pack(&b, packed + at, r->state->private, r->state->rank);
    if (code != MPI_SUCCESS) return code;
    at += (MPI_Aint)b.bytes;
  }
  *aside = side_v(packed, counts, displacements, MPI_PACKED, 1);
  aside->size = aside->extent = 1;
  aside->plain = 1;
  return MPI_SUCCESS;
}

int engine_run(comm_state *state, const plan *p, const side *send, const side *receive, int in_place) {
  run r = {.state = state, .p = p, .send = send, .receive = receive, .tag = TAG_BLOCKS};
  side aside;
  int code = MPI_SUCCESS;
  if (in_place) {
    code = set_aside(&r, &aside);
    r.send = &aside;
  }
  if (code != MPI_SUCCESS) return code;
  r.bytes = receive->form == UNIFORM ? (in_place ? receive->count * receive->size : send->count * send->size) : 0;
  if (receive->form != UNIFORM && p->forwards) code = learn_sizes(&r);
  if (code == MPI_SUCCESS) code = make_room(&r);
  if (code == MPI_SUCCESS) code = go_through(&r);
  if (code != MPI_SUCCESS || in_place) return code;
  block mine = block_at(send, (uint32_t)state->rank), there = block_at(receive, (uint32_t)state->rank);
  return block_copy(&mine, &there, state->private, state->rank);
}
