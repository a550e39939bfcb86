/* Requests: from the handle of the program to the number in the trace.
 *
 * A library may hand out one handle for many operations (those that are complete at once), so a handle may stand here
 * several times; the oldest is taken first. */
#include "record.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096

struct entry {
  struct entry *next;
  uint64_t key;
  uint32_t number, more; /* more: operations behind it that complete with it */
  uint8_t kind, wild, cancelled, active;
  struct event *persistent; /* what a start writes: 1 + more records, the list of the first behind them; NULL: not persistent */
};

static struct bucket { struct entry *first, *last; } buckets[BUCKETS];
static struct entry *unused;
static uint32_t numbers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t flitwork_key(MPI_Request request) {
  uint64_t key = 0;
  memcpy(&key, &request, sizeof request);
  return key;
}

uint64_t flitwork_message_key(MPI_Message message) {
  uint64_t key = 0;
  memcpy(&key, &message, sizeof message);
  return key ^ (uint64_t)1 << 63;
}

static struct bucket *bucket_of(uint64_t key) { return &buckets[(key * 0x9E3779B97F4A7C15u) >> 52]; }

static struct entry *add(uint64_t key) {
  struct entry *entry = unused;
  if (entry) unused = entry->next;
  else if (!(entry = malloc(sizeof *entry))) return NULL;
  *entry = (struct entry){.key = key};
  struct bucket *bucket = bucket_of(key);
  if (bucket->last) bucket->last->next = entry;
  else bucket->first = entry;
  bucket->last = entry;
  return entry;
}

static struct entry *find(uint64_t key) {
  struct entry *entry = bucket_of(key)->first;
  while (entry && entry->key != key) entry = entry->next;
  return entry;
}

static void drop(struct entry *entry) {
  struct bucket *bucket = bucket_of(entry->key);
  struct entry **link = &bucket->first, *before = NULL;
  while (*link != entry) before = *link, link = &before->next;
  *link = entry->next;
  if (bucket->last == entry) bucket->last = before;
  free(entry->persistent);
  entry->next = unused;
  unused = entry;
}

uint32_t flitwork_request_add(uint64_t key, enum request_kind kind, int wild) {
  pthread_mutex_lock(&lock);
  uint32_t number = ++numbers;
  struct entry *entry = add(key);
  if (entry) {
    entry->number = number;
    entry->kind = (uint8_t)kind;
    entry->wild = (uint8_t)wild;
    entry->active = 1;
  }
  pthread_mutex_unlock(&lock);
  return number;
}

uint32_t flitwork_request_add_all(uint64_t key, uint32_t count) {
  pthread_mutex_lock(&lock);
  uint32_t number = numbers + 1;
  numbers += count;
  struct entry *entry = key && count ? add(key) : NULL;
  if (entry) {
    entry->number = number;
    entry->more = count - 1;
    entry->kind = OF_COLLECTIVE;
    entry->active = 1;
  }
  pthread_mutex_unlock(&lock);
  return number;
}

static void persist(uint64_t key, struct entry values, const struct event *events, const int64_t *list) {
  size_t records = (values.more + 1) * sizeof *events, words = events->words * sizeof *list;
  struct event *copy = malloc(records + words);
  if (!copy) return;
  memcpy(copy, events, records);
  if (words) memcpy((char *)copy + records, list, words);
  pthread_mutex_lock(&lock);
  struct entry *entry = add(key);
  if (entry) {
    entry->kind = values.kind;
    entry->wild = values.wild;
    entry->more = values.more;
    entry->persistent = copy;
  } else free(copy);
  pthread_mutex_unlock(&lock);
}

void flitwork_request_persist(uint64_t key, const struct event *event, const int64_t *list) {
  uint8_t kind = event->what == SEND ? OF_SEND : event->what == RECV ? OF_RECV : OF_COLLECTIVE;
  persist(key, (struct entry){.kind = kind, .wild = (event->flags & ANY_PEER) != 0}, event, list);
}

void flitwork_request_persist_all(uint64_t key, const struct event *events, uint32_t count) {
  if (count) persist(key, (struct entry){.kind = OF_COLLECTIVE, .more = count - 1}, events, NULL);
}

void flitwork_request_start(uint64_t key) {
  pthread_mutex_lock(&lock);
  struct entry *entry = find(key);
  if (!entry || !entry->persistent) {
    pthread_mutex_unlock(&lock);
    return;
  }
  entry->active = 1;
  entry->cancelled = 0;
  entry->number = numbers + 1;
  numbers += entry->more + 1;
  const struct event *records = entry->persistent;
  const int64_t *list = (const int64_t *)(records + entry->more + 1);
  uint32_t first = entry->number, count = entry->more + 1;
  pthread_mutex_unlock(&lock);
  for (uint32_t i = 0; i < count; i++) {
    struct event event = records[i];
    event.request = first + i;
    flitwork_write(&event, list);
  }
}

void flitwork_request_cancel(uint64_t key) {
  pthread_mutex_lock(&lock);
  struct entry *entry = find(key);
  if (entry) entry->cancelled = 1;
  pthread_mutex_unlock(&lock);
}

void flitwork_request_free(uint64_t key) {
  pthread_mutex_lock(&lock);
  struct entry *entry = find(key);
  if (entry) drop(entry);
  pthread_mutex_unlock(&lock);
}

void flitwork_request_move(uint64_t from, uint64_t to) {
  pthread_mutex_lock(&lock);
  struct entry *entry = find(from);
  if (entry) {
    struct entry copy = *entry;
    drop(entry);
    entry = add(to);
    if (entry) entry->number = copy.number, entry->kind = copy.kind, entry->active = 1;
  }
  pthread_mutex_unlock(&lock);
}

void flitwork_request_complete(uint64_t key, const MPI_Status *status) {
  pthread_mutex_lock(&lock);
  struct entry *entry = find(key);
  if (!entry || !entry->active) {
    pthread_mutex_unlock(&lock);
    return;
  }
  struct event event = {.what = COMPLETE, .request = entry->number};
  int cancelled = 0;
  if (entry->cancelled) PMPI_Test_cancelled(status, &cancelled);
  if (cancelled) event.flags |= CANCELLED;
  else if (entry->wild) event.flags |= ANY_PEER, event.peer = status->MPI_SOURCE, event.tag = status->MPI_TAG;
  entry->active = 0;
  uint32_t more = entry->more;
  if (!entry->persistent) drop(entry);
  pthread_mutex_unlock(&lock);
  flitwork_write(&event, NULL);
  for (uint32_t i = 0; i < more; i++) {
    event = (struct event){.what = COMPLETE, .request = event.request + 1};
    flitwork_write(&event, NULL);
  }
}
