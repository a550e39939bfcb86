/* Times operations, as its standard input says; flitwork mpi bench and flitwork reproduce --mpi drive it.
 *
 * Rank 0 prints a line about the job, then reads commands and answers each with a line:
 *
 *     run OPERATION BYTES COUNT [RANKS]    ->  times VERIFIED T1 T2 ...     seconds of COUNT calls; VERIFIED: 1 if all data were right
 *     quit, or the end of the input
 *
 * RANKS: the first so many ranks take part, on a communicator of their own; all of them without it. Operations are alltoall, alltoallv,
 * broadcast, scatter and gather (the root is rank 0), and point_to_point, in which the last of the ranks sends back what rank 0 sent it:
 * its time is half of that.
 *
 * Ranks start a call behind a dissemination barrier of the program's own. The time of a call is the longest that any
 * rank spent in it, each by its own clock: no clock is compared with another, so neither their offsets nor their drift
 * enter. Data are new before each call and looked at behind each. Ranks that take no part sleep: if they waited as MPI
 * libraries do, they would keep the processors from those that are timed. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE 128
#define ASLEEP_NS 200000
#define ABORT_NS 300000000
#define BARRIER_TAG 77
#define DATA_TAG 78

enum operation { NONE, ALLTOALL, ALLTOALLV, BROADCAST, SCATTER, GATHER, POINT_TO_POINT, OPERATIONS };

static const char *const names[OPERATIONS] = {"", "alltoall", "alltoallv", "broadcast", "scatter", "gather", "point_to_point"};

static int world, me;

/* One call and what it works on: blocks of so many bytes that leave and that arrive here. */
struct work {
    enum operation operation;
    int bytes, ranks, leave, arrive;
    MPI_Comm comm;
    unsigned char *from, *to;
    int *counts, *places;
};

static void fail(const char *what) {
    const struct timespec a_moment = {0, ABORT_NS};
    fprintf(stderr, "flitwork bench: rank %d: %s\n", me, what);
    /* A launcher may drop what it has not read yet when a job is aborted. */
    nanosleep(&a_moment, NULL);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *room(size_t bytes) {
    void *found = malloc(bytes ? bytes : 1);
    if (!found) fail("no memory for the buffers");
    return found;
}

/* Waits for a request, and leaves the processor to others meanwhile. */
static void wait_asleep(MPI_Request *request) {
    const struct timespec asleep = {0, ASLEEP_NS};
    int done = 0;
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    while (!done) {
        nanosleep(&asleep, NULL);
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
}

/* The communicator of the first `ranks` ranks, in which a rank has the number that it has in the world. */
static MPI_Comm first(int ranks) {
    static int known;
    static MPI_Comm found;
    if (ranks == world) return MPI_COMM_WORLD;
    if (ranks != known) {
        if (known && found != MPI_COMM_NULL) MPI_Comm_free(&found);
        MPI_Comm_split(MPI_COMM_WORLD, me < ranks ? 0 : MPI_UNDEFINED, me, &found);
        known = ranks;
    }
    return found;
}

/* After log2(ranks) rounds everybody has heard of everybody. Its exits lie closer together than those of some
 * libraries' MPI_Barrier, and it is the same for all libraries. */
static void barrier(const struct work *work) {
    for (int distance = 1; distance < work->ranks; distance *= 2) {
        int to = (me + distance) % work->ranks, from = (me - distance + work->ranks) % work->ranks;
        MPI_Sendrecv(NULL, 0, MPI_BYTE, to, BARRIER_TAG, NULL, 0, MPI_BYTE, from, BARRIER_TAG, work->comm, MPI_STATUS_IGNORE);
    }
}

/* What the block from one rank for another begins with in the call of that number; byte i is i more. */
static unsigned char first_byte(int source, int target, uint32_t call) {
    uint32_t mixed = (uint32_t)source * 2654435761u ^ (uint32_t)target * 2246822519u ^ call * 3266489917u;
    return (unsigned char)(mixed >> 15);
}

/* For whom the block is that leaves here as number `block`, and for whom those are that arrive. */
static int target_of(const struct work *work, int block) {
    return work->operation == POINT_TO_POINT ? work->ranks - 1 : block;
}

static int target_here(const struct work *work) {
    return work->operation == BROADCAST ? 0 : work->operation == POINT_TO_POINT ? work->ranks - 1 : me;
}

static void fill(const struct work *work, uint32_t call) {
    for (int block = 0; block < work->leave; block++) {
        unsigned char *at = work->from + (size_t)block * work->bytes, begin = first_byte(me, target_of(work, block), call);
        for (int i = 0; i < work->bytes; i++) at[i] = (unsigned char)(begin + i);
    }
    memset(work->to, 0xa5, (size_t)work->arrive * work->bytes);
}

static int right(const struct work *work, uint32_t call) {
    int wrong = 0;
    for (int source = 0; source < work->arrive; source++) {
        const unsigned char *at = work->to + (size_t)source * work->bytes;
        unsigned char begin = first_byte(source, target_here(work), call);
        for (int i = 0; i < work->bytes; i++) wrong |= at[i] ^ (unsigned char)(begin + i);
    }
    return !wrong;
}

/* Rank 0 sends, the last rank sends it back. Half of the time for rank 0, none for the others, of which those between the
 * two do not wait for them here. */
static double there_and_back(const struct work *work) {
    int last = work->ranks - 1, other = me ? 0 : last;
    if (me && me != last) return 0;
    MPI_Sendrecv(NULL, 0, MPI_BYTE, other, BARRIER_TAG, NULL, 0, MPI_BYTE, other, BARRIER_TAG, work->comm, MPI_STATUS_IGNORE);
    double began = MPI_Wtime();
    if (me == 0) {
        MPI_Send(work->from, work->bytes, MPI_BYTE, last, DATA_TAG, work->comm);
        MPI_Recv(work->to, work->bytes, MPI_BYTE, last, DATA_TAG, work->comm, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(work->to, work->bytes, MPI_BYTE, 0, DATA_TAG, work->comm, MPI_STATUS_IGNORE);
        MPI_Send(work->to, work->bytes, MPI_BYTE, 0, DATA_TAG, work->comm);
    }
    return me ? 0 : (MPI_Wtime() - began) / 2;
}

static double timed(const struct work *work) {
    unsigned char *from = work->from, *to = work->to;
    int bytes = work->bytes;
    MPI_Comm comm = work->comm;
    if (work->operation == POINT_TO_POINT) return there_and_back(work);
    barrier(work);
    double began = MPI_Wtime();
    switch (work->operation) {
    case ALLTOALL: MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, comm); break;
    case ALLTOALLV:
        MPI_Alltoallv(from, work->counts, work->places, MPI_BYTE, to, work->counts, work->places, MPI_BYTE, comm);
        break;
    case BROADCAST: MPI_Bcast(me ? to : from, bytes, MPI_BYTE, 0, comm); break;
    case SCATTER: MPI_Scatter(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, 0, comm); break;
    default: MPI_Gather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, 0, comm);
    }
    return MPI_Wtime() - began;
}

/* How many blocks leave here and arrive here. */
static void count_blocks(struct work *work) {
    int root = me == 0, last = me == work->ranks - 1, all = work->ranks;
    switch (work->operation) {
    case BROADCAST: work->leave = root, work->arrive = !root; break;
    case SCATTER: work->leave = root ? all : 0, work->arrive = 1; break;
    case GATHER: work->leave = 1, work->arrive = root ? all : 0; break;
    case POINT_TO_POINT: work->leave = root, work->arrive = root || last; break;
    default: work->leave = work->arrive = all;
    }
}

/* The calls of a rank that takes part: their times, and whether all data were right. */
static int calls(struct work *work, uint32_t call, int count, double *mine) {
    int ok = 1;
    count_blocks(work);
    work->from = room((size_t)work->leave * work->bytes);
    work->to = room((size_t)work->arrive * work->bytes);
    work->counts = room(sizeof *work->counts * work->ranks);
    work->places = room(sizeof *work->places * work->ranks);
    for (int rank = 0; rank < work->ranks; rank++) {
        work->counts[rank] = work->bytes;
        work->places[rank] = rank * work->bytes;
    }
    for (int i = 0; i < count; i++) {
        fill(work, call + i);
        mine[i] = timed(work);
        ok &= right(work, call + i);
    }
    free(work->from), free(work->to), free(work->counts), free(work->places);
    return ok;
}

static void run(const int command[4]) {
    static uint32_t call; /* The same on ranks that take no part. */
    struct work work = {.operation = (enum operation)command[0], .bytes = command[1], .ranks = command[3]};
    MPI_Request request;
    int count = command[2], ok = 1, all;
    double *mine = room(sizeof *mine * count), *longest = room(sizeof *longest * count);
    for (int i = 0; i < count; i++) mine[i] = 0;
    work.comm = first(work.ranks);
    if (me < work.ranks) ok = calls(&work, call, count, mine);
    call += count;
    MPI_Ireduce(mine, longest, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD, &request);
    wait_asleep(&request);
    MPI_Ireduce(&ok, &all, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD, &request);
    wait_asleep(&request);
    if (me == 0) {
        printf("times %d", all);
        for (int i = 0; i < count; i++) printf(" %.9g", longest[i]);
        printf("\n");
        fflush(stdout);
    }
    free(mine), free(longest);
}

/* Ranks on the servers: the fewest and the most. */
static void servers(int *fewest, int *most) {
    MPI_Comm server;
    int here;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &server);
    MPI_Comm_size(server, &here);
    MPI_Comm_free(&server);
    MPI_Allreduce(&here, fewest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&here, most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
}

static void introduce(void) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, fewest, most;
    servers(&fewest, &most);
    MPI_Get_library_version(version, &length);
    if (me) return;
    for (char *c = version; *c; c++)
        if (*c == '\n' || *c == '\t' || *c == '\r') *c = ' ';
    printf("job %d %d %d %.9g %s\n", world, fewest, most, MPI_Wtick(), version);
    fflush(stdout);
}

/* Rank 0 reads, all know: the operation (none: stop), bytes, count, ranks. */
static void next(int command[4]) {
    char line[LINE], name[LINE];
    MPI_Request request;
    memset(command, 0, 4 * sizeof *command);
    if (me == 0 && fgets(line, sizeof line, stdin)) {
        int given = sscanf(line, "run %127s %d %d %d", name, &command[1], &command[2], &command[3]);
        if (given == 3) command[3] = world;
        for (int operation = 1; given >= 3 && operation < OPERATIONS; operation++)
            if (!strcmp(name, names[operation])) command[0] = operation;
        int in_range = command[1] >= 0 && command[2] >= 1 && command[3] >= 2 && command[3] <= world;
        if (given >= 3 && (!command[0] || !in_range || (int64_t)command[1] * command[3] > INT32_MAX))
            fail("cannot do this command");
    }
    MPI_Ibcast(command, 4, MPI_INT, 0, MPI_COMM_WORLD, &request);
    wait_asleep(&request);
}

int main(int argc, char **argv) {
    int command[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &world);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    introduce();
    for (next(command); command[0]; next(command)) run(command);
    MPI_Finalize();
    return 0;
}
