/* Arguments that the MPI library refuses at once: on the rank that gives them alone, whatever its peers do. Such a call goes to the MPI
 * library, whose error the program sees; its peers wait until that rank calls again. So nothing may count as refused here that the MPI
 * library would carry out, and nothing else may be left to it on one rank alone. What each refuses was found out by trying. */
#include "interpose.h"
#include <limits.h>

/* A communicator of this rank alone, on which errors return; and whether the MPI library looks at arguments at all, which can be switched off. */
static MPI_Comm alone = MPI_COMM_NULL;
static int looks;

void refused_begins(void) {
  if (settings_of_process()->rule_count == 0 || PMPI_Comm_dup(MPI_COMM_SELF, &alone) != MPI_SUCCESS) return;
  PMPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
  looks = PMPI_Send(NULL, -1, MPI_BYTE, MPI_PROC_NULL, 0, alone) != MPI_SUCCESS;
}

void refused_ends(void) {
  if (alone != MPI_COMM_NULL) PMPI_Comm_free(&alone);
}

/* Whether the MPI library refuses to send this, asked by a message to nobody. A datatype may not be committed. MPICH looks at the address,
 * too; Open MPI does so here, but not in its all-to-alls. */
static int is_refused_in_messages(const char *at, MPI_Count count, MPI_Datatype type) {
#ifdef OPEN_MPI
  static const char somewhere;
  at = &somewhere;
  count = 0;
#endif
  if (alone == MPI_COMM_NULL || ((at != NULL || count == 0) && is_named(type))) return 0;
  return PMPI_Send(at, count > INT_MAX ? INT_MAX : (int)count, type, MPI_PROC_NULL, 0, alone) != MPI_SUCCESS;
}

/* Whether blocks of no elements may be of any type. */
#ifdef MPICH_VERSION
enum { LOOKS_AT_EMPTY = 0 };
#else
enum { LOOKS_AT_EMPTY = 1 };
#endif

static int types_are_refused(const side *s, int ranks) {
  static const char somewhere;
  for (int peer = 0; peer < ranks; peer++) {
    MPI_Count count = count_at(s, (uint32_t)peer);
    if (count == 0 && !LOOKS_AT_EMPTY) continue;
    if (s->types[peer] == MPI_DATATYPE_NULL) return 1;
    /* MPICH looks at the address with the first block only. */
    if (is_refused_in_messages(peer == 0 ? s->base : &somewhere, count, s->types[peer])) return 1;
  }
  return 0;
}

static int side_is_refused(const side *s, int ranks) {
  if (s->form == UNIFORM) return s->count < 0 || s->type == MPI_DATATYPE_NULL || is_refused_in_messages(s->base, s->count, s->type);
  if (s->counts == NULL || s->displacements == NULL || (s->form == BY_TYPE && s->types == NULL)) return 1;
  for (int peer = 0; peer < ranks; peer++)
    if (count_at(s, (uint32_t)peer) < 0) return 1;
  if (s->form == BY_TYPE) return types_are_refused(s, ranks);
  return s->type == MPI_DATATYPE_NULL || is_refused_in_messages(s->base, count_at(s, 0), s->type);
}

#ifdef MPICH_VERSION

/* MPICH refuses two sides that are the same memory, under these conditions. */
static int are_refused_together(const side *a, const side *b, int rank) {
  (void)rank;
  if (a->base != b->base || a->base == (char *)MPI_BOTTOM || a->form != b->form || a->counts != b->counts) return 0;
  if (a->form == UNIFORM) return a->count == b->count && a->count != 0 && a->type == b->type;
  return a->form == BY_TYPE ? a->types == b->types : a->type == b->type;
}

#else

/* Open MPI refuses a block from a rank to itself that has two sizes. */
static int are_refused_together(const side *a, const side *b, int rank) {
  return block_at(a, (uint32_t)rank).bytes != block_at(b, (uint32_t)rank).bytes;
}

#endif

/* Whether the MPI library refuses these arguments; if not, what it knows of their types is noted. */
int is_refused(side *send, side *receive, int in_place, int ranks, int rank) {
  if (receive->base == (char *)(uintptr_t)MPI_IN_PLACE || side_is_refused(receive, ranks)) return 1;
  if (!in_place && side_is_refused(send, ranks)) return 1;
  if (side_measure(receive, NULL) != MPI_SUCCESS || (!in_place && side_measure(send, receive) != MPI_SUCCESS)) return 1;
  return !in_place && looks && are_refused_together(send, receive, rank);
}
