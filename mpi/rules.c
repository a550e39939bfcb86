/* The rules file: which algorithm for which size of communicator, server and message. */
#define _POSIX_C_SOURCE 200809L
#include "interpose.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rule_set_algorithm(rule *r, const char *name, size_t length, char *fault, size_t size) {
  if (length >= sizeof r->algorithm) return snprintf(fault, size, "the name is too long"), 0;
  snprintf(r->algorithm, sizeof r->algorithm, "%.*s", (int)length, name);
  if (strcmp(r->algorithm, "library") == 0 || (strncmp(r->algorithm, "table:", 6) == 0 && length > 6)) return 1;
  char names[1024] = "";
  size_t used = 0;
  const char *known;
  for (uint32_t i = 0; (known = flitwork_steps_name(i)) != NULL; i++) {
    if (strcmp(known, r->algorithm) == 0) return 1;
    int added = snprintf(names + used, sizeof names - used, "%s, ", known);
    if (added > 0 && used + (size_t)added < sizeof names) used += (size_t)added;
  }
  snprintf(fault, size, "there is no such algorithm; expected one of %slibrary, table:FILE", names);
  return 0;
}

int rule_check_options(const rule *r, char *fault, size_t size) {
  const char *option = NULL;
  if (r->radix != 0 && !flitwork_steps_has(r->algorithm, "radix")) option = "radix";
  if (r->leaders != 0 && !flitwork_steps_has(r->algorithm, "leaders")) option = "leaders";
  if (option != NULL) snprintf(fault, size, "%.100s has no %s: leave it out", r->algorithm, option);
  return option == NULL;
}

static int read_number(const char **at, uint64_t *out) {
  char *end;
  errno = 0;
  if (**at < '0' || **at > '9') return 0;
  *out = strtoull(*at, &end, 10);
  *at = end;
  return errno == 0;
}

/* `8`, `8-64`, or `8-`: 8 and more. */
static int read_range(const char *at, size_t length, range *out) {
  const char *end = at + length;
  if (!read_number(&at, &out->low)) return 0;
  out->high = out->low;
  if (at == end) return 1;
  if (*at++ != '-') return 0;
  out->high = ANY;
  if (at == end) return 1;
  return read_number(&at, &out->high) && at == end && out->low <= out->high;
}

typedef struct { const char *key, *value; size_t key_length, length; } pair;

static int is(const char *word, size_t length, const char *name) {
  return strlen(name) == length && strncmp(word, name, length) == 0;
}

/* One `key=value`; what is wrong with it goes to `fault`. */
static int read_pair(rule *r, const pair *p, unsigned *seen, char *fault, size_t size) {
  static const char *const KEYS[] = {"ranks", "per_server", "bytes", "algorithm", "radix", "leaders"};
  range *ranges[] = {&r->ranks, &r->per_server, &r->bytes};
  uint64_t number = 0;
  unsigned key = 0;
  while (key < 6 && !is(p->key, p->key_length, KEYS[key])) key++;
  if (key == 6) {
    snprintf(fault, size, "%.*s: expected ranks, per_server, bytes, algorithm, radix or leaders", (int)p->key_length, p->key);
    return 0;
  }
  if (*seen & 1u << key) return snprintf(fault, size, "%s is given twice", KEYS[key]), 0;
  *seen |= 1u << key;
  if (key < 3 && !read_range(p->value, p->length, ranges[key])) {
    snprintf(fault, size, "%s=%.*s: expected a number, or a range as 8-64 or 8-", KEYS[key], (int)p->length, p->value);
    return 0;
  }
  if (key == 3) {
    char why[1400];
    if (rule_set_algorithm(r, p->value, p->length, why, sizeof why)) return 1;
    return snprintf(fault, size, "algorithm=%.*s: %s", (int)p->length, p->value, why), 0;
  }
  const char *at = p->value;
  uint64_t least = key == 4 ? 2 : 1; /* base of digits, leaders */
  if (key > 3 && (!read_number(&at, &number) || at != p->value + p->length || number < least || number > UINT32_MAX)) {
    return snprintf(fault, size, "%s=%.*s: expected a whole number, at least %d", KEYS[key], (int)p->length, p->value, (int)least), 0;
  }
  if (key == 4) r->radix = (uint32_t)number;
  if (key == 5) r->leaders = (uint32_t)number;
  return 1;
}

/* One line without comment; 1: a rule, 0: an error, -1: nothing. */
static int read_line(rule *r, const char *line, size_t length, char *fault, size_t size) {
  const char *at = line, *end = line + length;
  unsigned seen = 0;
  int words = 0;
  *r = (rule){.operation = -1, .ranks = {0, ANY}, .per_server = {0, ANY}, .bytes = {0, ANY}};
  while (at < end) {
    while (at < end && strchr(" \t\r", *at)) at++;
    size_t word = 0;
    while (at + word < end && !strchr(" \t\r", at[word])) word++;
    if (word == 0) break;
    const char *equals = memchr(at, '=', word);
    if (words++ == 0) {
      for (int i = 0; i < OPERATIONS; i++)
        if (is(at, word, operation_names[i])) r->operation = i;
      if (r->operation < 0) {
        return snprintf(fault, size, "%.*s: expected alltoall, alltoallv or alltoallw", (int)word, at), 0;
      }
    } else if (equals == NULL) {
      return snprintf(fault, size, "%.*s: expected key=value", (int)word, at), 0;
    } else {
      pair p = {at, equals + 1, (size_t)(equals - at), word - (size_t)(equals - at) - 1};
      if (!read_pair(r, &p, &seen, fault, size)) return 0;
    }
    at += word;
  }
  if (words == 0) return -1;
  if (!(seen & 1u << 3)) return snprintf(fault, size, "the line names no algorithm: add algorithm=NAME"), 0;
  return rule_check_options(r, fault, size);
}

static int meet(const range *a, const range *b) {
  return a->low <= b->high && b->low <= a->high;
}

static int holds(const range *outer, const range *inner) {
  return outer->low <= inner->low && inner->high <= outer->high;
}

/* A later rule may be wider than an earlier one, as the first match counts; any other overlap with another choice is a mistake. */
static int contradict(const rule *a, const rule *b) {
  if (a->operation != b->operation) return 0;
  if (!meet(&a->ranks, &b->ranks) || !meet(&a->per_server, &b->per_server) || !meet(&a->bytes, &b->bytes)) return 0;
  if (strcmp(a->algorithm, b->algorithm) == 0 && a->radix == b->radix && a->leaders == b->leaders) return 0;
  int wider = holds(&b->ranks, &a->ranks) && holds(&b->per_server, &a->per_server) && holds(&b->bytes, &a->bytes);
  int same = wider && holds(&a->ranks, &b->ranks) && holds(&a->per_server, &b->per_server) && holds(&a->bytes, &b->bytes);
  return same || !wider;
}

int rules_read(settings *s, const char *text, const char *name) {
  int first = s->rule_count;
  char fault[1700];
  for (int number = 1; *text != 0; number++) {
    size_t whole = strcspn(text, "\n"), length = whole;
    const char *comment = memchr(text, '#', whole);
    if (comment != NULL) length = (size_t)(comment - text);
    rule *larger = realloc(s->rules, ((size_t)s->rule_count + 1) * sizeof *larger);
    if (larger == NULL) return 0;
    s->rules = larger;
    rule *r = &s->rules[s->rule_count];
    int read = read_line(r, text, length, fault, sizeof fault);
    r->line = number;
    for (int i = first; read == 1 && i < s->rule_count; i++) {
      if (!contradict(&s->rules[i], r)) continue;
      snprintf(fault, sizeof fault, "the rule contradicts line %d, which covers some of the same cases", s->rules[i].line);
      read = 0;
      break;
    }
    if (read == 0) {
      snprintf(s->fault, sizeof s->fault, "%.200s, line %d: %.1700s", name, number, fault);
      return 0;
    }
    if (read == 1) s->rule_count++;
    text += whole + (text[whole] == '\n');
  }
  return 1;
}
