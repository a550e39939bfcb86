/* Which algorithm carries out a call: the same on all ranks, always. */
#include "interpose.h"
#include <stdio.h>
#include <string.h>

static const rule *rule_for(const comm_state *state, int operation, uint64_t bytes, int *index) {
  for (int i = 0; i < state->settings->rule_count; i++) {
    const rule *r = &state->settings->rules[i];
    if (r->operation != operation || r->ranks.low > (uint64_t)state->ranks || r->ranks.high < (uint64_t)state->ranks) continue;
    if (r->per_server.low > state->per_server || r->per_server.high < state->per_server) continue;
    if (r->bytes.low > bytes || r->bytes.high < bytes) continue;
    *index = i;
    return r;
  }
  return NULL;
}

/* Bytes of the largest block on any rank where the blocks differ; MPI makes those of MPI_Alltoall equal. */
static int agree_on_bytes(comm_state *state, const side *s, uint64_t *bytes) {
  if (s->form == UNIFORM) {
    *bytes = (uint64_t)(s->count * s->size);
    return MPI_SUCCESS;
  }
  uint64_t mine = 0;
  for (int peer = 0; peer < state->ranks; peer++) {
    uint64_t now = (uint64_t)block_at(s, (uint32_t)peer).bytes;
    if (now > mine) mine = now;
  }
  return PMPI_Allreduce(&mine, bytes, 1, MPI_UINT64_T, MPI_MAX, state->private);
}

static MPI_Count bytes_sent(const comm_state *state, const side *s) {
  MPI_Count bytes = 0;
  if (s->form == UNIFORM) return s->count * s->size * state->ranks;
  if (s->form == BY_DISPLACEMENT) {
    for (int peer = 0; peer < state->ranks; peer++) bytes += count_at(s, (uint32_t)peer);
    return bytes * s->size;
  }
  for (int peer = 0; peer < state->ranks; peer++) bytes += block_at(s, (uint32_t)peer).bytes;
  return bytes;
}

void hand_over(const char *operation, const char *why) {
  report_count(report_row_of(operation, why, 0), 0);
}

static int not_taken(int operation, const char *why) {
  hand_over(operation_names[operation], why);
  return 0;
}

/* The plan of a rule here; NULL with the reason said where there is none. */
static const plan *plan_of(comm_state *state, int operation, const rule *r, int index) {
  plan *p = &state->plans[index];
  if (!p->made) {
    plan_make(state, r, p);
    int world_rank = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    if (p->why_not[0] && state->rank == 0 && world_rank == 0) {
      char text[700];
      snprintf(text, sizeof text, "%s on %d ranks: %s. The MPI library's own algorithm is used.", r->algorithm, state->ranks, p->why_not);
      say_once(text);
    }
  }
  if (p->why_not[0]) {
    char text[300];
    snprintf(text, sizeof text, "%.60s is not defined for %d ranks here", r->algorithm, state->ranks);
    not_taken(operation, text);
    return NULL;
  }
  if (state->taken[index] == NULL) state->taken[index] = report_row_of(operation_names[operation], r->algorithm, 1);
  return p;
}

/* Carries out a call if it can; 0 leaves it to the MPI library, on all ranks of the communicator alike. */
int take(int operation, side *send, side *receive, MPI_Comm comm, int *result) {
  const char *why = NULL;
  if (!library_is_on() || comm == MPI_COMM_NULL) return 0;
  comm_state *state = communicator_state(comm, &why);
  if (state == NULL) return not_taken(operation, why);
  if (state->passes[operation]) {
    report_count(state->why[operation], 0);
    return 0;
  }
  int in_place = send->base == (char *)(uintptr_t)MPI_IN_PLACE;
  if (receive->base == (char *)(uintptr_t)MPI_IN_PLACE || side_is_faulty(receive, state->ranks) ||
      (!in_place && side_is_faulty(send, state->ranks)))
    return not_taken(operation, "an argument is wrong");
  int code = side_measure(receive);
  if (code == MPI_SUCCESS && !in_place) code = side_measure(send);
  if (code != MPI_SUCCESS) return not_taken(operation, "an argument is wrong");
  const side *sizes = in_place ? receive : send;
  uint64_t bytes = 0;
  int index = 0;
  if (state->by_size[operation] || sizes->form == UNIFORM) code = agree_on_bytes(state, sizes, &bytes);
  if (code == MPI_SUCCESS) {
    const rule *r = rule_for(state, operation, bytes, &index);
    if (r == NULL) return not_taken(operation, "no rule applies");
    if (strcmp(r->algorithm, "library") == 0) return not_taken(operation, "left to the library");
    const plan *p = plan_of(state, operation, r, index);
    if (p == NULL) return 0;
    report_count(state->taken[index], bytes_sent(state, sizes));
    if (sizes->form != UNIFORM || bytes > 0) {
      int changed = errors_return(comm);
      code = engine_run(state, p, send, receive, in_place);
      errors_as_before(changed);
    }
  }
  if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, code);
  *result = code;
  return 1;
}
