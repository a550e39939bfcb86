/* libflitwork_record.so: what a program asks of MPI, written down rank by rank. Loaded with LD_PRELOAD.
 *
 * Each rank writes two files to the folder FLITWORK_RECORD_FOLDER: `rank-N.events`, records of 48 bytes, and
 * `rank-N.lists`, the 64-bit numbers that records with `words` > 0 have besides. Each record ends with a checksum of its place, itself
 * and its list. Both are mapped into memory window by
 * window, so that what was recorded is in the files however a program ends. */
#ifndef FLITWORK_RECORD_H
#define FLITWORK_RECORD_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#else
#define HAS_PERSISTENT 0
#endif

#define FORMAT 2

/* What a record is. python/flitwork_mpi/native/record_trace.py has the same numbers; a test compares. */
enum kind {
  NOTHING = 0, /* the end of a file that was cut short */
  START = 1,   /* peer: rank; tag: number of ranks; bytes: FORMAT */
  COMM = 2,    /* a communicator: request: its number; comm: that of its parent; tag: how it was made; bytes: ranks; list: world ranks,
                  then those of the remote group */
  SEND = 3,
  RECV = 4,
  COMPLETE = 5, /* an operation is complete: request; of wildcards peer and tag */
  END = 6,      /* the program called MPI_Finalize */
  UNKNOWN = 7,  /* calls that are not recorded: bytes: how many; list: their name */
  ONE_SIDED = 8, /* between two fences: comm: that of the window; peer; list: bytes that go there, bytes that come from there */
  FENCE = 9,     /* comm: that of the window; tag: 1 if it ends no epoch */
  BARRIER = 16,
  BCAST = 17,
  GATHER = 18,
  GATHERV = 19,
  SCATTER = 20,
  SCATTERV = 21,
  ALLGATHER = 22,
  ALLGATHERV = 23,
  ALLTOALL = 24,
  ALLTOALLV = 25,
  ALLTOALLW = 26,
  REDUCE = 27,
  ALLREDUCE = 28,
  REDUCE_SCATTER = 29,
  REDUCE_SCATTER_BLOCK = 30,
  SCAN = 31,
  EXSCAN = 32
};

enum flag {
  STARTED = 1,    /* the call returned before the operation was complete: `request` says which */
  ANY_PEER = 2,   /* peer and tag follow with COMPLETE */
  DETACHED = 4,   /* nobody waits for it: a buffered send */
  CANCELLED = 8,  /* COMPLETE of a receive that was taken back */
  ORDERED = 16,   /* a reduction that does not commute */
  REMOTE = 32,    /* a communicator between two groups */
  PERSISTENT = 64 /* a start of a persistent collective: the last number of the list says which one of its communicator */
};

/* How a communicator was made: whose calls in the same order make the same one. */
enum origin { FROM_ALL = 0, FROM_GROUP = 1, FROM_BRIDGE = 2, FROM_NOWHERE = 3 };

struct event {
  uint8_t what, flags;
  uint16_t thread;
  uint32_t words; /* numbers in the list */
  uint64_t compute_ns;
  int32_t peer, tag;
  uint32_t comm, request;
  uint64_t bytes;
  uint64_t check; /* of the record's place in the file, what is above, and its list; flitwork_write fills it in */
};

/* The arguments of a call, as far as records need them. */
struct call {
  const void *sendbuf, *recvbuf, *buf;
  MPI_Count count, sendcount, recvcount;
  MPI_Datatype type, sendtype, recvtype;
  const void *sendcounts, *recvcounts; /* int, or MPI_Count where `large` */
  const MPI_Datatype *sendtypes, *recvtypes;
  const MPI_Fint *sendtypes_f, *recvtypes_f;
  int large, peer, tag, root;
  MPI_Op op;
  MPI_Comm comm;
};

/* trace.c */
extern __thread int flitwork_depth; /* calls of MPI within calls of MPI are not the program's */
void flitwork_start(void);
void flitwork_end(void);
void flitwork_enter(void);
void flitwork_leave(void);
int flitwork_records(void); /* whether the call at hand is recorded */
void flitwork_write(struct event *event, const int64_t *list);
void flitwork_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* communicators.c */
void flitwork_comms_start(void);
uint32_t flitwork_comm(MPI_Comm comm);
int flitwork_is_remote(MPI_Comm comm);
void flitwork_comm_made(MPI_Comm parent, MPI_Comm made, enum origin origin);
uint32_t flitwork_comm_of_window(MPI_Comm comm); /* one more, of the same ranks */

/* windows.c */
void flitwork_windows_start(void);
void flitwork_window_made(MPI_Comm comm, MPI_Win window);
void flitwork_fence(int assert, MPI_Win window);
void flitwork_not_fenced(const char *name, MPI_Win window); /* an epoch of another kind begins */
void flitwork_one_sided(const char *name, const struct call *call, MPI_Win window);

/* requests.c */
enum request_kind { OF_SEND, OF_RECV, OF_COLLECTIVE };
uint32_t flitwork_request_add(uint64_t key, enum request_kind kind, int wild);
/* `count` operations that complete together, under one handle; the number of the first. Key 0: nobody asks for them. */
uint32_t flitwork_request_add_all(uint64_t key, uint32_t count);
void flitwork_request_persist(uint64_t key, const struct event *event, const int64_t *list);
void flitwork_request_persist_all(uint64_t key, const struct event *events, uint32_t count); /* they have no lists */
void flitwork_request_start(uint64_t key);
void flitwork_request_cancel(uint64_t key);
void flitwork_request_free(uint64_t key);
void flitwork_request_move(uint64_t from, uint64_t to); /* a matched message becomes a request */
void flitwork_request_complete(uint64_t key, const MPI_Status *status);
uint64_t flitwork_key(MPI_Request request);
uint64_t flitwork_message_key(MPI_Message message);

/* notes.c, collectives.c */
void flitwork_send(const struct call *call, int flags, MPI_Request *request, int persists);
void flitwork_recv(const struct call *call, const MPI_Status *status, MPI_Request *request, int persists);
void flitwork_exchanged(const struct call *out, const struct call *in, const MPI_Status *status);
void flitwork_matched(MPI_Comm comm, MPI_Message message, const MPI_Status *status);
void flitwork_collective(enum kind kind, const struct call *call, MPI_Request *request, int persists);
int64_t flitwork_number_of_init(uint32_t comm);
void flitwork_neighbours(enum kind kind, const struct call *call, MPI_Request *request, int persists);
void flitwork_unknown(const char *name);
void flitwork_unknown_end(void);
#endif
