/* Which ranks share a server, and where ranks are on a grid: found, or told by the user. */
#define _POSIX_C_SOURCE 200809L
#include "interpose.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIMS = 8 };

/* What the map file says: of each world rank its router, numbered with the first dimension fastest. */
typedef struct {
  uint32_t dims, sizes[MOST_DIMS];
  uint8_t wraps[MOST_DIMS];
  uint32_t *router_of, count, room;
} world_map;

static int read_number(const char **at, uint32_t *out) {
  char *end;
  errno = 0;
  if (**at < '0' || **at > '9') return 0;
  unsigned long number = strtoul(*at, &end, 10);
  if (errno != 0 || number > INT32_MAX) return 0;
  *out = (uint32_t)number;
  *at = end;
  return 1;
}

static const char *skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\t' || *at == '\r') at++;
  return at;
}

/* `4,4,2`: ranks on each server in turn; `by_rank:0,0,1,1`: the server of each world rank. */
static int read_servers(const char *text, uint32_t ranks, uint32_t *server_of, char *fault, size_t size) {
  int by_rank = strncmp(text, "by_rank:", 8) == 0;
  const char *at = by_rank ? text + 8 : text;
  uint64_t listed = 0;
  for (uint32_t server = 0;; server++, at++) {
    uint32_t number;
    if (!read_number(&at, &number) || (*at != 0 && *at != ',') || (!by_rank && number == 0)) {
      snprintf(fault, size, "FLITWORK_MPI_SERVERS=%.100s: expected ranks on each server as 4,4,2, or by_rank: and a server for each rank", text);
      return 0;
    }
    for (uint64_t k = 0; k < (by_rank ? 1 : number); k++, listed++)
      if (listed < ranks) server_of[listed] = by_rank ? number : server;
    if (*at == 0) break;
  }
  if (listed == ranks) return 1;
  snprintf(fault, size, "FLITWORK_MPI_SERVERS=%.100s: that is %llu ranks, and the program has %u; give as many", text,
           (unsigned long long)listed, ranks);
  return 0;
}

/* `grid 4x4 torus` or `grid 4x4 mesh`. */
static int read_grid(const char *at, world_map *map) {
  if (strncmp(at, "grid", 4) != 0) return 0;
  at = skip_blanks(at + 4);
  for (map->dims = 0; map->dims < MOST_DIMS;) {
    if (!read_number(&at, &map->sizes[map->dims]) || map->sizes[map->dims] == 0) return 0;
    map->dims++;
    if (*at != 'x') break;
    at++;
  }
  at = skip_blanks(at);
  int torus = strncmp(at, "torus", 5) == 0, mesh = strncmp(at, "mesh", 4) == 0;
  memset(map->wraps, torus, sizeof map->wraps);
  at = skip_blanks(at + (torus ? 5 : 4));
  return (torus || mesh) && (*at == 0 || *at == '\n' || *at == '#');
}

static int read_place(const char *at, world_map *map) {
  uint64_t router = 0, stride = 1;
  for (uint32_t d = 0; d < map->dims; d++) {
    uint32_t coordinate;
    at = skip_blanks(at);
    if (!read_number(&at, &coordinate) || coordinate >= map->sizes[d]) return 0;
    router += coordinate * stride;
    stride *= map->sizes[d];
  }
  at = skip_blanks(at);
  if ((*at != 0 && *at != '\n' && *at != '#') || stride > UINT32_MAX) return 0;
  if (map->count == map->room) {
    map->room = 2 * map->room + 64;
    uint32_t *larger = realloc(map->router_of, map->room * sizeof *larger);
    if (larger == NULL) return 0;
    map->router_of = larger;
  }
  map->router_of[map->count++] = (uint32_t)router;
  return 1;
}

static int read_map(const char *text, uint32_t ranks, world_map *map, char *fault, size_t size) {
  *map = (world_map){0};
  for (int line = 1; *text != 0; line++) {
    const char *at = skip_blanks(text);
    size_t length = strcspn(text, "\n");
    if (*at != 0 && *at != '\n' && *at != '#') {
      int read = map->dims == 0 ? read_grid(at, map) : read_place(at, map);
      if (!read) {
        snprintf(fault, size, "FLITWORK_MPI_MAP, line %d: %.*s: expected %s", line, (int)(length > 60 ? 60 : length), text,
                 map->router_of == NULL && map->count == 0 && strncmp(at, "grid", 4) == 0 ? "`grid 4x4 torus` or `grid 4x4 mesh`"
                 : map->dims == 0 ? "`grid 4x4 torus` or `grid 4x4 mesh` first"
                                  : "the coordinates of a rank on this grid, with blanks between them");
        return 0;
      }
    }
    text += length + (text[length] == '\n');
  }
  if (map->count == ranks) return 1;
  snprintf(fault, size, "FLITWORK_MPI_MAP has coordinates of %u ranks, and the program has %u; give a line for each", map->count, ranks);
  return 0;
}

/* Both told: ranks are on one server exactly where they are at one router. */
static int servers_fit_map(const uint32_t *server_of, const world_map *map, char *fault, size_t size) {
  for (uint32_t a = 0; a < map->count; a++) {
    for (uint32_t b = a + 1; b < map->count; b++) {
      int together = server_of[a] == server_of[b], at_one = map->router_of[a] == map->router_of[b];
      if (together == at_one) continue;
      snprintf(fault, size, "FLITWORK_MPI_SERVERS contradicts FLITWORK_MPI_MAP: ranks %u and %u are on %s and have %s coordinates", a, b,
               together ? "one server" : "two servers", at_one ? "the same" : "different");
      return 0;
    }
  }
  return 1;
}

/* Whether what the user says of servers and places holds for this many ranks. */
int servers_check(const settings *s, int world_ranks, char *fault, size_t size) {
  uint32_t ranks = (uint32_t)world_ranks;
  uint32_t *server_of = calloc(ranks, sizeof *server_of);
  world_map map = {0};
  int good = server_of != NULL;
  if (good && s->servers != NULL) good = read_servers(s->servers, ranks, server_of, fault, size);
  if (good && s->map != NULL) good = read_map(s->map, ranks, &map, fault, size);
  if (good && s->map != NULL && s->servers != NULL) good = servers_fit_map(server_of, &map, fault, size);
  free(server_of);
  free(map.router_of);
  return good;
}

/* What rank 0 of a communicator tells the others. */
typedef struct {
  uint32_t has_servers, dims, sizes[MOST_DIMS];
  uint8_t wraps[MOST_DIMS];
} gathered;

/* World ranks of the communicator's ranks; 0 where some are of another world. */
static int world_ranks_of(MPI_Comm user, int ranks, int *world) {
  MPI_Group mine, all;
  int good = 1;
  int *numbers = malloc((size_t)ranks * sizeof *numbers);
  if (numbers == NULL || PMPI_Comm_group(user, &mine) != MPI_SUCCESS) return free(numbers), 0;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  for (int r = 0; r < ranks; r++) numbers[r] = r;
  PMPI_Group_translate_ranks(mine, ranks, numbers, all, world);
  for (int r = 0; r < ranks; r++) good = good && world[r] != MPI_UNDEFINED;
  PMPI_Group_free(&mine);
  PMPI_Group_free(&all);
  free(numbers);
  return good;
}

/* The places of the communicator's ranks, if they fill the grid with one rank a router. */
static int fills_grid(const world_map *map, const int *world, int ranks, uint32_t *place) {
  uint64_t routers = 1;
  for (uint32_t d = 0; d < map->dims; d++) routers *= map->sizes[d];
  if (map->dims == 0 || routers != (uint64_t)ranks) return 0;
  uint8_t *taken = calloc((size_t)ranks, 1);
  int good = taken != NULL;
  for (int r = 0; good && r < ranks; r++) {
    place[r] = map->router_of[world[r]];
    good = !taken[place[r]]++;
  }
  free(taken);
  return good;
}

/* Rank 0 works out what the user has said. */
static void tell(const comm_state *state, MPI_Comm user, gathered *t, uint32_t *server_of, uint32_t *place) {
  char fault[400];
  int world_size;
  world_map map = {0};
  PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
  int *world = malloc((size_t)state->ranks * sizeof *world);
  uint32_t *all = malloc((size_t)world_size * sizeof *all), ranks = (uint32_t)world_size;
  if (world != NULL && all != NULL && world_ranks_of(user, state->ranks, world)) {
    const settings *s = state->settings;
    t->has_servers = s->servers != NULL && read_servers(s->servers, ranks, all, fault, sizeof fault);
    for (int r = 0; t->has_servers && r < state->ranks; r++) server_of[r] = all[world[r]];
    if (s->map != NULL && read_map(s->map, ranks, &map, fault, sizeof fault) && fills_grid(&map, world, state->ranks, place)) {
      t->dims = map.dims;
      memcpy(t->sizes, map.sizes, sizeof t->sizes);
      memcpy(t->wraps, map.wraps, sizeof t->wraps);
    }
  }
  free(map.router_of);
  free(all);
  free(world);
}

/* The lowest rank with which each rank can share memory. */
static int discover(const comm_state *state, uint32_t *server_of) {
  MPI_Comm shared;
  uint32_t first = (uint32_t)state->rank;
  int code = PMPI_Comm_split_type(state->private, MPI_COMM_TYPE_SHARED, state->rank, MPI_INFO_NULL, &shared);
  if (code != MPI_SUCCESS) return code;
  code = PMPI_Bcast(&first, 1, MPI_UINT32_T, 0, shared);
  PMPI_Comm_free(&shared);
  if (code == MPI_SUCCESS) code = PMPI_Allgather(&first, 1, MPI_UINT32_T, server_of, 1, MPI_UINT32_T, state->private);
  return code;
}

static uint64_t most_on_one(const uint32_t *server_of, int ranks) {
  uint64_t most = 0;
  for (int a = 0; a < ranks; a++) {
    uint64_t here = 0;
    for (int b = 0; b < ranks; b++) here += server_of[a] == server_of[b];
    if (here > most) most = here;
  }
  return most;
}

/* Collective: all ranks get the same servers and places. */
int servers_find(comm_state *state, MPI_Comm user, char *fault, size_t size) {
  size_t ranks = (size_t)state->ranks;
  gathered t = {0};
  state->server_of = calloc(ranks, sizeof *state->server_of);
  state->place = calloc(ranks, sizeof *state->place);
  int lacks = state->server_of == NULL || state->place == NULL, any = 1;
  int code = PMPI_Allreduce(&lacks, &any, 1, MPI_INT, MPI_MAX, state->private);
  if (code != MPI_SUCCESS || any) return snprintf(fault, size, "there is no memory"), 0;
  if (state->rank == 0) tell(state, user, &t, state->server_of, state->place);
  code = PMPI_Bcast(&t, sizeof t, MPI_BYTE, 0, state->private);
  if (code == MPI_SUCCESS && t.has_servers) code = PMPI_Bcast(state->server_of, state->ranks, MPI_UINT32_T, 0, state->private);
  if (code == MPI_SUCCESS && !t.has_servers) code = discover(state, state->server_of);
  if (code == MPI_SUCCESS && t.dims > 0) code = PMPI_Bcast(state->place, state->ranks, MPI_UINT32_T, 0, state->private);
  int failed = code != MPI_SUCCESS;
  PMPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, state->private);
  if (failed || any) return snprintf(fault, size, "the servers cannot be found"), 0;
  state->dims = t.dims;
  memcpy(state->sizes, t.sizes, sizeof state->sizes);
  memcpy(state->wraps, t.wraps, sizeof state->wraps);
  state->per_server = most_on_one(state->server_of, state->ranks);
  return 1;
}
