#include "runtime/cuda/nccl/NcclConnection.h"

#include "runtime/support/SignalsBlocked.h"

#include <condition_variable>
#include <cuda_runtime_api.h>
#include <mutex>
#include <thread>

namespace tessera::cuda {

using Clock = std::chrono::steady_clock;

namespace {
// A failure elsewhere is noticed within this time.
constexpr std::chrono::milliseconds nap{20};

/// Outlives a wait that is given up.
struct Attempt {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  ncclResult_t result = ncclSuccess;
  ncclComm_t comm = nullptr;
};

void attempt(const NcclLibrary &nccl, const NcclSeat &seat, Attempt &state) {
  cudaSetDevice(seat.device);
  ncclComm_t comm = nullptr;
  ncclResult_t result =
      nccl.commInitRank(&comm, seat.size, seat.id, seat.member);
  std::lock_guard<std::mutex> lock(state.mutex);
  state.comm = comm;
  state.result = result;
  state.done = true;
  state.changed.notify_all();
}
} // namespace

Status connectNccl(const NcclLibrary &nccl, const NcclSeat &seat,
                   const Rank &rank, ncclComm_t *comm) {
  auto state = std::make_shared<Attempt>();
  {
    SignalsBlocked blocked;
    std::thread([&nccl, seat, state] { attempt(nccl, seat, *state); }).detach();
  }
  Clock::time_point deadline = Clock::now() + rank.timeout;
  std::unique_lock<std::mutex> lock(state->mutex);
  while (!state->changed.wait_for(lock, nap, [&] { return state->done; })) {
    if (rank.communicator->failed())
      return rank.communicator->failure();
    if (Clock::now() >= deadline)
      return {TSR_TIMEOUT,
              concat("nccl: connecting rank ", rank.number, " over ", seat.over,
                     " did not finish within ", rank.timeout.count(), " ms; ",
                     rank.communicator->describeOthers())};
  }
  *comm = state->comm;
  return nccl.statusOf(state->result, "connecting " + seat.over);
}

} // namespace tessera::cuda
