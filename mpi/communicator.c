/* What is kept for a communicator, as an attribute of it. */
#include "interpose.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;
static atomic_int has_keyval;
static atomic_int on; /* between MPI_Init and MPI_Finalize */

/* Calls before MPI_Init and after MPI_Finalize go to the MPI library, which knows what is wrong with them. */
int library_is_on(void) {
  if (atomic_load_explicit(&on, memory_order_relaxed) == 1) return 1;
  if (atomic_load(&on) == 2) return 0;
  int begun = 0, ended = 0;
  PMPI_Initialized(&begun);
  PMPI_Finalized(&ended);
  if (begun && !ended) atomic_store(&on, 1);
  return begun && !ended;
}

void library_ends(void) {
  progress_ends();
  refused_ends();
  atomic_store(&on, 2);
}

static void state_free(comm_state *state) {
  for (int i = 0; state->plans != NULL && i < state->settings->rule_count; i++) plan_clear(&state->plans[i]);
  for (int i = 0; i < SCRATCHES; i++) free(state->scratch[i].memory);
  free(state->plans);
  free(state->taken);
  free(state->server_of);
  free(state->place);
  free(state);
}

/* Private communicators whose last operation ended after the program had freed its own. An operation can end within the MPI library,
 * where no communicator can be freed. */
typedef struct late { MPI_Comm private; struct late *next; } late;
static late *lates;

static void free_lates(void) {
  pthread_mutex_lock(&lock);
  late *first = lates;
  lates = NULL;
  pthread_mutex_unlock(&lock);
  for (late *next; first != NULL; first = next) {
    next = first->next;
    PMPI_Comm_free(&first->private);
    free(first);
  }
}

/* One user less; what the last one leaves is freed. */
void communicator_leave(comm_state *state) {
  if (atomic_fetch_sub(&state->users, 1) != 1) return;
  late *one = state->private != MPI_COMM_NULL ? malloc(sizeof *one) : NULL;
  if (one != NULL) {
    one->private = state->private;
    pthread_mutex_lock(&lock);
    one->next = lates;
    lates = one;
    pthread_mutex_unlock(&lock);
  }
  state_free(state);
}

static int on_delete(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)extra;
  comm_state *state = value;
  int ended = 0;
  PMPI_Finalized(&ended);
  state->user = MPI_COMM_NULL;
  if (ended || atomic_load(&on) != 1) return MPI_SUCCESS;
  communicator_leave(state);
  free_lates();
  return MPI_SUCCESS;
}

static int key_of_library(void) {
  if (atomic_load_explicit(&has_keyval, memory_order_acquire)) return keyval;
  pthread_mutex_lock(&lock);
  if (keyval == MPI_KEYVAL_INVALID) PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL);
  atomic_store_explicit(&has_keyval, keyval != MPI_KEYVAL_INVALID, memory_order_release);
  pthread_mutex_unlock(&lock);
  return keyval;
}

/* Whether all ranks were started with this one. Others, of MPI_Comm_spawn or MPI_Comm_connect, may not have our library. Where two worlds
 * meet, every rank finds some of another, so all find the same. */
int is_of_this_world(MPI_Comm comm, int ranks) {
  MPI_Group all, group;
  int outside = 0;
  if (PMPI_Comm_group(MPI_COMM_WORLD, &all) != MPI_SUCCESS) return 0;
  if (PMPI_Comm_group(comm, &group) == MPI_SUCCESS) {
    for (int rank = 0; rank < ranks && !outside; rank++) {
      int there = MPI_UNDEFINED;
      PMPI_Group_translate_ranks(group, 1, &rank, all, &there);
      outside = there == MPI_UNDEFINED;
    }
    PMPI_Group_free(&group);
  }
  PMPI_Group_free(&all);
  return !outside;
}

/* The settings of the communicator's rank 0, on all its ranks: they differ where MPI was not started by functions of ours. The calls are
 * made on the user's communicator, where they stand in the order of its collective calls. */
static const settings *agree_on_settings(MPI_Comm user, int rank) {
  settings *mine = settings_of_process();
  uint64_t header[2] = {mine->hash, mine->length};
  if (PMPI_Bcast(header, sizeof header, MPI_BYTE, 0, user) != MPI_SUCCESS) return NULL;
  int differs = header[0] != mine->hash || header[1] != mine->length, any = 1;
  if (PMPI_Allreduce(&differs, &any, 1, MPI_INT, MPI_MAX, user) != MPI_SUCCESS) return NULL;
  if (!any) return mine;
  char *text = malloc((size_t)header[1] + 1);
  if (text == NULL) return NULL;
  if (rank == 0) memcpy(text, mine->text, mine->length);
  int code = PMPI_Bcast(text, (int)header[1], MPI_BYTE, 0, user);
  const settings *theirs = code == MPI_SUCCESS ? settings_of_text(text, (size_t)header[1]) : NULL;
  free(text);
  return theirs;
}

/* A communicator of the same ranks without the attributes of the user's, whose copy callbacks are not ours to call. */
static int make_private(MPI_Comm user, MPI_Comm *out) {
  MPI_Group group;
  int code = PMPI_Comm_group(user, &group);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Comm_create(user, group, out);
  PMPI_Group_free(&group);
  if (code == MPI_SUCCESS) code = PMPI_Comm_set_errhandler(*out, MPI_ERRORS_RETURN);
  return code;
}

static int fits(const range *r, uint64_t value) {
  return r->low <= value && value <= r->high;
}

/* Leaves out the rules that cannot apply here, and sees whether the rest depends on sizes. */
static void look_at_rules(comm_state *state, const char *fault) {
  const char *none = fault[0] ? fault : "no rule applies";
  for (int operation = 0; operation < OPERATIONS; operation++) {
    int found = 0;
    for (int i = 0; !fault[0] && i < state->settings->rule_count && found < 2; i++) {
      const rule *r = &state->settings->rules[i];
      if (r->operation != operation || !fits(&r->ranks, (uint64_t)state->ranks) || !fits(&r->per_server, state->per_server)) continue;
      int any_size = r->bytes.low == 0 && r->bytes.high == ANY;
      if (!any_size) state->by_size[operation] = 1;
      if (any_size && !state->by_size[operation] && strcmp(r->algorithm, "library") == 0) {
        none = "left to the library";
        break;
      }
      found = any_size ? 2 : 1;
    }
    state->passes[operation] = found == 0;
    if (found == 0) state->why[operation] = report_row_of(operation_names[operation], none, 0);
    none = fault[0] ? fault : "no rule applies";
  }
}

static comm_state *make_state(MPI_Comm user) {
  comm_state *state = calloc(1, sizeof *state);
  char fault[400] = "";
  int inter = 0;
  if (state == NULL) return NULL;
  state->private = MPI_COMM_NULL;
  state->user = user;
  atomic_init(&state->users, 1);
  PMPI_Comm_test_inter(user, &inter);
  PMPI_Comm_size(user, &state->ranks);
  PMPI_Comm_rank(user, &state->rank);
  state->settings = settings_of_process();
  if (inter || state->ranks < 2) {
    snprintf(fault, sizeof fault, "%s", inter ? "an intercommunicator" : "a single rank");
  } else if (!is_of_this_world(user, state->ranks)) {
    snprintf(fault, sizeof fault, "ranks that were not started together");
  } else {
    /* Where nothing can be taken over, and all know that, nobody is asked. */
    const settings *s = state->settings;
    int nothing = settings_are_of_world() && (s->fault[0] || s->rule_count == 0);
    if (!nothing) state->settings = agree_on_settings(user, state->rank);
    if (state->settings == NULL) {
      state->settings = settings_of_process();
      snprintf(fault, sizeof fault, "the settings cannot be agreed on");
    } else if (state->settings->fault[0]) {
      snprintf(fault, sizeof fault, "the settings have a mistake");
    } else if (state->settings->rule_count > 0) {
      if (make_private(user, &state->private) != MPI_SUCCESS) {
        snprintf(fault, sizeof fault, "there is no private communicator");
      } else {
        servers_find(state, user, fault, sizeof fault);
      }
    }
  }
  size_t rules = (size_t)state->settings->rule_count + 1;
  state->plans = calloc(rules, sizeof *state->plans);
  state->taken = calloc(rules, sizeof *state->taken);
  int lacks[2] = {state->plans == NULL || state->taken == NULL, !progress_can_be_had()}, any[2] = {lacks[0], 1};
  if (state->private != MPI_COMM_NULL) PMPI_Allreduce(lacks, any, 2, MPI_INT, MPI_MAX, state->private);
  if (any[0] && !fault[0]) snprintf(fault, sizeof fault, "there is no memory");
  state->driven = !any[1];
  state->fails = fault[0] && state->private != MPI_COMM_NULL;
  look_at_rules(state, fault);
  return state;
}

comm_state *communicator_state(MPI_Comm comm, const char **why) {
  comm_state *state = NULL;
  int found = 0;
  int key = key_of_library();
  if (PMPI_Comm_get_attr(comm, key, &state, &found) != MPI_SUCCESS) return *why = "the communicator is not valid", NULL;
  if (found) return state;
  state = make_state(comm);
  if (state == NULL) return *why = "there is no memory", NULL;
  PMPI_Comm_set_attr(comm, key, state);
  return state;
}

comm_state *communicator_state_if_made(MPI_Comm comm) {
  comm_state *state = NULL;
  int found = 0;
  return PMPI_Comm_get_attr(comm, key_of_library(), &state, &found) == MPI_SUCCESS && found ? state : NULL;
}
