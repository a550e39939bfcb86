/* The files of a rank, the clock, and whether a call is recorded. */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Bytes of a file that are in memory at a time. */
#define WINDOW ((size_t)1 << 20)

struct file {
  int descriptor;
  char *window;
  size_t used;
  off_t before; /* bytes before the window */
};

__thread int flitwork_depth;
static __thread uint64_t left_at, pending_ns;
static __thread int thread_number = -1;
static int threads, is_on, rank_number = -1;
static struct file events, lists;
static uint64_t records;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void flitwork_say(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "flitwork mpi record: rank %d: %s\n", rank_number, text);
}

static void stop(const char *why) {
  is_on = 0;
  flitwork_say("%s (%s); nothing more is recorded", why, strerror(errno));
}

/* The next window. Its room is reserved first: a full disk is an error here, and would be a signal later. */
static int advance(struct file *file) {
  if (file->window) {
    munmap(file->window, WINDOW);
    file->before += (off_t)WINDOW;
    file->window = NULL;
  }
  int error = posix_fallocate(file->descriptor, file->before, (off_t)WINDOW);
  if (error) {
    errno = error;
    return 0;
  }
  void *found = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor, file->before);
  if (found == MAP_FAILED) return 0;
  file->window = found;
  file->used = 0;
  return 1;
}

static void append(struct file *file, const void *data, size_t size) {
  const char *from = data;
  while (size && is_on) {
    if (file->used == WINDOW && !advance(file)) {
      stop("the trace cannot be written");
      return;
    }
    size_t part = WINDOW - file->used < size ? WINDOW - file->used : size;
    memcpy(file->window + file->used, from, part);
    file->used += part;
    from += part;
    size -= part;
  }
}

static int open_file(struct file *file, const char *folder, const char *ending) {
  char path[4096];
  snprintf(path, sizeof path, "%s/rank-%d.%s", folder, rank_number, ending);
  file->descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  return file->descriptor >= 0 && advance(file);
}

static void close_file(struct file *file) {
  if (file->window) munmap(file->window, WINDOW);
  if (file->descriptor >= 0) {
    if (file->window && ftruncate(file->descriptor, file->before + (off_t)file->used)) stop("the trace cannot be cut to its length");
    close(file->descriptor);
  }
  file->window = NULL;
  file->descriptor = -1;
}

static int digit_of(char c) {
  const char *digits = "0123456789ABCDEF", *found = c ? strchr(digits, c) : NULL;
  return found ? (int)(found - digits) : -1;
}

/* The folder as the user gave it: launchers read some characters in ways of their own, which `flitwork mpi record` writes as %XX. */
static const char *folder_of(char *out, size_t size) {
  const char *at = getenv("FLITWORK_RECORD_FOLDER");
  size_t used = 0;
  for (int encoded = getenv("FLITWORK_ENCODED") != NULL; at && *at && used + 1 < size; used++) {
    int high = encoded && *at == '%' ? digit_of(at[1]) : -1, low = high < 0 ? -1 : digit_of(at[2]);
    out[used] = low < 0 ? *at : (char)(16 * high + low);
    at += low < 0 ? 1 : 3;
  }
  out[used] = 0;
  return out;
}

void flitwork_start(void) {
  if (is_on || rank_number >= 0) return;
  int size;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank_number);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  char room[4096];
  const char *folder = folder_of(room, sizeof room);
  if (!*folder) {
    if (rank_number == 0) flitwork_say("FLITWORK_RECORD_FOLDER does not name a folder; nothing is recorded");
    return;
  }
  if (!open_file(&events, folder, "events") || !open_file(&lists, folder, "lists")) {
    if (errno == EEXIST) flitwork_say("another program of this job was recorded already; this one is not");
    else stop("the trace cannot be created");
    return;
  }
  is_on = 1;
  struct event event = {.what = START, .peer = rank_number, .tag = size, .bytes = FORMAT};
  flitwork_write(&event, NULL);
  flitwork_comms_start();
  flitwork_windows_start();
  left_at = now_ns();
  pending_ns = 0;
}

void flitwork_end(void) {
  flitwork_unknown_end();
  struct event event = {.what = END};
  flitwork_write(&event, NULL);
  pthread_mutex_lock(&lock);
  if (is_on) {
    close_file(&events);
    close_file(&lists);
  }
  is_on = 0;
  pthread_mutex_unlock(&lock);
}

void flitwork_enter(void) {
  if (flitwork_depth++ == 0 && left_at) pending_ns += now_ns() - left_at;
}

void flitwork_leave(void) {
  if (--flitwork_depth == 0) left_at = now_ns();
}

int flitwork_records(void) { return is_on && flitwork_depth == 1; }

static uint64_t mixed(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

/* The checksum of the record at `place` of the file. record_trace.py computes the same. */
static uint64_t checksum(const struct event *event, const int64_t *list, uint64_t place) {
  uint64_t words[sizeof *event / 8], found = place + 1, sum = 0;
  memcpy(words, event, sizeof words);
  for (size_t i = 0; i < sizeof words / 8 - 1; i++) found = mixed(found + words[i]);
  for (uint64_t i = 0; i < event->words; i++) sum += mixed((uint64_t)list[i] + (i + 1) * UINT64_C(0x9e3779b97f4a7c15));
  return mixed(found + sum);
}

void flitwork_write(struct event *event, const int64_t *list) {
  pthread_mutex_lock(&lock);
  if (thread_number < 0) thread_number = threads < 255 ? threads++ : 255;
  event->thread = (uint16_t)thread_number;
  event->compute_ns = pending_ns;
  pending_ns = 0;
  if (is_on) {
    event->check = checksum(event, list, records++);
    append(&lists, list, event->words * sizeof *list);
    append(&events, event, sizeof *event);
  }
  pthread_mutex_unlock(&lock);
}
