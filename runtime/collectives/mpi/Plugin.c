/*===- Plugin.c - the calls of one MPI, in a narrow table -----------------===*/
/* Built once for each ABI of an MPI; for any other MPI by its mpicc:
 *   mpicc -shared -fPIC -O2 -I runtime/include Plugin.c -o libtessera_mpi.so
 *===----------------------------------------------------------------------===*/
#include "tessera/mpi_plugin.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(MPI_Request) <= sizeof(uint64_t),
               "a request of this MPI has no room in the table's");

/* Requests that are tested together. */
enum { mostTested = 32 };

static MPI_Comm lanes[TSR_MPI_LANES];
static int hasStarted = 0;

static MPI_Request requestOf(const tsr_mpi_request *from) {
  MPI_Request request;
  memcpy(&request, &from->handle, sizeof request);
  return request;
}

static void keep(tsr_mpi_request *to, MPI_Request request) {
  to->handle = 0;
  memcpy(&to->handle, &request, sizeof request);
}

static const char *library(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  if (text[0] == 0) {
    char all[MPI_MAX_LIBRARY_VERSION_STRING] = "", version[64] = "";
    MPI_Get_library_version(all, &length);
    all[strcspn(all, ",\n")] = 0; /* the rest describes the build */
    if (sscanf(all, "MPICH Version: %63s", version) == 1)
      snprintf(text, sizeof text, "MPICH %s", version);
    else
      snprintf(text, sizeof text, "%s", all);
  }
  return text;
}

static const char *levelName(int level) {
  return level == MPI_THREAD_MULTIPLE     ? "MPI_THREAD_MULTIPLE"
         : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
         : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
                                          : "MPI_THREAD_SINGLE";
}

static int32_t start(tsr_mpi_place *out) {
  int level = MPI_THREAD_SINGLE, isThere = 0, code;
  if ((code = MPI_Initialized(&isThere)) != MPI_SUCCESS)
    return code;
  code = isThere ? MPI_Query_thread(&level)
                 : MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
  if (code != MPI_SUCCESS)
    return code;
  hasStarted = !isThere;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  out->rank = rank;
  out->size = size;
  out->is_threaded = level == MPI_THREAD_MULTIPLE;
  out->threads = levelName(level);
  for (int lane = 0; lane < TSR_MPI_LANES; ++lane) {
    if ((code = MPI_Comm_dup(MPI_COMM_WORLD, &lanes[lane])) != MPI_SUCCESS)
      return code;
    MPI_Comm_set_errhandler(lanes[lane], MPI_ERRORS_RETURN);
  }
  return MPI_SUCCESS;
}

static int32_t finish(void) {
  int isOver = 0;
  MPI_Finalized(&isOver);
  if (isOver)
    return MPI_SUCCESS;
  for (int lane = 0; lane < TSR_MPI_LANES; ++lane)
    MPI_Comm_free(&lanes[lane]);
  return hasStarted ? MPI_Finalize() : MPI_SUCCESS;
}

static int32_t broadcast(void *data, int32_t bytes) {
  return MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static int32_t gatherAll(const void *own, void *all, int32_t bytes) {
  return MPI_Allgather(own, bytes, MPI_BYTE, all, bytes, MPI_BYTE,
                       MPI_COMM_WORLD);
}

static int32_t startSend(int32_t lane, const void *data, int32_t bytes,
                         int32_t peer, tsr_mpi_request *out) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Isend(data, bytes, MPI_BYTE, peer, 0, lanes[lane], &request);
  keep(out, request);
  return code;
}

static int32_t startReceive(int32_t lane, void *data, int32_t bytes,
                            int32_t peer, tsr_mpi_request *out) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Irecv(data, bytes, MPI_BYTE, peer, 0, lanes[lane], &request);
  keep(out, request);
  return code;
}

static int32_t testSome(tsr_mpi_request *requests, int count, int8_t *done) {
  MPI_Request handles[mostTested];
  MPI_Status statuses[mostTested];
  int indices[mostTested], found = 0;
  for (int i = 0; i < count; ++i)
    handles[i] = requestOf(&requests[i]);
  int code = MPI_Testsome(count, handles, &found, indices, statuses);
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)
    return code;
  for (int i = 0; i < count; ++i)
    keep(&requests[i], handles[i]);
  for (int i = 0; found != MPI_UNDEFINED && i < found; ++i) {
    int hasFailed =
        code == MPI_ERR_IN_STATUS && statuses[i].MPI_ERROR != MPI_SUCCESS;
    done[indices[i]] = hasFailed ? -1 : 1;
  }
  return MPI_SUCCESS;
}

static int32_t test(tsr_mpi_request *requests, int32_t count, int8_t *done) {
  memset(done, 0, (size_t)count);
  for (int32_t first = 0; first < count; first += mostTested) {
    int some = count - first < mostTested ? count - first : mostTested;
    int32_t code = testSome(requests + first, some, done + first);
    if (code != MPI_SUCCESS)
      return code;
  }
  return MPI_SUCCESS;
}

static int32_t cancel(tsr_mpi_request *request) {
  MPI_Request handle = requestOf(request);
  int code = handle == MPI_REQUEST_NULL ? MPI_SUCCESS : MPI_Cancel(&handle);
  keep(request, handle);
  return code;
}

static void describe(int32_t code, char *text, size_t room) {
  char why[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, why, &length) != MPI_SUCCESS)
    snprintf(why, sizeof why, "error %d", (int)code);
  snprintf(text, room, "%s", why);
}

#if defined(OPEN_MPI)
#define FAMILY "Open MPI"
#elif defined(MPICH_VERSION) || defined(MPICH)
#define FAMILY "MPICH"
#else
#define FAMILY "MPI"
#endif

__attribute__((visibility("default"))) const tsr_mpi_plugin_table *
tsr_mpi_plugin(void) {
  static const tsr_mpi_plugin_table table = {TSR_MPI_PLUGIN_VERSION,
                                             FAMILY,
                                             library,
                                             start,
                                             finish,
                                             broadcast,
                                             gatherAll,
                                             startSend,
                                             startReceive,
                                             test,
                                             cancel,
                                             describe};
  return &table;
}
