/* What is not recorded, by name: a record when it is called first, one with the number of calls at the end. */
#include "record.h"

#include <pthread.h>
#include <string.h>

#define NAMES 128
#define WORDS 8

static struct { const char *name; uint64_t calls; } seen[NAMES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void write_count(const char *name, uint64_t calls) {
  int64_t list[WORDS] = {0};
  strncpy((char *)list, name, sizeof list - 1);
  struct event event = {.what = UNKNOWN, .words = WORDS, .bytes = calls};
  flitwork_write(&event, list);
}

void flitwork_unknown(const char *name) {
  if (!flitwork_records()) return;
  pthread_mutex_lock(&lock);
  int at = 0;
  while (at < NAMES - 1 && seen[at].name && strcmp(seen[at].name, name)) at++;
  int first = !seen[at].name;
  seen[at].name = name;
  seen[at].calls++;
  pthread_mutex_unlock(&lock);
  if (first) write_count(name, 1);
}

void flitwork_unknown_end(void) {
  for (int at = 0; at < NAMES && seen[at].name; at++) write_count(seen[at].name, seen[at].calls);
}
