#include "runtime/cuda/step/LaunchBatch.h"

#include "runtime/cuda/Check.h"

#include <algorithm>

namespace tessera::cuda {

void LaunchBatch::expectEmpty() const {
  if (count > 0)
    fail(TSR_CORRUPT, "only ", count, " of ", total, " launches of kernel '",
         kernel->name,
         "' that run as one follow one another; compile the "
         "model again");
}

void LaunchBatch::add(const Call &call, Image &image, cudaStream_t stream) {
  const tsr_abi_device_kernel &next = kernelOf(call.buffers);
  const int64_t left = call.args[TSR_LAUNCH_FOLLOWERS];
  if (count > 0 && (kernel != &next || count + left + 1 != total))
    expectEmpty();
  kernel = &next;
  total = count + left + 1;
  if (!next.batched || total > TSR_BATCH_POINTERS ||
      next.buffers * total > TSR_BATCH_POINTERS)
    fail(TSR_CORRUPT, total, " launches of kernel '", next.name, "' with ",
         next.buffers, " buffers cannot run as one; compile the model again");
  std::copy_n(call.buffers + 1, next.buffers,
              table.begin() + count * next.buffers);
  ++count;
  if (left > 0)
    return;
  image.launchBatch(next, count, table, stream);
  count = 0;
}

} // namespace tessera::cuda
