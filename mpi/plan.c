/* What one rank does for one algorithm: the steps of the step functions, with the place of every forwarded block. */
#include "interpose.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where steps come from: the step functions or a table, with the numbers of ranks that they use. */
typedef struct {
  flitwork_steps *steps;
  table *table;
  const uint32_t *place;  /* of each rank its number there; NULL: the same */
  uint32_t *rank_at;      /* the other way round; NULL: the same */
  uint32_t ranks, rank;
} source;

typedef struct {
  plan *p;
  uint32_t send_room, receive_room, need_room;
  uint32_t *slot_of;   /* of each block that is held here, by hash; see find_slot */
  uint64_t *key_of;
  uint32_t *step_of;   /* of each slot the step that received it */
  uint32_t table_size, slot_room;
  uint8_t *arrived;    /* of each source whether its block has a step */
  uint8_t *sent;       /* of each destination the same */
} builder;

static uint32_t rank_there(const source *s, uint64_t number) {
  return s->rank_at ? s->rank_at[number] : (uint32_t)number;
}

static int grow(void **memory, uint32_t *room, uint64_t needed, size_t size) {
  if (needed <= *room) return 1;
  uint64_t wanted = needed * 2 + 16;
  if (wanted > UINT32_MAX) return 0;
  void *larger = realloc(*memory, (size_t)wanted * size);
  if (larger == NULL) return 0;
  *memory = larger;
  *room = (uint32_t)wanted;
  return 1;
}

/* The entry of a block in the hash table: its own, or a free one. */
static uint32_t entry_of(const builder *b, uint64_t key) {
  uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (b->table_size - 1);
  while (b->slot_of[at] != FLITWORK_NOBODY && b->key_of[at] != key) at = (at + 1) & (b->table_size - 1);
  return at;
}

static int table_grow(builder *b) {
  uint32_t old_size = b->table_size, *old_slots = b->slot_of;
  uint64_t *old_keys = b->key_of;
  b->table_size = old_size ? old_size * 2 : 64;
  b->slot_of = malloc(b->table_size * sizeof *b->slot_of);
  b->key_of = malloc(b->table_size * sizeof *b->key_of);
  if (b->slot_of == NULL || b->key_of == NULL) {
    free(old_slots);
    free(old_keys);
    return 0;
  }
  memset(b->slot_of, 0xff, b->table_size * sizeof *b->slot_of);
  for (uint32_t i = 0; i < old_size; i++) {
    if (old_slots[i] == FLITWORK_NOBODY) continue;
    uint32_t at = entry_of(b, old_keys[i]);
    b->slot_of[at] = old_slots[i];
    b->key_of[at] = old_keys[i];
  }
  free(old_slots);
  free(old_keys);
  return 1;
}

static const char *add_receives(builder *b, const source *s, const flitwork_step *step, uint32_t number) {
  plan *p = b->p;
  plan_step *mine = &p->steps[number];
  mine->receive_count = (uint32_t)step->receive_count;
  if (!grow((void **)&p->receives, &b->receive_room, (uint64_t)mine->receive_first + step->receive_count, sizeof(item)))
    return "there is no memory for its steps";
  for (uint64_t i = 0; i < step->receive_count; i++) {
    uint64_t from = step->receive[i] / s->ranks, to = step->receive[i] % s->ranks;
    item *it = &p->receives[mine->receive_first + i];
    int stays = to == s->rank;
    *it = (item){.peer = stays ? rank_there(s, from) : FLITWORK_NOBODY, .slot = FLITWORK_NOBODY};
    if (from >= s->ranks || from == s->rank) return "a rank receives a block that it cannot receive";
    if (stays && b->arrived[it->peer]++) return "a block arrives twice";
    if (stays && step->receive_count == 1) continue; /* straight into the user's buffer */
    if (!grow((void **)&b->step_of, &b->slot_room, (uint64_t)p->slots + 1, sizeof(uint32_t)))
      return "there is no memory for its steps";
    b->step_of[p->slots] = number;
    it->slot = p->slots++;
    if (stays) continue;
    if (p->slots * 2 > b->table_size && !table_grow(b)) return "there is no memory for its steps";
    uint32_t at = entry_of(b, step->receive[i]);
    b->key_of[at] = step->receive[i];
    b->slot_of[at] = it->slot;
  }
  return NULL;
}

static int needs_already(const plan *p, const plan_step *step, uint32_t other) {
  for (uint32_t i = 0; i < step->needs_count; i++)
    if (p->needs[step->needs_first + i] == other) return 1;
  return 0;
}

static const char *add_sends(builder *b, const source *s, const flitwork_step *step, uint32_t number) {
  plan *p = b->p;
  plan_step *mine = &p->steps[number];
  mine->send_count = (uint32_t)step->send_count;
  if (!grow((void **)&p->sends, &b->send_room, (uint64_t)mine->send_first + step->send_count, sizeof(item)))
    return "there is no memory for its steps";
  mine->gathers = step->send_count > 1;
  int in_order = 1;
  for (uint64_t i = 0; i < step->send_count; i++) {
    uint64_t from = step->send[i] / s->ranks, to = step->send[i] % s->ranks;
    item *it = &p->sends[mine->send_first + i];
    *it = (item){.peer = rank_there(s, to), .slot = FLITWORK_NOBODY};
    if (from >= s->ranks || to == from) return "a rank sends a block that there is not";
    if (from == s->rank) {
      if (b->sent[it->peer]++) return "a block is sent twice by its source";
      in_order = 0;
      continue;
    }
    uint32_t at = b->table_size ? entry_of(b, step->send[i]) : 0;
    if (b->table_size == 0 || b->slot_of[at] == FLITWORK_NOBODY) return "a rank sends a block that it does not hold";
    *it = (item){.peer = FLITWORK_NOBODY, .slot = b->slot_of[at]};
    if (i > 0 && it->slot != it[-1].slot + 1) in_order = 0;
    uint32_t by = b->step_of[it->slot];
    if (by == number) return "a rank forwards a block in the step in which it receives it";
    if (needs_already(p, mine, by)) continue;
    if (!grow((void **)&p->needs, &b->need_room, (uint64_t)mine->needs_first + mine->needs_count + 1, sizeof(uint32_t)))
      return "there is no memory for its steps";
    p->needs[mine->needs_first + mine->needs_count++] = by;
  }
  if (in_order) mine->gathers = 0; /* they lie side by side where they landed */
  return NULL;
}

/* All steps of this rank; the reason if that fails. */
static const char *add_steps(builder *b, const source *s, int sync) {
  plan *p = b->p;
  uint64_t gathered = 0, most = 0;
  uint32_t sends = 0, receives = 0, needs = 0;
  for (uint32_t i = 0; i < p->count; i++) {
    flitwork_step step = {0};
    if (s->table != NULL) {
      table_step(s->table, s->rank, i, &step);
    } else if (flitwork_steps_at(s->steps, s->rank, i, &step) != 0) {
      return "a step is missing";
    }
    plan_step *mine = &p->steps[i];
    *mine = (plan_step){.to = FLITWORK_NOBODY, .from = FLITWORK_NOBODY, .send_first = sends, .receive_first = receives, .needs_first = needs};
    if (step.to != FLITWORK_NOBODY && step.send_count > 0) mine->to = rank_there(s, step.to);
    if (step.from != FLITWORK_NOBODY && step.receive_count > 0) mine->from = rank_there(s, step.from);
    mine->waits = sync == SYNC_LOCAL || (sync == SYNC_STEPS && step.waits);
    const char *why = mine->to != FLITWORK_NOBODY ? add_sends(b, s, &step, i) : NULL;
    if (why == NULL && mine->from != FLITWORK_NOBODY) why = add_receives(b, s, &step, i);
    if (why != NULL) return why;
    sends += mine->send_count;
    receives += mine->receive_count;
    needs += mine->needs_count;
    gathered += mine->gathers ? mine->send_count : 0;
    if (gathered > most) most = gathered;
    if (mine->waits) gathered = 0;
  }
  p->most_gathered = (uint32_t)most;
  for (uint32_t other = 0; other < s->ranks; other++)
    if (rank_there(s, s->rank) != other && (!b->arrived[other] || !b->sent[other])) return "a block does not arrive";
  return most > UINT32_MAX ? "its messages are too large" : NULL;
}

static const char *make_source(const comm_state *state, const rule *r, source *s, char *fault, size_t size) {
  uint32_t ranks = (uint32_t)state->ranks;
  *s = (source){.ranks = ranks, .rank = (uint32_t)state->rank};
  if (strncmp(r->algorithm, "table:", 6) == 0) {
    const char *text = settings_value(state->settings, r->algorithm);
    s->table = text ? table_read(text, fault, size) : NULL;
    if (s->table == NULL) return fault;
    if (table_ranks(s->table) == ranks) return NULL;
    snprintf(fault, size, "%.200s is a table of %u ranks", r->algorithm, table_ranks(s->table));
    return fault;
  }
  flitwork_world world = {.ranks = ranks, .server_of = state->server_of, .radix = r->radix, .leaders = r->leaders};
  s->steps = flitwork_steps_new(r->algorithm, &world, fault, size);
  if (s->steps != NULL) return NULL;
  if (state->dims == 0) return fault;
  /* It goes by coordinates: the ranks get the numbers of their places in the grid. */
  uint32_t *servers = malloc(ranks * sizeof *servers);
  s->rank_at = malloc(ranks * sizeof *s->rank_at);
  if (servers == NULL || s->rank_at == NULL) {
    free(servers);
    return "there is no memory for its steps";
  }
  for (uint32_t rank = 0; rank < ranks; rank++) {
    s->rank_at[state->place[rank]] = rank;
    servers[state->place[rank]] = state->server_of ? state->server_of[rank] : rank;
  }
  s->rank = state->place[state->rank];
  world.server_of = state->server_of ? servers : NULL;
  world.dims = state->dims;
  world.sizes = state->sizes;
  world.wraps = state->wraps;
  s->steps = flitwork_steps_new(r->algorithm, &world, fault, size);
  free(servers);
  return s->steps ? NULL : fault;
}

static const char *fill(plan *p, const source *s, int sync) {
  builder b = {.p = p};
  p->count = s->table ? table_steps(s->table, s->rank) : flitwork_steps_count(s->steps);
  p->steps = calloc((size_t)p->count + 1, sizeof *p->steps);
  b.arrived = calloc(s->ranks, 1);
  b.sent = calloc(s->ranks, 1);
  const char *why = p->steps && b.arrived && b.sent ? add_steps(&b, s, sync) : "there is no memory for its steps";
  free(b.arrived);
  free(b.sent);
  free(b.slot_of);
  free(b.key_of);
  free(b.step_of);
  return why;
}

/* Collective: either all ranks have a plan, or none. */
void plan_make(comm_state *state, const rule *r, plan *p) {
  char fault[400] = "";
  source s;
  const char *why = make_source(state, r, &s, fault, sizeof fault);
  if (why == NULL) why = fill(p, &s, state->settings->sync);
  flitwork_steps_free(s.steps);
  table_free(s.table);
  free(s.rank_at);
  int mine[2] = {why != NULL, p->slots > 0}, all[2] = {1, 0};
  int code = PMPI_Allreduce(mine, all, 2, MPI_INT, MPI_MAX, state->private);
  p->forwards = all[1];
  if (code != MPI_SUCCESS || all[0]) snprintf(p->why_not, sizeof p->why_not, "%s", why ? why : "another rank has no steps");
  p->made = 1;
}

void plan_clear(plan *p) {
  free(p->steps);
  free(p->sends);
  free(p->receives);
  free(p->needs);
}
