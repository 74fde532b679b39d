#include "runtime/cuda/collectives/CollectiveStream.h"

namespace tessera::cuda {

void CollectiveStream::fork() {
  forked.record(program);
  check(cudaStreamWaitEvent(stream.get(), forked.get()),
        "starting a collective");
}

void CollectiveStream::join(const void *buffer) {
  auto found = done.find(buffer);
  if (found == done.end())
    fail(TSR_INTERNAL, "waits for what was not started");
  check(cudaStreamWaitEvent(program, found->second.get()),
        "waiting for a collective");
}

} // namespace tessera::cuda
