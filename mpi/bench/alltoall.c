/* Times all-to-alls, as its standard input says; flitwork mpi bench drives it.
 *
 * Rank 0 prints a line about the job, then reads commands and answers each with a line:
 *
 *     run OPERATION BYTES COUNT    ->  times VERIFIED T1 T2 ...     seconds of COUNT calls; VERIFIED: 1 if all data were right
 *     quit, or the end of the input
 *
 * Ranks start a call behind a dissemination barrier of the program's own. The time of a call is the longest that any
 * rank spent in it, each by its own clock: no clock is compared with another, so neither their offsets nor their drift
 * enter. Data are new before each call and looked at behind each. */
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 128
#define BARRIER_TAG 77

static int ranks, me;

/* One call and what it works on. */
struct work {
    int v; /* MPI_Alltoallv, or MPI_Alltoall */
    int bytes;
    unsigned char *from, *to;
    int *counts, *places;
};

static void fail(const char *what) {
    fprintf(stderr, "flitwork bench: rank %d: %s\n", me, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *room(size_t bytes) {
    void *found = malloc(bytes ? bytes : 1);
    if (!found) fail("no memory for the buffers");
    return found;
}

/* After log2(ranks) rounds everybody has heard of everybody. Its exits lie closer together than those of some
 * libraries' MPI_Barrier, and it is the same for all libraries. */
static void barrier(void) {
    for (int distance = 1; distance < ranks; distance *= 2) {
        int to = (me + distance) % ranks, from = (me - distance + ranks) % ranks;
        MPI_Sendrecv(NULL, 0, MPI_BYTE, to, BARRIER_TAG, NULL, 0, MPI_BYTE, from, BARRIER_TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

/* What the block from one rank for another begins with in the call of that number; byte i is i more. */
static unsigned char first_byte(int source, int target, uint32_t call) {
    uint32_t mixed = (uint32_t)source * 2654435761u ^ (uint32_t)target * 2246822519u ^ call * 3266489917u;
    return (unsigned char)(mixed >> 15);
}

static void fill(const struct work *work, uint32_t call) {
    for (int target = 0; target < ranks; target++) {
        unsigned char *block = work->from + (size_t)target * work->bytes, first = first_byte(me, target, call);
        for (int i = 0; i < work->bytes; i++) block[i] = (unsigned char)(first + i);
    }
    memset(work->to, 0xa5, (size_t)ranks * work->bytes);
}

static int right(const struct work *work, uint32_t call) {
    int wrong = 0;
    for (int source = 0; source < ranks; source++) {
        const unsigned char *block = work->to + (size_t)source * work->bytes;
        unsigned char first = first_byte(source, me, call);
        for (int i = 0; i < work->bytes; i++) wrong |= block[i] ^ (unsigned char)(first + i);
    }
    return !wrong;
}

static double timed(const struct work *work) {
    barrier();
    double began = MPI_Wtime();
    if (work->v)
        MPI_Alltoallv(work->from, work->counts, work->places, MPI_BYTE, work->to, work->counts, work->places, MPI_BYTE,
                      MPI_COMM_WORLD);
    else
        MPI_Alltoall(work->from, work->bytes, MPI_BYTE, work->to, work->bytes, MPI_BYTE, MPI_COMM_WORLD);
    return MPI_Wtime() - began;
}

static void run(int v, int bytes, int count) {
    static uint32_t call;
    struct work work = {v, bytes, room((size_t)ranks * bytes), room((size_t)ranks * bytes), NULL, NULL};
    double *mine = room(sizeof *mine * count), *longest = room(sizeof *longest * count);
    work.counts = room(sizeof *work.counts * ranks);
    work.places = room(sizeof *work.places * ranks);
    for (int rank = 0; rank < ranks; rank++) {
        work.counts[rank] = bytes;
        work.places[rank] = rank * bytes;
    }
    int ok = 1, all;
    for (int i = 0; i < count; i++) {
        fill(&work, ++call);
        mine[i] = timed(&work);
        ok &= right(&work, call);
    }
    MPI_Reduce(mine, longest, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&ok, &all, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
    if (me == 0) {
        printf("times %d", all);
        for (int i = 0; i < count; i++) printf(" %.9g", longest[i]);
        printf("\n");
        fflush(stdout);
    }
    free(work.from), free(work.to), free(work.counts), free(work.places), free(mine), free(longest);
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
    printf("job %d %d %d %.9g %s\n", ranks, fewest, most, MPI_Wtick(), version);
    fflush(stdout);
}

/* Rank 0 reads, all know: what to do (0: stop, 1: alltoall, 2: alltoallv), bytes, count. */
static void next(int command[3]) {
    char line[LINE], name[LINE];
    memset(command, 0, 3 * sizeof *command);
    if (me == 0 && fgets(line, sizeof line, stdin) &&
        sscanf(line, "run %127s %d %d", name, &command[1], &command[2]) == 3) {
        command[0] = !strcmp(name, "alltoall") ? 1 : !strcmp(name, "alltoallv") ? 2 : 0;
        if (!command[0] || command[1] < 0 || command[2] < 1 || (int64_t)command[1] * ranks > INT32_MAX)
            fail("cannot do this command");
    }
    MPI_Bcast(command, 3, MPI_INT, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int command[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    introduce();
    for (next(command); command[0]; next(command)) run(command[0] == 2, command[1], command[2]);
    MPI_Finalize();
    return 0;
}
