//===- Entries.cpp - the functions behind the CPU's table -----------------===//
#include "runtime/calls/CpuDevice.h"
#include "runtime/calls/Entry.h"
#include "runtime/cpu/CpuEntries.h"
#include "runtime/support/ThreadTeam.h"

#include <algorithm>
#include <cstring>

namespace tessera {

namespace {
// Below this many bytes a second thread costs more than it saves.
constexpr int64_t threadBytes = int64_t(1) << 20;

/// `context` is the Rank.
template <class Body>
int32_t enter(void *context, int64_t op, const Body &body) noexcept {
  Rank &rank = *static_cast<Rank *>(context);
  return enterOp(rank, op, [&] { return body(rank); });
}

using Compute = int32_t (*)(int, void *const *, const int64_t *, std::string *);

template <Compute compute>
int32_t computeEntry(void *context, int64_t op, void *const *buffers,
                     const int64_t *args) {
  return enter(context, op, [&](Rank &rank) -> Status {
    std::string error;
    if (compute(rank.threads, buffers, args, &error) == 0)
      return {};
    return {TSR_INTERNAL, error};
  });
}

int32_t launch(void *context, int64_t op, void *const *buffers,
               const int64_t *args) {
  return enter(context, op, [&](Rank &rank) -> Status {
    auto kernel = reinterpret_cast<tsr_abi_kernel>(buffers[0]);
    cpuLaunch(rank.threads, kernel, buffers + 1, args + TSR_LAUNCH_SCALARS,
              args[TSR_LAUNCH_COUNT], args[TSR_LAUNCH_GRAIN]);
    return {};
  });
}

int32_t fill(void *context, int64_t op, void *const *buffers,
             const int64_t *args) {
  return enter(context, op, [&](Rank &rank) -> Status {
    int64_t bytes = args[TSR_FILL_BYTES];
    int64_t pieces = std::clamp<int64_t>(bytes / threadBytes, 1, rank.threads);
    int64_t length = (bytes + pieces - 1) / pieces;
    char *data = static_cast<char *>(buffers[0]);
    inParallel(static_cast<int>(pieces), [&](int64_t piece) {
      int64_t begin = std::min(piece * length, bytes);
      std::memset(data + begin, 0, std::min(length, bytes - begin));
    });
    return {};
  });
}

int32_t copy(void *context, int64_t op, void *const *buffers,
             const int64_t *args) {
  return enter(context, op, [&](Rank &rank) -> Status {
    int64_t rows = args[TSR_COPY_ROWS], bytes = args[TSR_COPY_ROW_BYTES];
    int64_t srcStride = args[TSR_COPY_SRC_STRIDE];
    int64_t dstStride = args[TSR_COPY_DST_STRIDE];
    int64_t pieces =
        std::clamp<int64_t>(rows * bytes / threadBytes, 1, rank.threads);
    const char *src = static_cast<const char *>(buffers[0]);
    char *dst = static_cast<char *>(buffers[1]);
    inParallel(static_cast<int>(pieces), [&](int64_t piece) {
      for (int64_t row = rows * piece / pieces;
           row < rows * (piece + 1) / pieces; ++row)
        std::memcpy(dst + row * dstStride, src + row * srcStride, bytes);
    });
    return {};
  });
}

/// Runs a call of the communicator, or has the communication thread run it.
/// `target` names it for `wait`.
Status communicate(Rank &rank, int64_t op, bool isAsync, const void *target,
                   Background::Job run) {
  if (!isAsync)
    return run(*rank.communicator);
  if (!rank.background)
    rank.background = std::make_unique<Background>(
        rank.communicator->forLane(Lane::Background), rank.number);
  rank.background->start(op, target, std::move(run),
                         rank.trace ? &rank.trace->background : nullptr);
  return {};
}

Status collect(Rank &rank, const Collective &call, const int64_t *args,
               const void *target, Background::Job run) {
  return communicate(rank, call.op, args[TSR_COLLECTIVE_ASYNC] != 0, target,
                     std::move(run));
}

int32_t allReduce(void *context, int64_t op, void *const *buffers,
                  const int64_t *args) {
  return enter(context, op, [&](Rank &rank) {
    Collective call = collectiveOf(op, args);
    void *data = buffers[0];
    return collect(rank, call, args, data, [=](Communicator &communicator) {
      return communicator.allReduce(call, data);
    });
  });
}

int32_t allGather(void *context, int64_t op, void *const *buffers,
                  const int64_t *args) {
  return enter(context, op, [&](Rank &rank) {
    Collective call = collectiveOf(op, args);
    void *src = buffers[0], *dst = buffers[1];
    return collect(rank, call, args, dst, [=](Communicator &communicator) {
      return communicator.allGather(call, src, dst);
    });
  });
}

int32_t reduceScatter(void *context, int64_t op, void *const *buffers,
                      const int64_t *args) {
  return enter(context, op, [&](Rank &rank) {
    Collective call = collectiveOf(op, args);
    void *src = buffers[0], *dst = buffers[1];
    return collect(rank, call, args, dst, [=](Communicator &communicator) {
      return communicator.reduceScatter(call, src, dst);
    });
  });
}

int32_t wait(void *context, int64_t op, void *const *buffers, const int64_t *) {
  return enter(context, op, [&](Rank &rank) -> Status {
    if (!rank.background)
      return {TSR_INTERNAL, "waits for what was not started"};
    return rank.background->wait(buffers[0]);
  });
}

int32_t allToAll(void *context, int64_t op, void *const *buffers,
                 const int64_t *args) {
  return enter(context, op, [&](Rank &rank) {
    Collective call = collectiveOf(op, args);
    call.routing = routingOf(buffers[2], args);
    void *src = buffers[0], *dst = buffers[1];
    return collect(rank, call, args, dst, [=](Communicator &communicator) {
      return communicator.allToAll(call, src, dst);
    });
  });
}

int32_t shift(void *context, int64_t op, void *const *buffers,
              const int64_t *args) {
  return enter(context, op, [&](Rank &rank) {
    Shift call = shiftOf(rank, collectiveOf(op, args));
    void *src = buffers[0], *dst = buffers[1];
    return collect(rank, call.call, args, dst, [=](Communicator &communicator) {
      return communicator.shift(call, src, dst);
    });
  });
}

int32_t zigzag(void *context, int64_t op, void *const *buffers,
               const int64_t *args) {
  return enter(context, op, [&](Rank &rank) {
    Zigzag call = zigzagOf(rank, collectiveOf(op, args), args);
    ZigzagBuffers own{buffers[0], buffers[1], buffers[2]};
    void *target = call.makesWhole ? own.whole : own.early;
    return collect(rank, call.call, args, target,
                   [=](Communicator &communicator) {
                     return communicator.zigzag(call, own);
                   });
  });
}

int32_t send(void *context, int64_t op, void *const *buffers,
             const int64_t *args) {
  return enter(context, op, [&](Rank &rank) {
    Message message = messageOf(rank, op, args);
    const void *data = buffers[0], *token = buffers[1];
    return communicate(rank, op, args[TSR_MESSAGE_ASYNC] != 0, token,
                       [=](Communicator &communicator) {
                         return communicator.send(message, data);
                       });
  });
}

int32_t receive(void *context, int64_t op, void *const *buffers,
                const int64_t *args) {
  return enter(context, op, [&](Rank &rank) {
    Message message = messageOf(rank, op, args);
    void *data = buffers[0];
    return communicate(rank, op, args[TSR_MESSAGE_ASYNC] != 0, data,
                       [=](Communicator &communicator) {
                         return communicator.receive(message, data);
                       });
  });
}

int32_t broadcast(void *context, int64_t op, void *const *buffers,
                  const int64_t *args) {
  return enter(context, op, [&](Rank &rank) {
    Collective call = collectiveOf(op, args);
    int64_t root = args[TSR_COLLECTIVE_ROOT];
    void *data = buffers[0];
    return collect(rank, call, args, data, [=](Communicator &communicator) {
      return communicator.broadcast(call, root, data);
    });
  });
}
} // namespace

const tsr_abi_api &cpuApi() {
  static const tsr_abi_api api = {sizeof(tsr_abi_api),
                                  launch,
                                  computeEntry<cpuGemm>,
                                  computeEntry<cpuAttention>,
                                  computeEntry<cpuAttentionBackward>,
                                  computeEntry<cpuScatterAdd>,
                                  fill,
                                  copy,
                                  allReduce,
                                  allGather,
                                  reduceScatter,
                                  allToAll,
                                  send,
                                  receive,
                                  broadcast,
                                  wait,
                                  shift,
                                  computeEntry<cpuRouted>,
                                  zigzag,
                                  computeEntry<cpuChunkedGemm>,
                                  computeEntry<cpuChunkedScatterAdd>};
  return api;
}

} // namespace tessera
