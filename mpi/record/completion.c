/* Waiting, testing, probing, starting again; the beginning and the end. */
#include "record.h"

#include <stdlib.h>
#include <string.h>

#define MOST 64

/* What calls on several requests need besides: the handles as they were, and statuses where the program wants none. */
struct several {
  MPI_Request *handles;
  MPI_Status *statuses;
  void *room;
  MPI_Request few_handles[MOST];
  MPI_Status few_statuses[MOST];
};

static void prepare(struct several *several, int count, const MPI_Request *requests, MPI_Status *given) {
  size_t many = count > 0 ? (size_t)count : 0;
  several->room = NULL;
  several->handles = several->few_handles;
  several->statuses = several->few_statuses;
  if (many > MOST && (several->room = malloc(many * (sizeof *requests + sizeof *given)))) {
    several->statuses = several->room;
    several->handles = (MPI_Request *)(several->statuses + many);
  }
  if (many) memcpy(several->handles, requests, many * sizeof *requests);
  if (given != MPI_STATUSES_IGNORE) several->statuses = given;
}

static void complete(MPI_Request handle, const MPI_Status *status) {
  if (flitwork_records()) flitwork_request_complete(flitwork_key(handle), status);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  MPI_Request handle = *request;
  MPI_Status spare, *to = status == MPI_STATUS_IGNORE ? &spare : status;
  flitwork_enter();
  int rc = PMPI_Wait(request, to);
  complete(handle, to);
  flitwork_leave();
  return rc;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
  MPI_Request handle = *request;
  MPI_Status spare, *to = status == MPI_STATUS_IGNORE ? &spare : status;
  flitwork_enter();
  int rc = PMPI_Test(request, flag, to);
  if (rc == MPI_SUCCESS && *flag) complete(handle, to);
  flitwork_leave();
  return rc;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  struct several several;
  flitwork_enter();
  prepare(&several, count, requests, statuses);
  int rc = PMPI_Waitall(count, requests, several.statuses);
  for (int i = 0; i < count; i++) complete(several.handles[i], &several.statuses[i]);
  free(several.room);
  flitwork_leave();
  return rc;
}

int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[]) {
  struct several several;
  flitwork_enter();
  prepare(&several, count, requests, statuses);
  int rc = PMPI_Testall(count, requests, flag, several.statuses);
  for (int i = 0; i < count && rc == MPI_SUCCESS && *flag; i++) complete(several.handles[i], &several.statuses[i]);
  free(several.room);
  flitwork_leave();
  return rc;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
  struct several several;
  MPI_Status spare, *to = status == MPI_STATUS_IGNORE ? &spare : status;
  flitwork_enter();
  prepare(&several, count, requests, NULL);
  int rc = PMPI_Waitany(count, requests, index, to);
  if (rc == MPI_SUCCESS && *index != MPI_UNDEFINED) complete(several.handles[*index], to);
  free(several.room);
  flitwork_leave();
  return rc;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
  struct several several;
  MPI_Status spare, *to = status == MPI_STATUS_IGNORE ? &spare : status;
  flitwork_enter();
  prepare(&several, count, requests, NULL);
  int rc = PMPI_Testany(count, requests, index, flag, to);
  if (rc == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED) complete(several.handles[*index], to);
  free(several.room);
  flitwork_leave();
  return rc;
}

#define SOME(Name) \
  int MPI_##Name(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[]) { \
    struct several several; \
    flitwork_enter(); \
    prepare(&several, count, requests, statuses); \
    int rc = PMPI_##Name(count, requests, done, indices, several.statuses); \
    for (int i = 0; rc == MPI_SUCCESS && *done != MPI_UNDEFINED && i < *done; i++) \
      complete(several.handles[indices[i]], &several.statuses[i]); \
    free(several.room); \
    flitwork_leave(); \
    return rc; \
  }
SOME(Waitsome)
SOME(Testsome)

int MPI_Start(MPI_Request *request) {
  flitwork_enter();
  int rc = PMPI_Start(request);
  if (rc == MPI_SUCCESS && flitwork_records()) flitwork_request_start(flitwork_key(*request));
  flitwork_leave();
  return rc;
}

int MPI_Startall(int count, MPI_Request requests[]) {
  flitwork_enter();
  int rc = PMPI_Startall(count, requests);
  for (int i = 0; i < count && rc == MPI_SUCCESS && flitwork_records(); i++) flitwork_request_start(flitwork_key(requests[i]));
  flitwork_leave();
  return rc;
}

int MPI_Request_free(MPI_Request *request) {
  uint64_t key = flitwork_key(*request);
  flitwork_enter();
  int rc = PMPI_Request_free(request);
  if (rc == MPI_SUCCESS && flitwork_records()) flitwork_request_free(key);
  flitwork_leave();
  return rc;
}

int MPI_Cancel(MPI_Request *request) {
  flitwork_enter();
  int rc = PMPI_Cancel(request);
  if (rc == MPI_SUCCESS && flitwork_records()) flitwork_request_cancel(flitwork_key(*request));
  flitwork_leave();
  return rc;
}

/* What a probe waits for is no computation. */
int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status) {
  flitwork_enter();
  int rc = PMPI_Probe(source, tag, comm, status);
  flitwork_leave();
  return rc;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
  flitwork_enter();
  int rc = PMPI_Iprobe(source, tag, comm, flag, status);
  flitwork_leave();
  return rc;
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status) {
  MPI_Status spare, *to = status == MPI_STATUS_IGNORE ? &spare : status;
  flitwork_enter();
  int rc = PMPI_Mprobe(source, tag, comm, message, to);
  if (rc == MPI_SUCCESS) flitwork_matched(comm, *message, to);
  flitwork_leave();
  return rc;
}

int MPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status) {
  MPI_Status spare, *to = status == MPI_STATUS_IGNORE ? &spare : status;
  flitwork_enter();
  int rc = PMPI_Improbe(source, tag, comm, flag, message, to);
  if (rc == MPI_SUCCESS && *flag) flitwork_matched(comm, *message, to);
  flitwork_leave();
  return rc;
}

int MPI_Init(int *argc, char ***argv) {
  flitwork_enter();
  int rc = PMPI_Init(argc, argv);
  if (rc == MPI_SUCCESS) flitwork_start();
  flitwork_leave();
  return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  flitwork_enter();
  int rc = PMPI_Init_thread(argc, argv, required, provided);
  if (rc == MPI_SUCCESS) flitwork_start();
  flitwork_leave();
  return rc;
}

int MPI_Finalize(void) {
  flitwork_enter();
  if (flitwork_records()) flitwork_end();
  int rc = PMPI_Finalize();
  flitwork_leave();
  return rc;
}
