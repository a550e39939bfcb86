/* Records of messages between two ranks. */
#include "record.h"

#include <string.h>

static uint64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  return count > 0 && size > 0 ? (uint64_t)(count * size) : 0;
}

static void note(struct event *event, MPI_Request *request, int persists, enum request_kind kind) {
  if (persists) {
    flitwork_request_persist(flitwork_key(*request), event, NULL);
    return;
  }
  if (request) event->request = flitwork_request_add(flitwork_key(*request), kind, (event->flags & ANY_PEER) != 0);
  flitwork_write(event, NULL);
}

void flitwork_send(const struct call *call, int flags, MPI_Request *request, int persists) {
  if (!flitwork_records() || call->peer == MPI_PROC_NULL) return;
  struct event event = {.what = SEND,
                        .flags = (uint8_t)flags,
                        .peer = call->peer,
                        .tag = call->tag,
                        .comm = flitwork_comm(call->comm),
                        .bytes = bytes_of(call->count, call->type)};
  note(&event, request, persists, OF_SEND);
}

void flitwork_recv(const struct call *call, const MPI_Status *status, MPI_Request *request, int persists) {
  if (!flitwork_records() || call->peer == MPI_PROC_NULL) return;
  int wild = call->peer == MPI_ANY_SOURCE || call->tag == MPI_ANY_TAG;
  struct event event = {.what = RECV,
                        .flags = (uint8_t)((request ? STARTED : 0) | (request && wild ? ANY_PEER : 0)),
                        .peer = !request && wild ? status->MPI_SOURCE : call->peer,
                        .tag = !request && wild ? status->MPI_TAG : call->tag,
                        .comm = flitwork_comm(call->comm),
                        .bytes = bytes_of(call->count, call->type)};
  note(&event, request, persists, OF_RECV);
}

/* What goes out and comes in at once: two operations that are started, then complete. */
void flitwork_exchanged(const struct call *out, const struct call *in, const MPI_Status *status) {
  if (!flitwork_records()) return;
  /* Any key will do that no handle has. */
  uint64_t keys[2] = {~(uint64_t)0, ~(uint64_t)0 - 1};
  if (in->peer != MPI_PROC_NULL) {
    int wild = in->peer == MPI_ANY_SOURCE || in->tag == MPI_ANY_TAG;
    struct event event = {.what = RECV,
                          .flags = STARTED,
                          .peer = wild ? status->MPI_SOURCE : in->peer,
                          .tag = wild ? status->MPI_TAG : in->tag,
                          .comm = flitwork_comm(in->comm),
                          .request = flitwork_request_add(keys[0], OF_RECV, 0)};
    flitwork_write(&event, NULL);
  }
  if (out->peer != MPI_PROC_NULL) {
    struct event event = {.what = SEND,
                          .flags = STARTED,
                          .peer = out->peer,
                          .tag = out->tag,
                          .comm = flitwork_comm(out->comm),
                          .request = flitwork_request_add(keys[1], OF_SEND, 0),
                          .bytes = bytes_of(out->count, out->type)};
    flitwork_write(&event, NULL);
  }
  if (in->peer != MPI_PROC_NULL) flitwork_request_complete(keys[0], status);
  if (out->peer != MPI_PROC_NULL) flitwork_request_complete(keys[1], status);
}

void flitwork_matched(MPI_Comm comm, MPI_Message message, const MPI_Status *status) {
  if (!flitwork_records() || message == MPI_MESSAGE_NO_PROC || message == MPI_MESSAGE_NULL) return;
  struct event event = {.what = RECV,
                        .flags = STARTED,
                        .peer = status->MPI_SOURCE,
                        .tag = status->MPI_TAG,
                        .comm = flitwork_comm(comm),
                        .request = flitwork_request_add(flitwork_message_key(message), OF_RECV, 0)};
  flitwork_write(&event, NULL);
}
