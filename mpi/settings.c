/* What the user asked for, as one text that world rank 0 reads from its environment and all ranks understand alike. */
#define _POSIX_C_SOURCE 200809L
#include "interpose.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const operation_names[OPERATIONS] = {"alltoall", "alltoallv", "alltoallw"};

static const char *const VARIABLES[] = {
    "FLITWORK_MPI_ALLTOALL", "FLITWORK_MPI_ALLTOALLV", "FLITWORK_MPI_ALLTOALLW", "FLITWORK_MPI_RULES",   "FLITWORK_MPI_RADIX",
    "FLITWORK_MPI_LEADERS",  "FLITWORK_MPI_SERVERS",   "FLITWORK_MPI_MAP",       "FLITWORK_MPI_SYNC",    "FLITWORK_MPI_PAUSE_NS",
    "FLITWORK_MPI_REPORT",   "FLITWORK_MPI_STRICT",    "FLITWORK_MPI_PREPARE",   "FLITWORK_MPI_PROGRESS", "FLITWORK_MPI_EXACT",
};
enum { VARIABLE_COUNT = sizeof VARIABLES / sizeof *VARIABLES };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static settings *all_settings;
static settings *process_settings;

/* ---- the text: for each entry a line with the lengths of key and value, the key, the value, a zero ---- */

typedef struct { char *at; size_t length, room; } text;

static void text_add(text *t, const char *bytes, size_t length) {
  if (t->length + length + 1 > t->room) {
    size_t room = 2 * (t->length + length) + 256;
    char *larger = realloc(t->at, room);
    if (larger == NULL) return;
    t->at = larger;
    t->room = room;
  }
  memcpy(t->at + t->length, bytes, length);
  t->length += length;
  t->at[t->length] = 0;
}

static void text_entry(text *t, const char *key, const char *value, size_t length) {
  char head[64];
  snprintf(head, sizeof head, "%zu %zu\n", strlen(key), length);
  text_add(t, head, strlen(head));
  text_add(t, key, strlen(key));
  text_add(t, value, length);
  text_add(t, "", 1);
}

static void text_file(text *t, const char *key, const char *name) {
  static const char mark[] = "\xef\xbb\xbf"; /* editors put a byte order mark at the start of a text in UTF-8 */
  char buffer[4096];
  text content = {0};
  FILE *file = fopen(name, "rb");
  if (file == NULL) {
    snprintf(buffer, sizeof buffer, "the file %s cannot be read: %s", name, strerror(errno));
    text_entry(t, "fault", buffer, strlen(buffer));
    return;
  }
  for (size_t got; (got = fread(buffer, 1, sizeof buffer, file)) > 0;) text_add(&content, buffer, got);
  int failed = ferror(file) ? errno : 0, is_text = content.at == NULL || memchr(content.at, 0, content.length) == NULL;
  fclose(file);
  if (failed || !is_text) {
    snprintf(buffer, sizeof buffer, "the file %s cannot be read: %s", name, failed ? strerror(failed) : "it is not a text");
    text_entry(t, "fault", buffer, strlen(buffer));
  } else {
    size_t skipped = content.length >= strlen(mark) && memcmp(content.at, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
    text_entry(t, key, content.at ? content.at + skipped : "", content.length - skipped);
  }
  free(content.at);
}

static const char *entry_of(const char *at, const char *end, const char *key) {
  while (at < end) {
    char *rest;
    size_t key_length = strtoull(at, &rest, 10), length = strtoull(rest, &rest, 10);
    const char *found = rest + 1;
    if (key_length == strlen(key) && memcmp(found, key, key_length) == 0) return found + key_length;
    at = found + key_length + length + 1;
  }
  return NULL;
}

const char *settings_value(const settings *s, const char *key) {
  return entry_of(s->text, s->text + s->length, key);
}

/* The file of `table:FILE`, unless it is there. Names that are not absolute are those of a folder, if there is one. */
static void text_table(text *t, const char *folder, const char *key) {
  char name[2 * MOST_NAME];
  if (t->at != NULL && entry_of(t->at, t->at + t->length, key) != NULL) return;
  snprintf(name, sizeof name, "%s%s%s", folder && key[6] != '/' ? folder : "", folder && key[6] != '/' ? "/" : "", key + 6);
  text_file(t, key, name);
}

/* Tables that rules name in `algorithm=table:FILE`: there a name ends at a blank. */
static void text_tables(text *t, const char *folder, const char *rules) {
  for (const char *at = rules; (at = strstr(at, "table:")) != NULL;) {
    char key[MOST_NAME];
    size_t length = strcspn(at, " \t\r\n#");
    snprintf(key, sizeof key, "%.*s", (int)length, at);
    if (length > 6 && length < sizeof key) text_table(t, folder, key);
    at += length;
  }
}

static int digit_of(char c) {
  const char *digits = "0123456789ABCDEF", *found = c ? strchr(digits, c) : NULL;
  return found ? (int)(found - digits) : -1;
}

/* A variable as the user gave it; NULL: not, or empty. Launchers read some characters in ways of their own, so `flitwork mpi run` writes them
 * as %XX, and says so with FLITWORK_ENCODED. */
static char *variable(const char *name) {
  const char *value = getenv(name), *encoded = getenv("FLITWORK_ENCODED");
  char *found = value != NULL && *value != 0 ? strdup(value) : NULL, *to = found;
  if (found == NULL || encoded == NULL) return found;
  for (const char *at = value; *at != 0; to++) {
    int high = *at == '%' ? digit_of(at[1]) : -1, low = high < 0 ? -1 : digit_of(at[2]);
    *to = low < 0 ? *at : (char)(16 * high + low);
    at += low < 0 ? 1 : 3;
  }
  *to = 0;
  return found;
}

/* The files that a variable names. */
static void text_files(text *t, int number, const char *value) {
  if (number < OPERATIONS && strncmp(value, "table:", 6) == 0 && value[6] != 0) text_table(t, NULL, value);
  if (strcmp(VARIABLES[number], "FLITWORK_MPI_MAP") == 0) text_file(t, "map", value);
  if (strcmp(VARIABLES[number], "FLITWORK_MPI_RULES") != 0) return;
  text_file(t, "rules", value);
  const char *rules = entry_of(t->at, t->at + t->length, "rules");
  char *copy = rules ? strdup(rules) : NULL, *folder = variable("FLITWORK_MPI_FOLDER"); /* the text moves while it grows */
  if (copy != NULL) text_tables(t, folder, copy);
  free(copy);
  free(folder);
}

static text read_environment(void) {
  text t = {0};
  for (int i = 0; i < VARIABLE_COUNT; i++) {
    char *value = variable(VARIABLES[i]);
    if (value == NULL) continue;
    text_entry(&t, VARIABLES[i], value, strlen(value));
    text_files(&t, i, value);
    free(value);
  }
  if (t.at == NULL) text_add(&t, "", 0);
  return t;
}

/* ---- what it means ---- */

static int number_of(settings *s, const char *variable, uint64_t least, uint64_t most, uint64_t *out) {
  const char *value = settings_value(s, variable);
  char *end;
  if (value == NULL) return 1;
  errno = 0;
  unsigned long long number = strtoull(value, &end, 10);
  if (*value < '0' || *value > '9' || *end != 0 || errno != 0 || number < least || number > most) {
    snprintf(s->fault, sizeof s->fault, "%s=%.100s: expected a whole number from %llu to %llu", variable, value, (unsigned long long)least,
             (unsigned long long)most);
    return 0;
  }
  *out = number;
  return 1;
}

/* An option of the environment is for all algorithms of the environment that have it: at least one must. */
static int option_is_taken(settings *s, const char *variable, const char *option) {
  if (settings_value(s, variable) == NULL) return 1;
  for (int i = 0; i < s->rule_count; i++) {
    if (flitwork_steps_has(s->rules[i].algorithm, option)) return 1;
  }
  snprintf(s->fault, sizeof s->fault, "%s=%.100s: no algorithm that FLITWORK_MPI_ALLTOALL, _ALLTOALLV or _ALLTOALLW names has %s (a rule has its own)",
           variable, settings_value(s, variable), option);
  return 0;
}

static int read_environment_rules(settings *s) {
  uint64_t radix = 0, leaders = 0;
  if (!number_of(s, "FLITWORK_MPI_RADIX", 2, UINT32_MAX, &radix) || !number_of(s, "FLITWORK_MPI_LEADERS", 1, UINT32_MAX, &leaders)) return 0;
  for (int operation = 0; operation < OPERATIONS; operation++) {
    const char *variable = VARIABLES[operation], *value = settings_value(s, variable);
    if (value == NULL) value = settings_value(s, variable = VARIABLES[ALLTOALL]);
    if (value == NULL) continue;
    rule *larger = realloc(s->rules, ((size_t)s->rule_count + 1) * sizeof *larger);
    if (larger == NULL) return 0;
    s->rules = larger;
    rule *r = &s->rules[s->rule_count];
    *r = (rule){.operation = operation, .ranks = {0, ANY}, .per_server = {0, ANY}, .bytes = {0, ANY},
                .radix = (uint32_t)radix, .leaders = (uint32_t)leaders};
    char why[1400];
    if (!rule_set_algorithm(r, value, strlen(value), why, sizeof why)) {
      snprintf(s->fault, sizeof s->fault, "%s=%.100s: %s", variable, value, why);
      return 0;
    }
    s->rule_count++;
  }
  return option_is_taken(s, "FLITWORK_MPI_RADIX", "radix") && option_is_taken(s, "FLITWORK_MPI_LEADERS", "leaders");
}

/* The number of a word among those that a variable may have. */
static int read_word(settings *s, const char *variable, const char *const names[3], const char *expected, int *out) {
  const char *value = settings_value(s, variable);
  if (value == NULL) return 1;
  for (int i = 0; i < 3; i++) {
    if (strcmp(value, names[i]) == 0) return *out = i, 1;
  }
  snprintf(s->fault, sizeof s->fault, "%s=%.100s: expected %s", variable, value, expected);
  return 0;
}

static int read_words(settings *s) {
  static const char *const SYNCS[] = {"steps", "local", "async"}, *const PROGRESS[] = {"hook", "thread", "none"};
  return read_word(s, "FLITWORK_MPI_SYNC", SYNCS, "steps, local or async", &s->sync) &&
         read_word(s, "FLITWORK_MPI_PROGRESS", PROGRESS, "hook, thread or none", &s->progress);
}

/* A table with a mistake is one in the settings, whether or not a call will ask for it. */
static void check_tables(settings *s) {
  char why[400];
  for (int i = 0; i < s->rule_count; i++) {
    const rule *r = &s->rules[i];
    if (strncmp(r->algorithm, "table:", 6) != 0) continue;
    const char *text = settings_value(s, r->algorithm);
    table *t = text ? table_read(text, why, sizeof why) : NULL;
    table_free(t);
    if (t != NULL) continue;
    snprintf(s->fault, sizeof s->fault, "%.1500s: %s", r->algorithm + 6, text ? why : "the file was not read");
    return;
  }
}

static void read_text(settings *s) {
  uint64_t report = 0, strict = 0, exact = 0;
  const char *rules = settings_value(s, "rules"), *fault = settings_value(s, "fault");
  if (!number_of(s, "FLITWORK_MPI_STRICT", 0, 1, &strict)) return;
  s->strict = (int)strict;
  if (!number_of(s, "FLITWORK_MPI_EXACT", 0, 1, &exact)) return;
  s->exact = (int)exact;
  if (!number_of(s, "FLITWORK_MPI_REPORT", 0, 1, &report)) return;
  s->report = (int)report;
  s->servers = settings_value(s, "FLITWORK_MPI_SERVERS");
  s->map = settings_value(s, "map");
  if (fault != NULL) {
    snprintf(s->fault, sizeof s->fault, "%s", fault);
    return;
  }
  if (!read_environment_rules(s) || !read_words(s)) return;
  s->prepared = 64;
  if (!number_of(s, "FLITWORK_MPI_PREPARE", 0, 1000000, &s->prepared)) return;
  if (!number_of(s, "FLITWORK_MPI_PAUSE_NS", 0, 1000000000, &s->pause_ns)) return;
  if (rules != NULL && !rules_read(s, rules, settings_value(s, "FLITWORK_MPI_RULES"))) return;
  check_tables(s);
}

static uint64_t hash_of(const char *text, size_t length) {
  uint64_t hash = 0xcbf29ce484222325u ^ length;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
  return hash;
}

/* The settings that a text gives; read once and kept, as communicators point to them. */
settings *settings_of_text(const char *text, size_t length) {
  uint64_t hash = hash_of(text, length);
  pthread_mutex_lock(&lock);
  settings *s = all_settings;
  while (s != NULL && !(s->hash == hash && s->length == length && memcmp(s->text, text, length) == 0)) s = s->next;
  if (s == NULL && (s = calloc(1, sizeof *s)) != NULL) {
    s->text = malloc(length + 1);
    if (s->text == NULL) abort();
    memcpy(s->text, text, length);
    s->text[length] = 0;
    s->length = length;
    s->hash = hash;
    read_text(s);
    s->next = all_settings;
    all_settings = s;
  }
  pthread_mutex_unlock(&lock);
  return s;
}

/* The settings of this process: those of world rank 0, or its own where MPI was started in another way. */
settings *settings_of_process(void) {
  pthread_mutex_lock(&lock);
  settings *s = process_settings;
  pthread_mutex_unlock(&lock);
  if (s != NULL) return s;
  text t = read_environment();
  s = settings_of_text(t.at, t.length);
  free(t.at);
  pthread_mutex_lock(&lock);
  process_settings = s;
  pthread_mutex_unlock(&lock);
  return s;
}

static atomic_int of_world;

int settings_are_of_world(void) {
  return atomic_load(&of_world);
}

/* The text of world rank 0. */
static settings *settings_of_world(int rank) {
  text t = {0};
  unsigned long length = 0;
  if (rank == 0) {
    t = read_environment();
    length = t.length;
  }
  PMPI_Bcast(&length, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
  if (rank != 0) t.at = malloc(length + 1);
  PMPI_Bcast(t.at, (int)length, MPI_BYTE, 0, MPI_COMM_WORLD);
  settings *s = settings_of_text(t.at, length);
  free(t.at);
  return s;
}

/* Tells the command that has started the program that the library is in it: a line in a file that the command has made. */
void settings_say_started(void) {
  char *name = variable("FLITWORK_MPI_STARTED");
  FILE *file = name != NULL ? fopen(name, "r+") : NULL;
  if (file != NULL) {
    fputs("started\n", file);
    fclose(file);
  }
  free(name);
}

void settings_agree_on_world(void) {
  int rank, size, by_us = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  settings *s = settings_of_world(rank);
  if (rank == 0) settings_say_started();
  pthread_mutex_lock(&lock);
  process_settings = s;
  pthread_mutex_unlock(&lock);
  atomic_store(&of_world, 1);
  if (s->fault[0] == 0) servers_check(s, size, s->fault, sizeof s->fault);
  int clash = progress_levels_clash(&by_us), ours = clash && by_us;
  if (ours || (clash && s->rule_count > 0 && s->fault[0] == 0))
    snprintf(s->fault, sizeof s->fault,
             "some ranks have MPI_THREAD_MULTIPLE and others have not, with which collectives of this MPICH wait for ever%s",
             ours ? "; FLITWORK_MPI_PROGRESS=thread asks for it and has to be set for all ranks" : "");
  if (s->fault[0] == 0) return;
  if (rank == 0) {
    const char *then = ours        ? "The program stops."
                       : s->strict ? "FLITWORK_MPI_STRICT=1: the program stops."
                                   : "The MPI library's own algorithms are used.";
    fprintf(stderr, "flitwork: %s. %s\n", s->fault, then);
    fflush(stderr);
  }
  if (!ours && !s->strict) return;
  /* A launcher that is told to stop may drop what it has not passed on yet. */
  if (rank == 0) nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
  PMPI_Barrier(MPI_COMM_WORLD);
  PMPI_Abort(MPI_COMM_WORLD, 1);
}
