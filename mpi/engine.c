/* Carries out a plan with the user's buffers. */
#define _POSIX_C_SOURCE 200809L
#include "engine.h"
#include <stdlib.h>
#include <string.h>

/* Memory that is kept for the next call. A rank without memory cannot go on, and its peers would wait for it: the program ends. */
static void *memory(const run *r, int which, size_t size) {
  scratch *s = &r->scratch[which];
  if (size <= s->size && s->memory != NULL) return s->memory;
  free(s->memory);
  s->memory = malloc(size ? size : 1);
  s->size = size;
  if (s->memory != NULL) return s->memory;
  say_once("there is no memory for the blocks that an all-to-all forwards; the program stops.");
  PMPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

static self_channel channel_to_self(const run *r) {
  return (self_channel){.comm = r->state->private, .rank = r->state->rank, .tag = r->self_tag};
}

static size_t place_of(const run *r, uint32_t slot) {
  return r->bytes >= 0 ? (size_t)slot * (size_t)r->bytes : r->at[slot];
}

static MPI_Count size_of(const run *r, uint32_t slot) {
  return r->bytes >= 0 ? r->bytes : r->sizes[slot];
}

static block kept_block(const run *r, uint32_t first, uint32_t count) {
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
    note(r, block_unpack(&to, r->hold + place_of(r, it->slot), size_of(r, it->slot), channel_to_self(r)));
  }
}

/* Waits for everything of the steps before `end`. */
static void wait_until(run *r, uint32_t end) {
  uint32_t count = 2 * (end - r->open);
  MPI_Request *requests = r->requests + 2 * r->open;
#ifdef OPEN_MPI
  /* MPI_Waitall of Open MPI 4 does not return where a message that it waits for ends in an error. */
  for (uint32_t k = 0; k < count; k++) note(r, wait_for(&requests[k]));
#else
  for (uint32_t k = 0; k < count; k++) r->statuses[k].MPI_ERROR = MPI_SUCCESS; /* MPICH leaves those of null requests as they are */
  int code = PMPI_Waitall((int)count, requests, r->statuses);
  for (uint32_t k = 0; code != MPI_SUCCESS && k < count; k++) {
    int its = code == MPI_ERR_IN_STATUS ? r->statuses[k].MPI_ERROR : MPI_ERR_PENDING;
    note(r, requests[k] != MPI_REQUEST_NULL && its == MPI_ERR_PENDING ? wait_for(&requests[k]) : its);
  }
#endif
  for (; r->open < end; r->open++) unpack_step(r, r->open);
}

/* Whether a message is complete; waits for it where the caller may. */
static int is_over(run *r, MPI_Request *request) {
  int flag = r->blocks;
  if (*request == MPI_REQUEST_NULL) return 1;
  if (!flag && PMPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) flag = 1;
  if (!flag) return 0;
  int changed = r->lets_return ? errors_return() : 0;
  note(r, wait_for(request));
  errors_as_before(changed);
  return 1;
}

/* Whether everything of the steps before `end` is complete. */
static int are_complete(run *r, uint32_t end) {
  if (end <= r->open) return 1;
  if (r->blocks) wait_until(r, end);
  for (; r->open < end; r->open++) {
    if (!is_over(r, &r->requests[2 * r->open])) return 0;
    unpack_step(r, r->open);
    if (!is_over(r, &r->requests[2 * r->open + 1])) return 0;
  }
  r->gathered = 0;
  return 1;
}

/* Whether what a step forwards has arrived. */
static int has_needs(run *r, const plan_step *step) {
  for (uint32_t k = 0; k < step->needs_count; k++) {
    uint32_t by = r->p->needs[step->needs_first + k];
    if (by < r->open || r->arrived[by]) continue;
    if (!is_over(r, &r->requests[2 * by])) return 0;
    unpack_step(r, by);
  }
  return 1;
}

static void receive_step(run *r, const plan_step *step, MPI_Request *request) {
  const item *first = &r->p->receives[step->receive_first];
  block b;
  if (first->slot == FLITWORK_NOBODY) {
    b = block_at(r->receive, first->peer);
  } else {
    b = kept_block(r, first->slot, step->receive_count);
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
      block b = kept_block(r, it->slot, 1);
      if (b.bytes > 0) memcpy(to, b.at, (size_t)b.bytes);
      to += b.bytes;
      continue;
    }
    block b = block_at(r->send, it->peer);
    note(r, block_pack(&b, to, channel_to_self(r)));
    to += b.bytes;
  }
  r->gathered = (size_t)(to - r->gather);
  return (block){.at = start, .count = to - start, .bytes = to - start, .type = MPI_PACKED, .plain = 1};
}

/* Whether the pause between the starts of two messages is over. */
static int is_paced(run *r) {
  uint64_t pause = r->state->settings->pause_ns;
  struct timespec now;
  if (pause == 0) return 1;
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (r->last.tv_sec == 0 ||
        (uint64_t)(now.tv_sec - r->last.tv_sec) * 1000000000u + (uint64_t)now.tv_nsec - (uint64_t)r->last.tv_nsec >= pause) {
      r->last = now;
      return 1;
    }
  } while (r->blocks);
  return 0;
}

static int send_step(run *r, const plan_step *step, MPI_Request *request) {
  const item *first = &r->p->sends[step->send_first];
  block b;
  if (!has_needs(r, step) || !is_paced(r)) return 0;
  if (step->gathers) {
    b = gather_step(r, step);
  } else if (first->slot != FLITWORK_NOBODY) {
    b = kept_block(r, first->slot, step->send_count);
  } else {
    b = block_at(r->send, first->peer);
  }
  int code = block_isend(&b, (int)step->to, r->tag, r->state->private, request);
  if (code == MPI_SUCCESS) return 1;
  note(r, code);
  PMPI_Isend(r->hold, 0, MPI_PACKED, (int)step->to, r->tag, r->state->private, request);
  return 1;
}

static void make_requests(run *r) {
  size_t count = r->p->count;
  r->statuses = memory(r, SCRATCH_REQUESTS, count * (2 * sizeof(MPI_Request) + 2 * sizeof(MPI_Status) + 1));
  r->requests = (MPI_Request *)(r->statuses + 2 * count);
  r->arrived = (uint8_t *)(r->requests + 2 * count);
  memset(r->arrived, 0, count);
  for (size_t k = 0; k < 2 * count; k++) r->requests[k] = MPI_REQUEST_NULL;
}

/* Goes through the steps as far as it can; whether all are complete. */
static int goes_on(run *r) {
  for (; r->step < r->p->count; r->step++, r->received = r->sent = 0) {
    const plan_step *step = &r->p->steps[r->step];
    if (step->from != FLITWORK_NOBODY && !r->received) receive_step(r, step, &r->requests[2 * r->step]);
    r->received = 1;
    if (step->to != FLITWORK_NOBODY && !r->sent && !send_step(r, step, &r->requests[2 * r->step + 1])) return 0;
    r->sent = 1;
    if (step->waits && !are_complete(r, r->step + 1)) return 0;
  }
  return are_complete(r, r->p->count);
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

/* Sends the sizes of the blocks the way that the blocks will go: then every rank knows the sizes of what it forwards. What it needs lies in
 * one piece of memory: the sizes that are sent, those that arrive, those of what is held here, and where that will lie. */
static void learn_begin(exchange *x) {
  run *r = &x->second, *first = &x->first;
  uint32_t ranks = (uint32_t)r->state->ranks, slots = r->p->slots;
  size_t room = 2 * ranks * sizeof(MPI_Count) + slots * sizeof(MPI_Count) + ((size_t)slots + 1) * sizeof(size_t);
  MPI_Count *mine = memory(r, SCRATCH_SIZES, room);
  for (uint32_t peer = 0; peer < ranks; peer++) mine[peer] = block_at(r->send, peer).bytes;
  x->sizes_out = side_uniform(mine, sizeof(MPI_Count), MPI_PACKED);
  x->sizes_in = side_uniform(mine + ranks, sizeof(MPI_Count), MPI_PACKED);
  x->sizes_out.size = x->sizes_out.extent = x->sizes_in.size = x->sizes_in.extent = 1;
  x->sizes_out.plain = x->sizes_in.plain = 1;
  *first = *r;
  first->send = &x->sizes_out;
  first->receive = &x->sizes_in;
  first->tag = r->tag - TAG_BLOCKS + TAG_SIZES;
  first->bytes = sizeof(MPI_Count);
  make_room(first);
  memset(first->hold, 0, slots * sizeof(MPI_Count)); /* after an error a size may be missing */
  make_requests(first);
}

static void learn_end(exchange *x) {
  run *r = &x->second;
  uint32_t slots = r->p->slots;
  MPI_Count *sizes = (MPI_Count *)r->scratch[SCRATCH_SIZES].memory + 2 * (size_t)r->state->ranks;
  if (!x->knows) {
    note(r, x->first.error);
    memcpy(sizes, x->first.hold, slots * sizeof(MPI_Count));
  }
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
    if ((int)peer != r->state->rank) note(r, block_pack(&b, packed + at, channel_to_self(r)));
    at += (MPI_Aint)b.bytes;
  }
  side aside = side_v(packed, counts, displacements, MPI_PACKED, 1);
  aside.size = aside.extent = 1;
  aside.plain = 1;
  return aside;
}

/* The block from this rank to itself. */
int exchange_self_block(const task *t) {
  if (t->in_place) return MPI_SUCCESS;
  block mine = block_at(t->send, (uint32_t)t->state->rank), there = block_at(t->receive, (uint32_t)t->state->rank);
  return block_copy(&mine, &there, (self_channel){.comm = t->state->private, .rank = t->state->rank, .tag = t->tags + TAG_SELF});
}

static void blocks_begin(run *r) {
  make_room(r);
  make_requests(r);
}

void exchange_begin(exchange *x, const task *t) {
  run *r = &x->second;
  *r = (run){.state = t->state, .p = t->p, .send = t->send, .receive = t->receive, .scratch = t->scratch, .tag = t->tags + TAG_BLOCKS,
             .self_tag = t->tags + TAG_SELF, .blocks = t->blocks, .lets_return = t->lets_return};
  if (t->in_place) {
    x->aside = set_aside(r);
    r->send = &x->aside;
  }
  r->bytes = r->receive->form == UNIFORM ? block_at(r->send, 0).bytes : 0;
  x->learns = r->receive->form != UNIFORM && r->p->forwards;
  if (x->learns && x->knows) learn_end(x);
  if (x->learns && !x->knows) {
    learn_begin(x);
    return;
  }
  x->learns = 0;
  blocks_begin(r);
}

int exchange_goes_on(exchange *x) {
  if (x->learns) {
    if (!goes_on(&x->first)) return 0;
    learn_end(x);
    x->learns = 0;
    x->knows = x->first.error == MPI_SUCCESS;
    blocks_begin(&x->second);
  }
  return goes_on(&x->second);
}

int exchange_error(const exchange *x) {
  return x->second.error;
}
