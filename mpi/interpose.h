/* What the files of libflitwork_mpi share. mpi/README.md says how the parts fit together. */
#ifndef FLITWORK_INTERPOSE_H
#define FLITWORK_INTERPOSE_H
#include "steps.h"
#include <mpi.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Which forms beyond MPI 3 this MPI has. */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000
#define HAS_LARGE_COUNTS 1
#define HAS_PERSISTENT 1
#elif defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#define HAS_PERSISTENT 1
#define HAS_LARGE_COUNTS (OMPI_MAJOR_VERSION >= 6)
#else
#define HAS_LARGE_COUNTS 0
#define HAS_PERSISTENT 0
#endif
/* Those that have persistent collectives have sessions, too. */
#define HAS_SESSIONS HAS_PERSISTENT

#pragma GCC visibility push(hidden)

enum { ALLTOALL, ALLTOALLV, ALLTOALLW, OPERATIONS };
extern const char *const operation_names[OPERATIONS];

/* ---- settings.c, rules.c: what the user asked for; the same text on all ranks gives the same settings ---- */

#define ANY UINT64_MAX
/* Bytes of the longest name of an algorithm, `table:FILE` included: that of a file may have 4,095. */
#define MOST_NAME 4128
typedef struct { uint64_t low, high; } range; /* both included */

typedef struct {
  int operation;
  range ranks, per_server, bytes;
  char algorithm[MOST_NAME]; /* "library": the MPI library's own; "table:FILE" */
  uint32_t radix, leaders;
  int line;            /* in the rules file; 0: from the environment */
} rule;

enum { SYNC_STEPS, SYNC_LOCAL, SYNC_ASYNC };
enum { PROGRESS_HOOK, PROGRESS_THREAD, PROGRESS_NONE };

typedef struct settings {
  uint64_t hash;          /* of the text from which they were read */
  char *text;
  size_t length;
  rule *rules;
  int rule_count;
  int sync, report, strict;
  int exact;              /* an algorithm that is asked for and cannot be used stops the program */
  uint64_t pause_ns;      /* between the starts of two messages */
  uint64_t prepared;      /* communicators that are prepared when they are made */
  int progress;           /* PROGRESS_... */
  const char *servers;    /* FLITWORK_MPI_SERVERS, or NULL */
  const char *map;        /* the text of the map file, or NULL */
  char fault[2048];       /* what is wrong; empty: nothing */
  struct settings *next;
} settings;

settings *settings_of_text(const char *text, size_t length);
settings *settings_of_process(void);
const char *settings_value(const settings *, const char *key);
/* World rank 0's settings become those of all ranks; called once, after MPI_Init. */
void settings_agree_on_world(void);
int settings_are_of_world(void);
void settings_say_started(void);
int rules_read(settings *, const char *text, const char *name);
int rule_set_algorithm(rule *, const char *name, size_t length, char *fault, size_t size);
int rule_check_options(const rule *, char *fault, size_t size);

/* ---- table.c: algorithms from files ---- */
typedef struct table table;
table *table_read(const char *text, char *fault, size_t size);
uint32_t table_ranks(const table *);
uint32_t table_steps(const table *, uint32_t rank);
void table_step(const table *, uint32_t rank, uint32_t step, flitwork_step *out);
void table_free(table *);

/* ---- plan.c: what one rank does for one algorithm ---- */
typedef struct {
  uint32_t peer; /* whose block: destination of an own block, source of a block that stays here; FLITWORK_NOBODY: forwarded */
  uint32_t slot; /* where it lies or lands among the blocks held here; FLITWORK_NOBODY: in the user's buffer */
} item;

typedef struct {
  uint32_t to, from;
  uint32_t send_first, send_count, receive_first, receive_count; /* into plan->sends and plan->receives */
  uint32_t needs_first, needs_count; /* steps whose receive must be complete before this one sends; into plan->needs */
  int waits, gathers; /* gathers: the blocks of the message are copied together first */
} plan_step;

typedef struct {
  plan_step *steps;
  uint32_t count;
  item *sends, *receives;
  uint32_t *needs;
  uint32_t slots;        /* blocks that land in the holding area */
  uint32_t most_gathered;/* most blocks that are copied together and not yet waited for */
  int forwards;          /* on any rank: sizes of others' blocks are needed */
  int made;
  char why_not[256];     /* not empty: there is no such plan */
} plan;

struct comm_state;
typedef struct report_row report_row;
void plan_make(struct comm_state *, const rule *, plan *);
void plan_clear(plan *);

/* ---- buffers.c: blocks in the user's buffers ---- */
enum { UNIFORM, BY_DISPLACEMENT, BY_TYPE };
typedef struct {
  int form, large; /* large: counts are MPI_Count and displacements MPI_Aint; otherwise both int */
  int plain;       /* the type is predefined and has no gaps */
  char *base;
  MPI_Datatype type;
  MPI_Aint extent;
  MPI_Count size, count;
  const void *counts, *displacements;
  const MPI_Datatype *types;
} side;
typedef struct {
  char *at;
  MPI_Count count, bytes;
  MPI_Datatype type;
  int plain;
} block;

side side_uniform(const void *buffer, MPI_Count count, MPI_Datatype type);
side side_v(const void *buffer, const void *counts, const void *displacements, MPI_Datatype type, int large);
side side_w(const void *buffer, const void *counts, const void *displacements, const MPI_Datatype *types, int large);
int side_measure(side *, const side *other);
int side_keep(const side *from, int ranks, side *to);
void side_drop(side *, int ranks);
block block_at(const side *, uint32_t peer);
MPI_Count count_at(const side *, uint32_t peer);
/* How a rank sends messages to itself. */
typedef struct {
  MPI_Comm comm;
  int rank, tag;
} self_channel;
int block_pack(const block *, char *to, self_channel);
int block_unpack(const block *, const char *from, MPI_Count bytes, self_channel);
int block_copy(const block *from, const block *to, self_channel);
int wait_for(MPI_Request *);
int is_named(MPI_Datatype);
int block_isend(const block *, int to, int tag, MPI_Comm, MPI_Request *);
int block_ireceive(const block *, int from, int tag, MPI_Comm, MPI_Request *);

/* ---- engine.c, its functions in engine.h ---- */
typedef struct {
  char *memory;
  size_t size;
} scratch;
enum { SCRATCH_HOLD, SCRATCH_GATHER, SCRATCH_REQUESTS, SCRATCH_SIZES, SCRATCH_IN_PLACE, SCRATCHES };

/* ---- communicator.c: what is kept for a communicator ---- */
typedef struct comm_state {
  MPI_Comm private;       /* everything of ours runs here */
  int ranks, rank;
  const settings *settings;
  int fails;              /* something is wrong here: what was asked for cannot be used */
  int passes[OPERATIONS]; /* handed to the MPI library without a further look */
  report_row *why[OPERATIONS];
  int by_size[OPERATIONS];/* the choice depends on the size of the blocks */
  uint32_t *server_of;    /* NULL: not asked for */
  uint64_t per_server;    /* most ranks on one server */
  uint32_t dims, sizes[8];/* the grid; 0: the ranks do not fill one */
  uint8_t wraps[8];
  uint32_t *place;        /* of each rank its number in the grid */
  plan *plans;            /* of each rule */
  report_row **taken;     /* of each rule */
  scratch scratch[SCRATCHES];
  MPI_Comm user;          /* MPI_COMM_NULL: the program has freed it */
  int driven;             /* on all ranks something lets operations go on that returned before they were complete */
  uint64_t started, made; /* non-blocking operations and persistent ones, counted alike on all ranks */
  atomic_int users;       /* operations that need this, and the communicator itself */
} comm_state;

/* The state of a communicator, made at its first use (which is collective); NULL with the reason in `why`. */
comm_state *communicator_state(MPI_Comm, const char **why);
/* The same, but NULL where there is none yet: for calls that must not wait. */
comm_state *communicator_state_if_made(MPI_Comm);
void communicator_leave(comm_state *);
int is_of_this_world(MPI_Comm, int ranks);
int library_is_on(void);
void library_ends(void);

/* ---- servers.c ---- */
int servers_find(comm_state *, MPI_Comm user, char *fault, size_t size);
int servers_check(const settings *, int world_ranks, char *fault, size_t size);

/* ---- errors.c ---- */
int errors_are_heard(MPI_Comm user);
int errors_return(void);
int errors_return_for(MPI_Comm user);
void errors_as_before(int changed);

/* ---- refused.c ---- */
void refused_begins(void);
void refused_ends(void);
int is_refused(side *send, side *receive, int in_place, int ranks, int rank);

/* ---- choice.c ---- */
enum { BLOCKING, NON_BLOCKING, PERSISTENT, KINDS };
/* What a call comes down to. */
typedef struct {
  comm_state *state;
  const plan *p;          /* NULL: the MPI library carries it out */
  int in_place, nothing;  /* nothing: there is not a byte to send */
  MPI_Count bytes;
  report_row *row;
  int code;               /* MPI_SUCCESS, or what went wrong while the ranks agreed: the result of the call */
} choice;
choice choose(int kind, int operation, side *send, side *receive, MPI_Comm);
int take(int operation, side *send, side *receive, MPI_Comm, int *result);
void prepare_plans(comm_state *);

/* ---- operations.c: all-to-alls that go on after the call ---- */
int take_later(int kind, int operation, side *send, side *receive, MPI_Comm, MPI_Request *, int *result);
/* Lets all operations go on that are under way; whether one came to its end. Never waits. */
int operations_go_on(void);
int operations_under_way(void);

/* ---- progress.c: who calls operations_go_on ---- */
int progress_can_be_had(void);
void progress_wanted(void);
/* The level of threads to ask the MPI library for. */
int progress_level(int required);
/* Whether ranks have levels with which collectives of the MPI library wait for ever; `by_us`: because we have asked for them. */
int progress_levels_clash(int *by_us);
void progress_ends(void);

/* ---- prepare.c ---- */
void prepare(MPI_Comm);

/* ---- report.c ---- */
report_row *report_row_of(const char *operation, const char *text, int taken);
void report_count(report_row *, MPI_Count bytes);
const char *report_text(const report_row *);
void report_print(void);
#if HAS_SESSIONS
void report_print_alone(MPI_Session);
#endif
/* One line on standard error, once for each text. */
void say_once(const char *text);

#pragma GCC visibility pop
#endif
