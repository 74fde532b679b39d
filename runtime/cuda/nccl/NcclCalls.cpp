//===- NcclCalls.cpp - collectives and messages, queued -------------------===//

#include "runtime/collectives/Slices.h"
#include "runtime/cuda/StridedCopy.h"
#include "runtime/cuda/nccl/NcclCollectives.h"
#include "runtime/support/DType.h"

#include <algorithm>

namespace tessera::cuda {

namespace {
ncclDataType_t dataType(int dtype) {
  switch (dtype) {
  case TSR_DTYPE_BF16:
    return ncclBfloat16;
  case TSR_DTYPE_F64:
    return ncclFloat64;
  case TSR_DTYPE_I32:
    return ncclInt32;
  default:
    return ncclFloat32;
  }
}

ncclRedOp_t reductionOf(const Collective &call) {
  return call.reduction == TSR_REDUCE_MAX ? ncclMax : ncclSum;
}
} // namespace

int NcclCollectives::Group::memberOf(int64_t rank) const {
  return static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) -
                          ranks.begin());
}

NcclCollectives::Group &NcclCollectives::use(int64_t op, int64_t axes) {
  Group &group = groups[axes];
  group.lastOp = op;
  lastAxes = axes;
  return group;
}

/// Returns the axes on which the peer is elsewhere: both are in their group.
int64_t NcclCollectives::axesTo(int64_t peer) const {
  std::vector<int64_t> there = rank.metadata->mesh.coordinates(peer);
  int64_t axes = 0;
  for (size_t axis = 0; axis < there.size(); ++axis)
    axes |= int64_t(there[axis] != rank.coordinates[axis]) << axis;
  return axes;
}

Status NcclCollectives::allReduce(const Collective &call, void *data) {
  Group &group = use(call.op, call.axes);
  if (group.size() == 1)
    return {};
  return nccl.statusOf(nccl.allReduce(data, data, call.count,
                                      dataType(call.dtype), reductionOf(call),
                                      group.comm, stream),
                       "all_reduce");
}

/// Gathers or scatters in a group of one, which is a copy.
Status NcclCollectives::copyOwn(int64_t bytes, const void *src, void *dst) {
  if (src != dst)
    copyRows({1, bytes, src, 0, dst, 0}, stream);
  return {};
}

Status NcclCollectives::copyOwn(const Coalesced &what) {
  for (const Coalesced::Member &member : what.members)
    if (Status status = copyOwn(member.call.outer * member.call.count *
                                    dtypeBytes(member.call.dtype),
                                member.source, member.result);
        !status.ok())
      return status;
  return {};
}

/// A whole tensor whose chunks are in pieces lies there chunk by chunk.
int64_t NcclCollectives::stagedBytes(const Group &group,
                                     const Collective &call) const {
  return call.outer == 1
             ? 0
             : group.size() * call.outer * call.count * dtypeBytes(call.dtype);
}

Status NcclCollectives::allGather(const Collective &call, const void *src,
                                  void *dst) {
  return allGatherCoalesced({call, {{call, src, dst}}});
}

Status NcclCollectives::reduceScatter(const Collective &call, const void *src,
                                      void *dst) {
  return reduceScatterCoalesced({call, {{call, src, dst}}});
}

/// NCCL launches what is in a group as one kernel.
Status NcclCollectives::allGatherCoalesced(const Coalesced &what) {
  Group &group = use(what.call.op, what.call.axes);
  if (group.size() == 1)
    return copyOwn(what);
  ncclResult_t result = nccl.groupStart();
  char *staged = reinterpret_cast<char *>(staging.data());
  for (const auto &[call, source, target] : what.members) {
    void *arrived = call.outer == 1 ? target : staged;
    const ncclResult_t each =
        nccl.allGather(source, arrived, call.outer * call.count,
                       dataType(call.dtype), group.comm, stream);
    result = result == ncclSuccess ? each : result;
    staged += stagedBytes(group, call);
  }
  const ncclResult_t ended = nccl.groupEnd(); // also after a failure
  if (Status status =
          nccl.statusOf(result == ncclSuccess ? ended : result, "all_gather");
      !status.ok())
    return status;
  staged = reinterpret_cast<char *>(staging.data());
  for (const auto &[call, source, target] : what.members) {
    const int64_t bytes = call.count * dtypeBytes(call.dtype);
    for (int64_t i = 0; call.outer != 1 && i < group.size(); ++i)
      copyRows({call.outer, bytes, staged + i * call.outer * bytes, bytes,
                static_cast<char *>(target) + i * bytes, group.size() * bytes},
               stream);
    staged += stagedBytes(group, call);
  }
  return {};
}

Status NcclCollectives::reduceScatterCoalesced(const Coalesced &what) {
  Group &group = use(what.call.op, what.call.axes);
  if (group.size() == 1)
    return copyOwn(what);
  char *staged = reinterpret_cast<char *>(staging.data());
  for (const auto &[call, source, target] : what.members) {
    const int64_t bytes = call.count * dtypeBytes(call.dtype);
    for (int64_t i = 0; call.outer != 1 && i < group.size(); ++i)
      copyRows({call.outer, bytes,
                static_cast<const char *>(source) + i * bytes,
                group.size() * bytes, staged + i * call.outer * bytes, bytes},
               stream);
    staged += stagedBytes(group, call);
  }
  staged = reinterpret_cast<char *>(staging.data());
  ncclResult_t result = nccl.groupStart();
  for (const auto &[call, source, target] : what.members) {
    const void *leaving = call.outer == 1 ? source : staged;
    const ncclResult_t each = nccl.reduceScatter(
        leaving, target, call.outer * call.count, dataType(call.dtype),
        reductionOf(call), group.comm, stream);
    result = result == ncclSuccess ? each : result;
    staged += stagedBytes(group, call);
  }
  const ncclResult_t ended = nccl.groupEnd(); // also after a failure
  return nccl.statusOf(result == ncclSuccess ? ended : result,
                       "reduce_scatter");
}

/// Sends each member its `bytes`, and receives as many from it; the own ones
/// are copied.
Status NcclCollectives::swap(const Group &group, const char *out, char *in,
                             int64_t bytes) {
  int own = group.memberOf(rank.number);
  copyRows({1, bytes, out + own * bytes, 0, in + own * bytes, 0}, stream);
  ncclResult_t result = nccl.groupStart();
  for (int i = 0; i < group.size(); ++i) {
    if (i == own)
      continue;
    for (ncclResult_t each :
         {nccl.send(out + i * bytes, bytes, ncclInt8, i, group.comm, stream),
          nccl.recv(in + i * bytes, bytes, ncclInt8, i, group.comm, stream)})
      result = result == ncclSuccess ? each : result;
  }
  ncclResult_t ended = nccl.groupEnd(); // also after a failure
  return nccl.statusOf(result == ncclSuccess ? ended : result, "all_to_all");
}

Status NcclCollectives::allToAll(const Collective &call, const void *src,
                                 void *dst) {
  Group &group = use(call.op, call.axes);
  int64_t size = group.size(), element = dtypeBytes(call.dtype);
  Slices from = sourceSlices(call, element), to = targetSlices(call, element);
  int64_t bytes = from.total();
  if (size == 1)
    return copyOwn(bytes, src, dst);
  char *packed = reinterpret_cast<char *>(staging.data());
  char *arrived = packed + size * bytes;
  auto *source = static_cast<const char *>(src);
  auto *target = static_cast<char *>(dst);
  for (int64_t i = 0; from.count > 1 && i < size; ++i)
    copyRows({from.count, from.bytes, source + i * from.bytes,
              size * from.bytes, packed + i * bytes, from.bytes},
             stream);
  if (Status status = swap(group, from.count > 1 ? packed : source,
                           to.count > 1 ? arrived : target, bytes);
      !status.ok())
    return status;
  for (int64_t i = 0; to.count > 1 && i < size; ++i)
    copyRows({to.count, to.bytes, arrived + i * bytes, to.bytes,
              target + i * to.bytes, size * to.bytes},
             stream);
  return {};
}

Status NcclCollectives::broadcast(const Collective &call, int64_t root,
                                  void *data) {
  Group &group = use(call.op, call.axes);
  if (root < 0 || root >= group.size())
    return {TSR_INTERNAL, concat("broadcast from ", root, ", the group has ",
                                 group.size(), " members")};
  if (group.size() == 1)
    return {};
  return nccl.statusOf(
      nccl.broadcast(data, data, call.count, dataType(call.dtype),
                     static_cast<int>(root), group.comm, stream),
      "broadcast");
}

Status NcclCollectives::send(const Message &message, const void *data) {
  Group &group = use(message.op, axesTo(message.peer));
  return nccl.statusOf(nccl.send(data, message.bytes, ncclInt8,
                                 group.memberOf(message.peer), group.comm,
                                 stream),
                       "send");
}

Status NcclCollectives::receive(const Message &message, void *data) {
  Group &group = use(message.op, axesTo(message.peer));
  return nccl.statusOf(nccl.recv(data, message.bytes, ncclInt8,
                                 group.memberOf(message.peer), group.comm,
                                 stream),
                       "receive");
}

} // namespace tessera::cuda
