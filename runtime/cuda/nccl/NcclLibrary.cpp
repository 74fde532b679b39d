#include "runtime/cuda/nccl/NcclLibrary.h"

#include <dlfcn.h>

namespace tessera::cuda {

namespace {
template <class Function>
void find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function)
    fail(TSR_NOT_FOUND, "libnccl.so.2 has no ", name,
         "; install NCCL 2.18 or newer");
}

NcclLibrary open() {
  void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char *why = dlerror();
    fail(TSR_NOT_FOUND, "communicator 'nccl' needs libnccl.so.2: ",
         why ? why : "unknown reason",
         "; install libnccl2, or use communicator 'threads'");
  }
  NcclLibrary nccl{};
  find(library, "ncclGetVersion", nccl.getVersion);
  find(library, "ncclGetUniqueId", nccl.getUniqueId);
  find(library, "ncclCommInitRank", nccl.commInitRank);
  find(library, "ncclCommAbort", nccl.commAbort);
  find(library, "ncclCommDestroy", nccl.commDestroy);
  find(library, "ncclCommGetAsyncError", nccl.commGetAsyncError);
  find(library, "ncclGetErrorString", nccl.getErrorString);
  find(library, "ncclGetLastError", nccl.getLastError);
  find(library, "ncclAllReduce", nccl.allReduce);
  find(library, "ncclAllGather", nccl.allGather);
  find(library, "ncclReduceScatter", nccl.reduceScatter);
  find(library, "ncclBroadcast", nccl.broadcast);
  find(library, "ncclSend", nccl.send);
  find(library, "ncclRecv", nccl.recv);
  find(library, "ncclGroupStart", nccl.groupStart);
  find(library, "ncclGroupEnd", nccl.groupEnd);
  return nccl;
}
} // namespace

const NcclLibrary &NcclLibrary::get() {
  static const NcclLibrary library = open();
  return library;
}

Status NcclLibrary::statusOf(ncclResult_t result,
                             const std::string &what) const {
  if (result == ncclSuccess)
    return {};
  const char *details = getLastError(nullptr);
  return {TSR_INTERNAL,
          concat("nccl: ", what, ": ", getErrorString(result),
                 details && details[0] ? ": " : "", details ? details : "")};
}

} // namespace tessera::cuda
