//===- Entries.cpp - the functions behind the CPU's table -----------------===//
#include "runtime/calls/CpuDevice.h"
#include "runtime/calls/Entry.h"
#include "runtime/collectives/Reduce.h"
#include "runtime/cpu/CpuEntries.h"
#include "runtime/cpu/RoutedProblem.h"
#include "runtime/support/ThreadTeam.h"

#include <algorithm>
#include <cstring>

namespace tessera {

namespace {
struct CpuCall {
  Rank &rank;
  int64_t op;
  void *const *buffers;
  const int64_t *args;
};

/// Runs the entry TSR_ENTRY_<entry>: a specialization for each line of
/// abi_entries.def.
template <int entry> Status run(const CpuCall &call);

template <int entry>
int32_t entryOf(void *context, int64_t op, void *const *buffers,
                const int64_t *args) noexcept {
  Rank &rank = *static_cast<Rank *>(context);
  return enterOp(rank, op, [&] {
    return run<entry>({rank, op, buffers, args});
  });
}

//===----------------------------------------------------------------------===//
// Compute
//===----------------------------------------------------------------------===//

using Compute = int32_t (*)(int, void *const *, const int64_t *, std::string *);

Status compute(const CpuCall &call, Compute function) {
  std::string error;
  if (function(call.rank.threads, call.buffers, call.args, &error) == 0)
    return {};
  return {TSR_INTERNAL, error};
}

/// Notes how many rounds the experts of a layer take.
void noteRounds(const CpuCall &call) {
  RoutedProblem problem;
  std::string error;
  if (decodeRouted(call.args, call.buffers, &problem, &error) != 0)
    return;
  const int64_t rounds = roundsOf(problem);
  Rank &rank = call.rank;
  rank.expertRounds = std::max(rank.expertRounds, rounds);
  if (rank.trace)
    rank.trace->program.expertRounds = rounds;
}

template <> Status run<TSR_ENTRY_GEMM>(const CpuCall &call) {
  return compute(call, cpuGemm);
}

template <> Status run<TSR_ENTRY_CHUNKED_GEMM>(const CpuCall &call) {
  return compute(call, cpuChunkedGemm);
}

template <> Status run<TSR_ENTRY_ATTENTION>(const CpuCall &call) {
  return compute(call, cpuAttention);
}

template <> Status run<TSR_ENTRY_ATTENTION_BACKWARD>(const CpuCall &call) {
  return compute(call, cpuAttentionBackward);
}

template <> Status run<TSR_ENTRY_SCATTER_ADD>(const CpuCall &call) {
  return compute(call, cpuScatterAdd);
}

template <> Status run<TSR_ENTRY_CHUNKED_SCATTER_ADD>(const CpuCall &call) {
  return compute(call, cpuChunkedScatterAdd);
}

template <> Status run<TSR_ENTRY_ROUTED>(const CpuCall &call) {
  Status status = compute(call, cpuRouted);
  if (status.ok() && call.args[TSR_ROUTED_KIND] == TSR_ROUTED_ROUNDS)
    noteRounds(call);
  return status;
}

template <> Status run<TSR_ENTRY_APPEND>(const CpuCall &call) {
  return compute(call, cpuAppend);
}

template <> Status run<TSR_ENTRY_CACHED_ATTENTION>(const CpuCall &call) {
  return compute(call, cpuCachedAttention);
}

template <> Status run<TSR_ENTRY_MERGE_MEANS>(const CpuCall &call) {
  return compute(call, cpuMergeMeans);
}

template <> Status run<TSR_ENTRY_PENALIZE>(const CpuCall &call) {
  return compute(call, cpuPenalize);
}

template <> Status run<TSR_ENTRY_TOP>(const CpuCall &call) {
  return compute(call, cpuTop);
}

template <> Status run<TSR_ENTRY_MERGE_TOP>(const CpuCall &call) {
  return compute(call, cpuMergeTop);
}

template <> Status run<TSR_ENTRY_LAUNCH>(const CpuCall &call) {
  auto kernel = reinterpret_cast<tsr_abi_kernel>(call.buffers[0]);
  cpuLaunch(call.rank.threads, kernel, call.buffers + 1,
            call.args + TSR_LAUNCH_SCALARS, call.args[TSR_LAUNCH_COUNT],
            call.args[TSR_LAUNCH_GRAIN]);
  return {};
}

template <> Status run<TSR_ENTRY_FILL>(const CpuCall &call) {
  int64_t bytes = call.args[TSR_FILL_BYTES];
  int64_t pieces =
      std::clamp<int64_t>(bytes / threadBytes, 1, call.rank.threads);
  int64_t length = (bytes + pieces - 1) / pieces;
  char *data = static_cast<char *>(call.buffers[0]);
  inParallel(static_cast<int>(pieces), [&](int64_t piece) {
    int64_t begin = std::min(piece * length, bytes);
    std::memset(data + begin, 0, std::min(length, bytes - begin));
  });
  return {};
}

template <> Status run<TSR_ENTRY_COPY>(const CpuCall &call) {
  int64_t rows = call.args[TSR_COPY_ROWS];
  int64_t bytes = call.args[TSR_COPY_ROW_BYTES];
  int64_t srcStride = call.args[TSR_COPY_SRC_STRIDE];
  int64_t dstStride = call.args[TSR_COPY_DST_STRIDE];
  int64_t pieces =
      std::clamp<int64_t>(rows * bytes / threadBytes, 1, call.rank.threads);
  const char *src = static_cast<const char *>(call.buffers[0]);
  char *dst = static_cast<char *>(call.buffers[1]);
  inParallel(static_cast<int>(pieces), [&](int64_t piece) {
    for (int64_t row = rows * piece / pieces; row < rows * (piece + 1) / pieces;
         ++row)
      std::memcpy(dst + row * dstStride, src + row * srcStride, bytes);
  });
  return {};
}

//===----------------------------------------------------------------------===//
// Communication
//===----------------------------------------------------------------------===//

/// Runs a job of the communicator, or has the communication thread run it.
/// `target` names the job for `wait`.
Status communicate(const CpuCall &call, bool isAsync, const void *target,
                   Background::Job job) {
  Rank &rank = call.rank;
  if (!isAsync)
    return job(*rank.communicator);
  if (!rank.background)
    rank.background = std::make_unique<Background>(
        rank.communicator->forLane(Lane::Background), rank.number);
  rank.background->start(call.op, target, std::move(job),
                         rank.trace ? &rank.trace->background : nullptr);
  return {};
}

Status collect(const CpuCall &call, const void *target, Background::Job job) {
  return communicate(call, call.args[TSR_COLLECTIVE_ASYNC] != 0, target,
                     std::move(job));
}

/// Starts the message by `start` if it needs no thread, else runs `job`.
template <class Start>
Status exchange(const CpuCall &call, const void *target, Start start,
                Background::Job job) {
  const bool isAsync = call.args[TSR_MESSAGE_ASYNC] != 0;
  if (isAsync)
    if (std::shared_ptr<StartedMessage> message =
            start(*call.rank.communicator)) {
      call.rank.messages.add(call.op, target, std::move(message));
      return {};
    }
  return communicate(call, isAsync, target, std::move(job));
}

template <> Status run<TSR_ENTRY_ALL_REDUCE>(const CpuCall &call) {
  Collective what = collectiveOf(call.op, call.args);
  void *data = call.buffers[0];
  return collect(call, data, [=](Communicator &communicator) {
    return communicator.allReduce(what, data);
  });
}

template <> Status run<TSR_ENTRY_ALL_GATHER>(const CpuCall &call) {
  Collective what = collectiveOf(call.op, call.args);
  void *src = call.buffers[0], *dst = call.buffers[1];
  return collect(call, dst, [=](Communicator &communicator) {
    return communicator.allGather(what, src, dst);
  });
}

template <> Status run<TSR_ENTRY_REDUCE_SCATTER>(const CpuCall &call) {
  Collective what = collectiveOf(call.op, call.args);
  void *src = call.buffers[0], *dst = call.buffers[1];
  return collect(call, dst, [=](Communicator &communicator) {
    return communicator.reduceScatter(what, src, dst);
  });
}

template <> Status run<TSR_ENTRY_ALL_GATHER_COALESCED>(const CpuCall &call) {
  Coalesced what = coalescedOf(call.op, call.buffers, call.args);
  const void *first = what.members.front().result;
  return collect(call, first, [what](Communicator &communicator) {
    return communicator.allGatherCoalesced(what);
  });
}

template <>
Status run<TSR_ENTRY_REDUCE_SCATTER_COALESCED>(const CpuCall &call) {
  Coalesced what = coalescedOf(call.op, call.buffers, call.args);
  const void *first = what.members.front().result;
  return collect(call, first, [what](Communicator &communicator) {
    return communicator.reduceScatterCoalesced(what);
  });
}

template <> Status run<TSR_ENTRY_ALL_TO_ALL>(const CpuCall &call) {
  Collective what = collectiveOf(call.op, call.args);
  what.routing = routingOf(call.buffers[2], call.args);
  void *src = call.buffers[0], *dst = call.buffers[1];
  return collect(call, dst, [=](Communicator &communicator) {
    return communicator.allToAll(what, src, dst);
  });
}

/// Gates are read when the exchange begins: they are there by then, and stay.
template <> Status run<TSR_ENTRY_EXCHANGE_ROWS>(const CpuCall &call) {
  Collective what = collectiveOf(call.op, call.args);
  RowSide source = sourceRowsOf(call.buffers[2], call.args);
  RowSide target = targetRowsOf(call.rank, what, call.buffers[3], call.args);
  const int64_t round = call.args[TSR_COLLECTIVE_ROUND];
  void *src = call.buffers[0], *dst = call.buffers[1];
  return collect(call, dst, [=](Communicator &communicator) {
    RowExchange exchange;
    Status status = makeRowExchange(what, source, target, &exchange, round);
    return status.ok() ? communicator.exchangeRows(exchange, src, dst) : status;
  });
}

template <> Status run<TSR_ENTRY_SHIFT>(const CpuCall &call) {
  Shift what = shiftOf(call.rank, collectiveOf(call.op, call.args), call.args);
  void *src = call.buffers[0], *dst = call.buffers[1];
  return collect(call, dst, [=](Communicator &communicator) {
    return communicator.shift(what, src, dst);
  });
}

template <> Status run<TSR_ENTRY_ZIGZAG>(const CpuCall &call) {
  Zigzag what =
      zigzagOf(call.rank, collectiveOf(call.op, call.args), call.args);
  ZigzagBuffers own{call.buffers[0], call.buffers[1], call.buffers[2]};
  return collect(call, what.makesWhole ? own.whole : own.early,
                 [=](Communicator &communicator) {
                   return communicator.zigzag(what, own);
                 });
}

template <> Status run<TSR_ENTRY_BROADCAST>(const CpuCall &call) {
  Collective what = collectiveOf(call.op, call.args);
  int64_t root = call.args[TSR_COLLECTIVE_ROOT];
  void *data = call.buffers[0];
  return collect(call, data, [=](Communicator &communicator) {
    return communicator.broadcast(what, root, data);
  });
}

template <> Status run<TSR_ENTRY_SEND>(const CpuCall &call) {
  Message message = messageOf(call.rank, call.op, call.args);
  const void *data = call.buffers[0], *token = call.buffers[1];
  return exchange(
      call, token,
      [=](Communicator &communicator) {
        return communicator.startSend(message, data);
      },
      [=](Communicator &communicator) {
        return communicator.send(message, data);
      });
}

template <> Status run<TSR_ENTRY_RECEIVE>(const CpuCall &call) {
  Message message = messageOf(call.rank, call.op, call.args);
  void *data = call.buffers[0];
  return exchange(
      call, data,
      [=](Communicator &communicator) {
        return communicator.startReceive(message, data);
      },
      [=](Communicator &communicator) {
        return communicator.receive(message, data);
      });
}

template <> Status run<TSR_ENTRY_WAIT>(const CpuCall &call) {
  Rank &rank = call.rank;
  const void *buffer = call.buffers[0];
  if (std::optional<Status> status =
          rank.messages.wait(buffer, *rank.communicator,
                             rank.trace ? &rank.trace->messages : nullptr))
    return *std::move(status);
  if (!rank.background)
    return {TSR_INTERNAL, "waits for what was not started"};
  return rank.background->wait(buffer);
}
} // namespace

const tsr_abi_api &cpuApi() {
  static const tsr_abi_api api = {
      sizeof(tsr_abi_api),
#define TSR_ABI_ENTRY(name, NAME, KIND, BUFFERS, ARGUMENTS)                    \
  entryOf<TSR_ENTRY_##NAME>,
#include "tessera/abi_entries.def"
  };
  return api;
}

} // namespace tessera
