/* Algorithms as tables: read, and checked so that what runs can neither hang nor lose a block. */
#include "interpose.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t rank, to, from, waits;
  uint64_t send_first, send_count, receive_first, receive_count;
  uint64_t sent_to, received_from; /* the step of the peer at the other end of the message, among all steps */
  uint64_t need_first, need_count; /* steps, among all, whose receive must be complete before it sends */
  int posted, sent;
} row;

struct table {
  uint32_t ranks;
  row *rows;
  uint64_t row_count, row_room;
  uint64_t *first_of; /* of each rank its first row; ranks + 1 of them */
  uint64_t *blocks, block_count, block_room;
  uint64_t *needs, need_count, need_room;
};

void table_free(table *t) {
  if (t == NULL) return;
  free(t->rows);
  free(t->first_of);
  free(t->blocks);
  free(t->needs);
  free(t);
}

uint32_t table_ranks(const table *t) {
  return t->ranks;
}

uint32_t table_steps(const table *t, uint32_t rank) {
  return (uint32_t)(t->first_of[rank + 1] - t->first_of[rank]);
}

void table_step(const table *t, uint32_t rank, uint32_t step, flitwork_step *out) {
  const row *r = &t->rows[t->first_of[rank] + step];
  *out = (flitwork_step){.to = r->to, .from = r->from, .send_count = r->send_count, .receive_count = r->receive_count,
                         .send = t->blocks + r->send_first, .receive = t->blocks + r->receive_first, .waits = r->waits};
}

static int room_for(void **memory, uint64_t *room, uint64_t count, size_t size) {
  if (count < *room) return 1;
  uint64_t wanted = 2 * count + 64;
  void *larger = realloc(*memory, (size_t)wanted * size);
  if (larger == NULL) return 0;
  *memory = larger;
  *room = wanted;
  return 1;
}

/* ---- reading ---- */

static int number(const char **at, uint32_t below, uint32_t *out) {
  char *end;
  if (**at < '0' || **at > '9') return 0;
  unsigned long long value = strtoull(*at, &end, 10);
  if (value >= below) return 0;
  *at = end;
  *out = (uint32_t)value;
  return 1;
}

static int blank(const char **at) {
  if (**at != ' ' && **at != '\t') return 0;
  while (**at == ' ' || **at == '\t') ++*at;
  return 1;
}

static int peer(const char **at, uint32_t ranks, uint32_t *out) {
  if (**at != '-') return number(at, ranks, out);
  ++*at;
  *out = FLITWORK_NOBODY;
  return 1;
}

/* `0:1,0:2`: blocks from a rank to a rank. */
static int blocks(table *t, const char **at, uint64_t *first, uint64_t *count) {
  *first = t->block_count;
  *count = 0;
  if (**at == '-') return ++*at, 1;
  for (;; ++*at) {
    uint32_t from, to;
    if (!number(at, t->ranks, &from) || *(*at)++ != ':' || !number(at, t->ranks, &to) || from == to) return 0;
    if (!room_for((void **)&t->blocks, &t->block_room, t->block_count, sizeof *t->blocks)) return 0;
    t->blocks[t->block_count++] = (uint64_t)from * t->ranks + to;
    ++*count;
    if (**at != ',') return 1;
  }
}

static const char *read_row(table *t, const char *at) {
  row r = {0};
  uint32_t step;
  if (!number(&at, t->ranks, &r.rank)) return "expected the number of a rank first";
  uint32_t last = t->row_count ? t->rows[t->row_count - 1].rank : 0;
  if (r.rank < last) return "ranks must come in ascending order";
  for (uint32_t rank = last + 1; rank <= r.rank; rank++) t->first_of[rank] = t->row_count;
  if (!blank(&at) || !number(&at, UINT32_MAX, &step) || step != t->row_count - t->first_of[r.rank])
    return "the steps of a rank must be numbered 0, 1, 2, ...";
  if (!blank(&at) || !peer(&at, t->ranks, &r.to) || r.to == r.rank) return "`to` must be another rank or -";
  if (!blank(&at) || !peer(&at, t->ranks, &r.from) || r.from == r.rank) return "`from` must be another rank or -";
  if (!blank(&at) || !number(&at, 2, &r.waits)) return "`waits` must be 0 or 1";
  if (!blank(&at) || !blocks(t, &at, &r.send_first, &r.send_count) || (r.send_count > 0) != (r.to != FLITWORK_NOBODY))
    return "the blocks sent must be from:to,from:to exactly where there is somebody to send to, otherwise -";
  if (!blank(&at) || !blocks(t, &at, &r.receive_first, &r.receive_count) || (r.receive_count > 0) != (r.from != FLITWORK_NOBODY))
    return "the blocks received must be from:to,from:to exactly where there is somebody to receive from, otherwise -";
  blank(&at);
  if (*at != 0 && *at != '\n' && *at != '\r' && *at != '#') return "something follows the blocks received";
  if (!room_for((void **)&t->rows, &t->row_room, t->row_count, sizeof *t->rows)) return "there is no memory";
  t->rows[t->row_count++] = r;
  return NULL;
}

static const char *read_line(table *t, const char *at, int *heads) {
  uint32_t version;
  if (*heads == 0) {
    ++*heads;
    if (strncmp(at, "flitwork-mpi-steps ", 19) != 0) return "expected flitwork-mpi-steps 1";
    at += 19;
    return number(&at, UINT32_MAX, &version) && version == 1 ? NULL : "this version is not known; expected flitwork-mpi-steps 1";
  }
  if (*heads == 1) {
    ++*heads;
    if (strncmp(at, "ranks ", 6) != 0) return "expected ranks and their number";
    at += 6;
    if (!number(&at, 1u << 16, &t->ranks) || t->ranks < 2) return "expected ranks and their number, 2 to 65535";
    t->first_of = calloc((size_t)t->ranks + 1, sizeof *t->first_of);
    return t->first_of ? NULL : "there is no memory";
  }
  return read_row(t, at);
}

/* ---- checking ---- */

typedef struct { uint64_t row, pair, order; } message;

static int by_pair(const void *left, const void *right) {
  const message *a = left, *b = right;
  if (a->pair != b->pair) return a->pair < b->pair ? -1 : 1;
  return a->row < b->row ? -1 : a->row > b->row;
}

/* Each message has its receive with the same blocks in the same order; between two ranks messages keep their order. */
static int match(table *t, char *fault, size_t size) {
  message *sends = malloc((t->row_count + 1) * sizeof *sends), *receives = malloc((t->row_count + 1) * sizeof *receives);
  uint64_t send_count = 0, receive_count = 0;
  int good = sends != NULL && receives != NULL;
  for (uint64_t i = 0; good && i < t->row_count; i++) {
    const row *r = &t->rows[i];
    if (r->to != FLITWORK_NOBODY) sends[send_count++] = (message){i, (uint64_t)r->rank * t->ranks + r->to, 0};
    if (r->from != FLITWORK_NOBODY) receives[receive_count++] = (message){i, (uint64_t)r->from * t->ranks + r->rank, 0};
  }
  if (good) qsort(sends, send_count, sizeof *sends, by_pair);
  if (good) qsort(receives, receive_count, sizeof *receives, by_pair);
  for (uint64_t k = 0; good && k < (send_count > receive_count ? send_count : receive_count); k++) {
    int ends = k >= send_count || k >= receive_count;
    uint64_t pair = ends ? (k < send_count ? sends : receives)[k].pair
                         : (sends[k].pair < receives[k].pair ? sends[k].pair : receives[k].pair);
    if (ends || sends[k].pair != receives[k].pair) {
      snprintf(fault, size, "rank %llu does not receive as many messages from rank %llu as that one sends",
               (unsigned long long)(pair % t->ranks), (unsigned long long)(pair / t->ranks));
      good = 0;
      break;
    }
    row *s = &t->rows[sends[k].row], *r = &t->rows[receives[k].row];
    s->sent_to = receives[k].row;
    r->received_from = sends[k].row;
    good = s->send_count == r->receive_count &&
           memcmp(t->blocks + s->send_first, t->blocks + r->receive_first, s->send_count * sizeof *t->blocks) == 0;
    if (!good)
      snprintf(fault, size, "rank %u expects other blocks in a message than rank %u sends", r->rank, s->rank);
  }
  free(sends);
  free(receives);
  return good;
}

/* Each block leaves its source once and arrives once; what is forwarded has been received before. */
static int follow(table *t, char *fault, size_t size) {
  uint64_t all = (uint64_t)t->ranks * t->ranks;
  uint64_t *by = calloc(all, sizeof *by); /* of each block 1 + the row in which the rank at hand received it */
  uint8_t *left = calloc(all, 1), *arrived = calloc(all, 1);
  uint64_t bad = by && left && arrived ? all : 0;
  const char *why = "there is no memory for";
  for (uint64_t i = 0; i < t->row_count && bad == all; i++) {
    row *r = &t->rows[i];
    r->need_first = t->need_count;
    for (uint64_t k = 0; k < r->send_count && bad == all; k++) {
      uint64_t b = t->blocks[r->send_first + k];
      if (b / t->ranks == r->rank) {
        if (left[b]++) bad = b, why = "its source sends twice";
      } else if (by[b] == 0 || t->rows[by[b] - 1].rank != r->rank) {
        bad = b, why = "a rank forwards before it has received";
      } else if (!room_for((void **)&t->needs, &t->need_room, t->need_count, sizeof *t->needs)) {
        bad = b;
      } else {
        t->needs[t->need_count++] = by[b] - 1;
        r->need_count++;
      }
    }
    for (uint64_t k = 0; k < r->receive_count && bad == all; k++) {
      uint64_t b = t->blocks[r->receive_first + k];
      by[b] = i + 1;
      if (b / t->ranks == r->rank) bad = b, why = "comes back to its source:";
      if (b % t->ranks == r->rank && arrived[b]++) bad = b, why = "arrives twice:";
    }
  }
  for (uint64_t b = 0; b < all && bad == all; b++)
    if (b / t->ranks != b % t->ranks && !(arrived[b] && left[b])) bad = b, why = "does not arrive:";
  if (bad != all)
    snprintf(fault, size, "%s block %llu:%llu", why, (unsigned long long)(bad / t->ranks), (unsigned long long)(bad % t->ranks));
  free(by);
  free(left);
  free(arrived);
  return bad == all;
}

/* Whether a rank gets over this step with what the others have done so far; `open`: its first step that is not waited for. */
static int can_send(const table *t, const row *r) {
  for (uint64_t k = 0; k < r->need_count; k++)
    if (!t->rows[t->rows[t->needs[r->need_first + k]].received_from].sent) return 0;
  return 1;
}

static int has_all(const table *t, uint64_t open, uint64_t end) {
  for (uint64_t i = open; i < end; i++) {
    const row *r = &t->rows[i];
    if (r->from != FLITWORK_NOBODY && !t->rows[r->received_from].sent) return 0;
    if (r->to != FLITWORK_NOBODY && !t->rows[r->sent_to].posted) return 0;
  }
  return 1;
}

/* Runs the table with messages that wait for their receive: everybody must come to the end. */
static int carry_out(table *t, char *fault, size_t size) {
  uint64_t *now = malloc(t->ranks * sizeof *now), *open = malloc(t->ranks * sizeof *open);
  int moved = now != NULL && open != NULL, good = moved;
  for (uint32_t rank = 0; good && rank < t->ranks; rank++) now[rank] = open[rank] = t->first_of[rank];
  while (moved) {
    moved = 0;
    for (uint32_t rank = 0; rank < t->ranks; rank++) {
      while (now[rank] < t->first_of[rank + 1]) {
        row *r = &t->rows[now[rank]];
        if (!r->posted) r->posted = moved = 1;
        if (!r->sent && can_send(t, r)) r->sent = moved = 1;
        if (!r->sent) break;
        if (r->waits && !has_all(t, open[rank], now[rank] + 1)) break;
        now[rank]++;
        if (r->waits) open[rank] = now[rank];
        moved = 1;
      }
    }
  }
  for (uint32_t rank = 0; good && rank < t->ranks; rank++) {
    if (now[rank] == t->first_of[rank + 1]) continue;
    snprintf(fault, size, "rank %u would wait in step %llu for ever", rank, (unsigned long long)(now[rank] - t->first_of[rank]));
    good = 0;
  }
  free(now);
  free(open);
  return good;
}

table *table_read(const char *text, char *fault, size_t size) {
  table *t = calloc(1, sizeof *t);
  int heads = 0, good = t != NULL;
  snprintf(fault, size, "there is no memory");
  for (int line = 1; good && *text != 0; line++) {
    while (*text == ' ' || *text == '\t') text++;
    const char *why = strchr("#\r\n", *text) ? NULL : read_line(t, text, &heads);
    if (why != NULL) snprintf(fault, size, "line %d: %s", line, why);
    good = why == NULL;
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  if (good && heads < 2) {
    snprintf(fault, size, "the table is empty; expected flitwork-mpi-steps 1, ranks N and a line for each step");
    good = 0;
  }
  if (good) {
    uint32_t last = t->row_count ? t->rows[t->row_count - 1].rank : 0;
    for (uint32_t rank = last + 1; rank <= t->ranks; rank++) t->first_of[rank] = t->row_count;
    good = match(t, fault, size) && follow(t, fault, size) && carry_out(t, fault, size);
  }
  if (good) return t;
  table_free(t);
  return NULL;
}
