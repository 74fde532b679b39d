//===- StandInNccl.cpp - libnccl.so.2 for ranks that are threads ----------===//
// The device opens it in NCCL's place and calls it in stream order, on the
// streams of StandInStream.h. Sums are in falling rank order and round after
// every addition: nobody may rely on NCCL's order. What it proves is the
// device's use of NCCL, not NCCL.

#include "test/Runtime/cuda/StandInNccl.h"
#include "runtime/support/DType.h"
#include "test/Runtime/cuda/StandInStream.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <nccl.h>

namespace {
StandInNccl state;

/// One member's part of a call.
struct Part {
  const void *send;
  size_t count;
  int kind, type, op;

  bool matches(const Part &other) const {
    return count == other.count && kind == other.kind && type == other.type &&
           op == other.op;
  }
};

/// A message on offer.
struct Post {
  const void *data;
  size_t bytes;
  bool isTaken = false;
};

/// A group's members meet in it, on their streams' threads.
struct Group {
  std::mutex mutex;
  std::condition_variable changed;
  int size = 0, joined = 0;
  std::map<int64_t, std::vector<Part>> calls; ///< keyed by their number
  std::map<int64_t, int> arrived, finished;
  /// Keyed by sender and receiver; in order.
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<Post>>> posts;
};

std::mutex groupsMutex;
std::map<int64_t, std::shared_ptr<Group>> groups; ///< keyed by unique id
int64_t lastId = 0;
} // namespace

struct ncclComm {
  std::shared_ptr<Group> group;
  int rank = 0;
  int64_t calls = 0; ///< executed
  std::atomic<bool> aborted{false};
};

namespace {
int64_t bytesOf(ncclDataType_t type) {
  return type == ncclFloat64    ? 8
         : type == ncclBfloat16 ? 2
         : type == ncclInt8     ? 1
                                : 4;
}

template <class T> T combine(T a, T b, ncclRedOp_t op) {
  return op == ncclMax ? std::max(a, b) : a + b;
}

template <class T>
void reduceAs(const std::vector<const char *> &from, size_t count,
              ncclRedOp_t op, char *out) {
  for (size_t i = 0; i < count; ++i) {
    T sum = reinterpret_cast<const T *>(from.back())[i];
    for (size_t s = from.size() - 1; s-- > 0;)
      sum = combine(sum, reinterpret_cast<const T *>(from[s])[i], op);
    reinterpret_cast<T *>(out)[i] = sum;
  }
}

void reduceBf16(const std::vector<const char *> &from, size_t count,
                ncclRedOp_t op, char *out) {
  using tessera::bf16ToFloat;
  for (size_t i = 0; i < count; ++i) {
    uint16_t sum = reinterpret_cast<const uint16_t *>(from.back())[i];
    for (size_t s = from.size() - 1; s-- > 0;)
      sum = tessera::floatToBf16(combine(
          bf16ToFloat(sum),
          bf16ToFloat(reinterpret_cast<const uint16_t *>(from[s])[i]), op));
    reinterpret_cast<uint16_t *>(out)[i] = sum;
  }
}

void reduce(const std::vector<const char *> &from, size_t count,
            ncclDataType_t type, ncclRedOp_t op, char *out) {
  if (type == ncclBfloat16)
    reduceBf16(from, count, op, out);
  else if (type == ncclFloat64)
    reduceAs<double>(from, count, op, out);
  else if (type == ncclInt32)
    reduceAs<int32_t>(from, count, op, out);
  else
    reduceAs<float>(from, count, op, out);
}

/// Waits until all members have counted themselves in `counter[call]`; false if
/// this member's communicator is aborted meanwhile.
bool meet(ncclComm &comm, std::map<int64_t, int> &counter, int64_t call) {
  Group &group = *comm.group;
  std::unique_lock<std::mutex> lock(group.mutex);
  ++counter[call];
  group.changed.notify_all();
  while (counter[call] < group.size && !comm.aborted.load())
    group.changed.wait_for(lock, std::chrono::milliseconds(5));
  return counter[call] >= group.size;
}

/// Calls that a thread makes between ncclGroupStart and ncclGroupEnd run at the
/// end.
thread_local bool isGrouping = false;
thread_local std::vector<std::pair<cudaStream_t, std::function<void()>>> held;

/// compute(sends, out): fills this member's result from all members' buffers.
template <class Compute>
void queue(ncclComm *comm, cudaStream_t stream, Part part, void *recv,
           size_t recvBytes, Compute compute) {
  std::function<void()> work = [=] {
    if (comm->aborted.load())
      return;
    int64_t call = comm->calls++;
    Group &group = *comm->group;
    {
      std::lock_guard<std::mutex> lock(group.mutex);
      group.calls[call].resize(group.size);
      group.calls[call][comm->rank] = part;
    }
    if (!meet(*comm, group.arrived, call))
      return;
    std::vector<const char *> sends;
    for (const Part &other : group.calls[call]) {
      sends.push_back(static_cast<const char *>(other.send));
      state.mismatches += !other.matches(part);
    }
    std::vector<char> result(recvBytes);
    compute(sends, result.data());
    // All have read before one writes: the call may be in place.
    if (meet(*comm, group.finished, call))
      std::memcpy(recv, result.data(), recvBytes);
    ++state.ran;
  };
  if (isGrouping)
    held.emplace_back(stream, std::move(work));
  else
    stream->push(std::move(work));
}

/// One side of a message.
struct Side {
  ncclComm *comm;
  int peer;
  bool sends;
  void *data;
  size_t bytes;
  cudaStream_t stream;

  std::pair<int, int> pair() const {
    return sends ? std::pair(comm->rank, peer) : std::pair(peer, comm->rank);
  }
};

/// Waits; returns false if the communicator is aborted meanwhile.
template <class Condition>
bool waitUntil(const Side &side, std::unique_lock<std::mutex> &lock,
               Condition condition) {
  while (!condition() && !side.comm->aborted.load())
    side.comm->group->changed.wait_for(lock, std::chrono::milliseconds(5));
  return condition();
}

std::shared_ptr<Post> post(const Side &side) {
  Group &group = *side.comm->group;
  std::lock_guard<std::mutex> lock(group.mutex);
  auto offer = std::make_shared<Post>(Post{side.data, side.bytes});
  group.posts[side.pair()].push_back(offer);
  group.changed.notify_all();
  return offer;
}

void take(const Side &side) {
  Group &group = *side.comm->group;
  std::unique_lock<std::mutex> lock(group.mutex);
  auto &queue = group.posts[side.pair()];
  if (!waitUntil(side, lock, [&] { return !queue.empty(); }))
    return;
  Post &offer = *queue.front();
  state.mismatches += offer.bytes != side.bytes;
  std::memcpy(side.data, offer.data, std::min(offer.bytes, side.bytes));
  offer.isTaken = true;
  queue.pop_front();
  group.changed.notify_all();
}

/// A group's messages go at the same time; a send ends when it is received.
void exchange(const std::vector<Side> &sides) {
  std::vector<std::pair<Side, std::shared_ptr<Post>>> sent;
  for (const Side &side : sides)
    if (side.sends && !side.comm->aborted.load())
      sent.emplace_back(side, post(side));
  for (const Side &side : sides)
    if (!side.sends)
      take(side);
  for (const auto &[side, offer] : sent) {
    std::unique_lock<std::mutex> lock(side.comm->group->mutex);
    waitUntil(side, lock, [&, &offer = offer] { return offer->isTaken; });
  }
  ++state.ran;
}

thread_local std::vector<Side> grouped;

ncclResult_t pass(const Side &side) {
  if (side.peer == side.comm->rank || side.peer >= side.comm->group->size)
    return ncclInvalidArgument;
  if (isGrouping)
    grouped.push_back(side);
  else
    side.stream->push([=] { exchange({side}); });
  return ncclSuccess;
}
} // namespace

extern "C" {

StandInNccl *standInNccl() { return &state; }

ncclResult_t ncclGetVersion(int *version) {
  *version = 22803;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  std::lock_guard<std::mutex> lock(groupsMutex);
  *id = {};
  int64_t number = ++lastId;
  std::memcpy(id, &number, sizeof number);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int size, ncclUniqueId id,
                              int rank) {
  int64_t number = 0;
  std::memcpy(&number, &id, sizeof number);
  std::shared_ptr<Group> group;
  {
    std::lock_guard<std::mutex> lock(groupsMutex);
    std::shared_ptr<Group> &slot = groups[number];
    if (!slot)
      slot = std::make_shared<Group>();
    group = slot;
  }
  while (state.initHangs.load())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::unique_lock<std::mutex> lock(group->mutex);
  group->size = size;
  ++group->joined;
  group->changed.notify_all();
  group->changed.wait(lock, [&] { return group->joined >= size; });
  *comm = new ncclComm;
  (*comm)->group = group;
  (*comm)->rank = rank;
  ++state.created;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  ++state.aborted;
  comm->aborted = true; // stays: work on the stream still looks at it
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t) {
  ++state.destroyed;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t *error) {
  *error = state.reportsError.load() ? ncclRemoteError : ncclSuccess;
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
  return result == ncclRemoteError ? "remote process exited" : "an error";
}

const char *ncclGetLastError(ncclComm_t) { return "stand-in"; }

ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  queue(comm, stream, {send, count, 0, type, op}, recv, count * bytesOf(type),
        [=](const std::vector<const char *> &sends, char *out) {
          reduce(sends, count, type, op, out);
        });
  return ncclSuccess;
}

ncclResult_t ncclAllGather(const void *send, void *recv, size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  size_t bytes = count * bytesOf(type);
  queue(comm, stream, {send, count, 1, type, 0}, recv,
        bytes * comm->group->size,
        [=](const std::vector<const char *> &sends, char *out) {
          for (size_t i = 0; i < sends.size(); ++i)
            std::memcpy(out + i * bytes, sends[i], bytes);
        });
  return ncclSuccess;
}

ncclResult_t ncclReduceScatter(const void *send, void *recv, size_t count,
                               ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  size_t bytes = count * bytesOf(type);
  queue(comm, stream, {send, count, 2, type, op}, recv, bytes,
        [=](std::vector<const char *> sends, char *out) {
          for (const char *&from : sends)
            from += comm->rank * bytes;
          reduce(sends, count, type, op, out);
        });
  return ncclSuccess;
}

ncclResult_t ncclBroadcast(const void *send, void *recv, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  size_t bytes = count * bytesOf(type);
  queue(comm, stream, {send, count, 3, type, root}, recv, bytes,
        [=](const std::vector<const char *> &sends, char *out) {
          std::memcpy(out, sends[root], bytes);
        });
  return ncclSuccess;
}

ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream) {
  return pass({comm, peer, true, const_cast<void *>(send),
               count * bytesOf(type), stream});
}

ncclResult_t ncclRecv(void *recv, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return pass({comm, peer, false, recv, count * bytesOf(type), stream});
}

ncclResult_t ncclGroupStart() {
  isGrouping = true;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  isGrouping = false;
  auto most = static_cast<int>(held.size());
  for (int seen = state.largestGroup; seen < most;)
    state.largestGroup.compare_exchange_weak(seen, most);
  for (auto &[stream, work] : held)
    stream->push(std::move(work));
  held.clear();
  std::vector<Side> sides;
  sides.swap(grouped);
  if (!sides.empty())
    sides.front().stream->push([=] { exchange(sides); });
  return ncclSuccess;
}

} // extern "C"
