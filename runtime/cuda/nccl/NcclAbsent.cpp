//===- NcclAbsent.cpp - a plug-in built without NCCL's header -------------===//

#include "runtime/cuda/collectives/Collectives.h"

namespace tessera::cuda {

static const char *const without =
    "communicator 'nccl' is not in this plug-in, which is built without "
    "nccl.h; install libnccl-dev and build again, or use 'threads'";

std::unique_ptr<Collectives> makeNcclCollectives(Rank &, int, cudaStream_t) {
  fail(TSR_UNSUPPORTED, without);
}

void checkNccl(const LocalRanks &, int) { fail(TSR_UNSUPPORTED, without); }

std::string ncclVersion() { return ""; }

} // namespace tessera::cuda
