/* Which algorithm carries out a call: the same on all ranks, always. */
#define _POSIX_C_SOURCE 200809L
#include "engine.h"
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static const char *const NAMES[KINDS][OPERATIONS] = {
    {"alltoall", "alltoallv", "alltoallw"},
    {"ialltoall", "ialltoallv", "ialltoallw"},
    {"alltoall_init", "alltoallv_init", "alltoallw_init"},
};

/* Why a call that is not waited for is left to the MPI library, and what may change that. */
#define NOT_PREPARED "its communicator is not prepared (it is of MPI_Comm_idup, or there are more than FLITWORK_MPI_PREPARE)"
#define NOT_DRIVEN "it needs MPI_THREAD_MULTIPLE here (FLITWORK_MPI_PROGRESS=thread asks for it)"
#define NOT_WANTED "FLITWORK_MPI_PROGRESS is none"
#define REFUSED "an argument is wrong"
#define NO_WORLD "there is no MPI_COMM_WORLD (sessions alone)"

static choice leave(choice c, int kind, int operation, const char *why) {
  c.p = NULL;
  report_count(report_row_of(NAMES[kind][operation], why, 0), 0);
  return c;
}

/* The end of a program that asked for an algorithm, and for no other one in its place: rank 0 of the communicator says why. */
static void stop(MPI_Comm comm, const char *algorithm, const char *why) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  if (rank == 0) {
    fprintf(stderr, "flitwork: %s is asked for and cannot be used: %s. The program stops; the MPI library's own algorithms are used instead with "
            "--allow-fallback (without FLITWORK_MPI_EXACT).\n", algorithm, why);
    fflush(stderr);
  }
  /* A launcher that is told to stop may drop what it has not passed on yet. */
  nanosleep(&(struct timespec){.tv_sec = rank != 0, .tv_nsec = 300000000}, NULL);
  PMPI_Abort(comm, 1);
  _exit(1);
}

/* The algorithm that a variable asks for, for all calls of an operation; NULL: none. Rules may have none for a call. */
static const char *requested_algorithm(const settings *s, int operation) {
  for (int i = 0; i < s->rule_count; i++) {
    const rule *r = &s->rules[i];
    if (r->operation == operation && r->line == 0) return strcmp(r->algorithm, "library") == 0 ? NULL : r->algorithm;
  }
  return NULL;
}

/* A call that is left to the MPI library though a variable asks for an algorithm. */
static choice leave_requested(choice c, int kind, int operation, MPI_Comm comm, const char *why) {
  const settings *s = c.state != NULL ? c.state->settings : settings_of_process();
  const char *algorithm = s->exact ? requested_algorithm(s, operation) : NULL;
  if (algorithm != NULL) stop(comm, algorithm, why);
  return leave(c, kind, operation, why);
}

/* One line of world rank 0 about an algorithm that is not defined here. */
static void say_why_not(const comm_state *state, const rule *r, const plan *p) {
  int world_rank = 1;
  if (state->rank != 0) return;
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  if (world_rank != 0) return;
  char text[700];
  snprintf(text, sizeof text, "%.300s on %d ranks: %s. The MPI library's own algorithm is used.", r->algorithm, state->ranks, p->why_not);
  say_once(text);
}

/* The plan of a rule here, where the MPI library is not asked to do it. */
static choice plan_of(choice c, int kind, int operation, const rule *r, int index, MPI_Comm comm) {
  comm_state *state = c.state;
  plan *p = &state->plans[index];
  if (!p->made && kind == NON_BLOCKING) return leave_requested(c, kind, operation, comm, NOT_PREPARED);
  if (!p->made) plan_make(state, r, p);
  if (p->why_not[0]) {
    char text[300];
    if (state->settings->exact) stop(comm, r->algorithm, p->why_not);
    say_why_not(state, r, p);
    snprintf(text, sizeof text, "%.60s is not defined for %d ranks here", r->algorithm, state->ranks);
    return leave(c, kind, operation, text);
  }
  if (kind != BLOCKING) {
    c.row = report_row_of(NAMES[kind][operation], r->algorithm, 1);
  } else if (state->taken[index] == NULL) {
    state->taken[index] = report_row_of(NAMES[kind][operation], r->algorithm, 1);
  }
  if (kind == BLOCKING) c.row = state->taken[index];
  c.p = p;
  return c;
}

/* The same before anything is known of the communicator: what is found out then takes all ranks, and this one may be alone. */
static int is_refused_on(MPI_Comm comm, side *send, side *receive, int in_place) {
  int inter = 1, ranks, rank;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) return 0;
  if (PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS) return 0;
  return is_refused(send, receive, in_place, ranks, rank);
}

/* Whether the calls of a communicator are any of ours: of several ranks that were started together. */
static int is_taken_over(MPI_Comm comm) {
  int inter = 1, ranks = 0;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || PMPI_Comm_size(comm, &ranks) != MPI_SUCCESS) return 0;
  return !inter && ranks > 1 && is_of_this_world(comm, ranks);
}

/* The plan of a call; the MPI library's own algorithm where there is none, on all ranks of the communicator alike. A non-blocking call
 * must not wait: there, what the ranks would have to agree on first is left to the MPI library. */
choice choose(int kind, int operation, side *send, side *receive, MPI_Comm comm) {
  const char *why = NOT_PREPARED;
  choice c = {.code = MPI_SUCCESS};
  if (comm == MPI_COMM_NULL) return c;
  if (!library_is_on()) return leave_requested(c, kind, operation, comm, NO_WORLD);
  c.in_place = send->base == (char *)(uintptr_t)MPI_IN_PLACE;
  comm_state *state = c.state = communicator_state_if_made(comm);
  if (state == NULL && kind != NON_BLOCKING) {
    if (is_refused_on(comm, send, receive, c.in_place)) return leave(c, kind, operation, REFUSED);
    state = c.state = communicator_state(comm, &why);
  }
  if (state == NULL) return is_taken_over(comm) ? leave_requested(c, kind, operation, comm, why) : leave(c, kind, operation, why);
  if (state->passes[operation]) {
    if (state->fails) return leave_requested(c, kind, operation, comm, report_text(state->why[operation]));
    if (kind != BLOCKING) return leave(c, kind, operation, report_text(state->why[operation]));
    report_count(state->why[operation], 0);
    return c;
  }
  if (kind != BLOCKING && !state->driven) {
    if (state->settings->progress == PROGRESS_NONE) return leave(c, kind, operation, NOT_WANTED);
    return leave_requested(c, kind, operation, comm, NOT_DRIVEN);
  }
  if (is_refused(send, receive, c.in_place, state->ranks, state->rank)) return leave(c, kind, operation, REFUSED);
  const side *sizes = c.in_place ? receive : send;
  uint64_t bytes = 0;
  int index = 0;
  if (kind == NON_BLOCKING && state->by_size[operation] && sizes->form != UNIFORM)
    return leave(c, kind, operation, "the rules go by size");
  if (state->by_size[operation] || sizes->form == UNIFORM) c.code = agree_on_bytes(state, sizes, &bytes);
  if (c.code != MPI_SUCCESS) return c;
  const rule *r = rule_for(state, operation, bytes, &index);
  if (r == NULL) return leave(c, kind, operation, "no rule applies");
  if (strcmp(r->algorithm, "library") == 0) return leave(c, kind, operation, "left to the library");
  c.nothing = sizes->form == UNIFORM && bytes == 0;
  c.bytes = bytes_sent(state, sizes);
  return plan_of(c, kind, operation, r, index, comm);
}

/* The plans of all rules that can apply on a communicator; collective. */
void prepare_plans(comm_state *state) {
  for (int i = 0; i < state->settings->rule_count; i++) {
    const rule *r = &state->settings->rules[i];
    if (state->passes[r->operation] || state->plans[i].made || strcmp(r->algorithm, "library") == 0) continue;
    if (r->ranks.low > (uint64_t)state->ranks || r->ranks.high < (uint64_t)state->ranks) continue;
    if (r->per_server.low > state->per_server || r->per_server.high < state->per_server) continue;
    plan_make(state, r, &state->plans[i]);
  }
}

/* Carries out a call if it can; 0 leaves it to the MPI library, on all ranks of the communicator alike. */
int take(int operation, side *send, side *receive, MPI_Comm comm, int *result) {
  choice c = choose(BLOCKING, operation, send, receive, comm);
  if (c.p == NULL && c.code == MPI_SUCCESS) return 0;
  if (c.p != NULL) {
    report_count(c.row, c.bytes);
    if (!c.nothing) {
      exchange x;
      task t = {.state = c.state, .p = c.p, .send = send, .receive = receive, .in_place = c.in_place, .blocks = 1,
                .scratch = c.state->scratch};
      int changed = errors_return_for(comm);
      x.knows = 0;
      int copied = exchange_self_block(&t);
      exchange_begin(&x, &t);
      exchange_goes_on(&x);
      c.code = exchange_error(&x) != MPI_SUCCESS ? exchange_error(&x) : copied;
      errors_as_before(changed);
    }
  }
  if (c.code != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, c.code);
  *result = c.code;
  return 1;
}
