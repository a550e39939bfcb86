/* Calls counted by what became of them, and the messages to the user. */
#define _POSIX_C_SOURCE 200809L
#include "interpose.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 120 };

struct report_row {
  char operation[24], text[TEXT];
  int taken;
  atomic_ullong calls, bytes;
  report_row *next;
};

/* A row as it travels to rank 0. */
typedef struct {
  char operation[24], text[TEXT];
  int taken;
  unsigned long long calls, bytes;
} sent_row;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static report_row *rows;

report_row *report_row_of(const char *operation, const char *text, int taken) {
  pthread_mutex_lock(&lock);
  report_row *row = rows;
  while (row != NULL && !(row->taken == taken && strcmp(row->operation, operation) == 0 && strncmp(row->text, text, TEXT - 1) == 0))
    row = row->next;
  if (row == NULL && (row = calloc(1, sizeof *row)) != NULL) {
    snprintf(row->operation, sizeof row->operation, "%s", operation);
    snprintf(row->text, sizeof row->text, "%s", text);
    row->taken = taken;
    row->next = rows;
    rows = row;
  }
  pthread_mutex_unlock(&lock);
  return row;
}

void report_count(report_row *row, MPI_Count bytes) {
  if (row == NULL) return;
  atomic_fetch_add_explicit(&row->calls, 1, memory_order_relaxed);
  if (bytes > 0) atomic_fetch_add_explicit(&row->bytes, (unsigned long long)bytes, memory_order_relaxed);
}

const char *report_text(const report_row *row) {
  return row != NULL ? row->text : "there is no memory";
}

void say_once(const char *text) {
  static char *said[64];
  static int count;
  pthread_mutex_lock(&lock);
  int known = count == 64;
  for (int i = 0; i < count; i++) known = known || strcmp(said[i], text) == 0;
  if (!known && (said[count] = strdup(text)) != NULL) count++;
  pthread_mutex_unlock(&lock);
  if (!known) fprintf(stderr, "flitwork: %s\n", text);
}

static int by_name(const void *left, const void *right) {
  const sent_row *a = left, *b = right;
  if (a->taken != b->taken) return b->taken - a->taken;
  int order = strcmp(a->operation, b->operation);
  return order ? order : strcmp(a->text, b->text);
}

static void write_rows(FILE *to, sent_row *all, size_t count, const char *whose) {
  size_t kept = 0;
  qsort(all, count, sizeof *all, by_name);
  for (size_t i = 0; i < count; i++) {
    if (kept > 0 && by_name(&all[kept - 1], &all[i]) == 0) {
      all[kept - 1].calls += all[i].calls;
      all[kept - 1].bytes += all[i].bytes;
    } else {
      all[kept++] = all[i];
    }
  }
  fprintf(to, "flitwork: all-to-alls of %s\n", whose);
  fprintf(to, "flitwork: %-22s %-44s %12s %16s\n", "operation", "carried out by", "calls", "bytes");
  for (size_t i = 0; i < kept; i++) {
    char by[TEXT + 24];
    if (all[i].calls == 0) continue;
    snprintf(by, sizeof by, all[i].taken ? "%s" : "the MPI library: %s", all[i].text);
    fprintf(to, "flitwork: %-22s %-44s %12llu", all[i].operation, by, all[i].calls);
    if (all[i].taken) {
      fprintf(to, " %16llu\n", all[i].bytes);
    } else {
      fprintf(to, " %16s\n", "-");
    }
  }
}

/* In one piece: ranks that were started by others report at the same time, and the lines of the two would mix. */
static void print_rows(sent_row *all, size_t count, const char *whose) {
  char *text = NULL;
  size_t length = 0;
  FILE *report = open_memstream(&text, &length);
  if (report == NULL) {
    write_rows(stderr, all, count, whose);
  } else {
    write_rows(report, all, count, whose);
    if (fclose(report) == 0) fwrite(text, 1, length, stderr);
    free(text);
  }
  fflush(stderr);
}

/* The rows of this rank, and how many; they begin again from 0. NULL, and none, where there is no memory. */
static sent_row *take_rows(int *count) {
  int i = *count = 0;
  for (report_row *row = rows; row != NULL; row = row->next) ++*count;
  sent_row *mine = calloc((size_t)*count + 1, sizeof *mine);
  if (mine == NULL) *count = 0;
  for (report_row *row = rows; i < *count; row = row->next, i++) {
    mine[i].taken = row->taken;
    mine[i].calls = atomic_exchange(&row->calls, 0);
    mine[i].bytes = atomic_exchange(&row->bytes, 0);
    memcpy(mine[i].operation, row->operation, sizeof row->operation);
    memcpy(mine[i].text, row->text, sizeof row->text);
  }
  return mine;
}

/* Collective over the world, before MPI_Finalize. */
void report_print(void) {
  int rank, ranks, count;
  char whose[100];
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  sent_row *mine = take_rows(&count);
  int *lengths = calloc((size_t)ranks, sizeof *lengths), *places = calloc((size_t)ranks, sizeof *places);
  if (lengths == NULL || places == NULL) count = 0;
  int length = count * (int)sizeof *mine, total = 0;
  PMPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int r = 0; rank == 0 && r < ranks; r++) {
    places[r] = total;
    total += lengths[r];
  }
  sent_row *all = calloc((size_t)total + 1, 1);
  PMPI_Gatherv(mine, length, MPI_BYTE, all, lengths, places, MPI_BYTE, 0, MPI_COMM_WORLD);
  snprintf(whose, sizeof whose, "%d ranks (calls and bytes sent, added up over ranks)", ranks);
  if (rank == 0 && all != NULL) print_rows(all, (size_t)total / sizeof *all, whose);
  free(all);
  free(mine);
  free(lengths);
  free(places);
}

#if HAS_SESSIONS
/* The rows of the first rank alone, at the end of a program's last session: nobody is asked. */
void report_print_alone(MPI_Session session) {
  MPI_Group world;
  int rank = 1, ranks = 0, count;
  char whose[100];
  if (PMPI_Group_from_session_pset(session, "mpi://WORLD", &world) != MPI_SUCCESS) return;
  PMPI_Group_rank(world, &rank);
  PMPI_Group_size(world, &ranks);
  PMPI_Group_free(&world);
  sent_row *mine = take_rows(&count);
  snprintf(whose, sizeof whose, "the first of %d ranks (its calls alone: it has no MPI_COMM_WORLD to ask the others)", ranks);
  if (rank == 0 && count > 0) print_rows(mine, (size_t)count, whose);
  free(mine);
}
#endif
