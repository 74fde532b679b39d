//===- NcclRing.cpp - what a ring of attention passes on ------------------===//

#include "runtime/cuda/StridedCopy.h"
#include "runtime/cuda/nccl/NcclCollectives.h"
#include "runtime/support/DType.h"

namespace tessera::cuda {

Status NcclCollectives::shift(const Shift &shift, const void *src, void *dst) {
  const Collective &call = shift.call;
  Group &group = use(call.op, call.axes);
  const int64_t bytes = call.count * dtypeBytes(call.dtype);
  if (group.size() == 1)
    return copyOwn(bytes, src, dst);
  ncclResult_t result = nccl.groupStart();
  for (ncclResult_t each :
       {nccl.send(src, bytes, ncclInt8, group.memberOf(shift.next), group.comm,
                  stream),
        nccl.recv(dst, bytes, ncclInt8, group.memberOf(shift.previous),
                  group.comm, stream)})
    result = result == ncclSuccess ? each : result;
  ncclResult_t ended = nccl.groupEnd(); // also after a failure
  return nccl.statusOf(result == ncclSuccess ? ended : result, "shift");
}

/// `half` and `chunk` are null where another member has them; `packed` is the
/// half as it travels.
struct NcclCollectives::Part {
  char *half, *chunk, *packed;
  int64_t peer;
};

/// In the order of chunks, which is every member's: two of them may go between
/// the same pair.
std::vector<NcclCollectives::Part>
NcclCollectives::partsOf(const Zigzag &zigzag, const ZigzagBuffers &own) {
  const Collective &call = zigzag.call;
  const int64_t bytes = call.count * dtypeBytes(call.dtype);
  std::vector<Part> parts;
  for (int64_t number = 0; number < 2 * zigzag.size(); ++number) {
    const int64_t slice = Zigzag::slicedAt(number);
    const int64_t pair = zigzag.pairedAt(number), side = number % 2;
    Part part{};
    if (slice == zigzag.member) {
      part.half = static_cast<char *>(own.whole) + side * bytes;
      part.packed = call.outer == 1 ? part.half
                                    : reinterpret_cast<char *>(staging.data()) +
                                          side * call.outer * bytes;
      part.peer = pair;
    }
    if (pair == zigzag.member) {
      part.chunk = static_cast<char *>(own.chunk(zigzag.isEarly(number)));
      part.peer = slice;
    }
    if (part.half || part.chunk)
      parts.push_back(part);
  }
  return parts;
}

/// Exchanges the parts that are not the rank's own on both sides.
Status NcclCollectives::exchange(const Group &group, const Zigzag &zigzag,
                                 const std::vector<Part> &parts) {
  const size_t bytes =
      zigzag.call.outer * zigzag.call.count * dtypeBytes(zigzag.call.dtype);
  ncclResult_t result = nccl.groupStart();
  for (const Part &part : parts) {
    if (part.half && part.chunk)
      continue;
    char *data = part.half ? part.packed : part.chunk;
    const bool sends = (part.half != nullptr) != zigzag.makesWhole;
    const int peer = static_cast<int>(part.peer);
    const ncclResult_t each =
        sends ? nccl.send(data, bytes, ncclInt8, peer, group.comm, stream)
              : nccl.recv(data, bytes, ncclInt8, peer, group.comm, stream);
    result = result == ncclSuccess ? each : result;
  }
  ncclResult_t ended = nccl.groupEnd(); // also after a failure
  return nccl.statusOf(result == ncclSuccess ? ended : result, "zigzag");
}

Status NcclCollectives::zigzag(const Zigzag &zigzag, const ZigzagBuffers &own) {
  const Collective &call = zigzag.call;
  Group &group = use(call.op, call.axes);
  const int64_t bytes = call.count * dtypeBytes(call.dtype);
  const std::vector<Part> parts = partsOf(zigzag, own);
  const auto pack = [&](char *half, char *packed) {
    if (half != packed)
      copyRows({call.outer, bytes, half, 2 * bytes, packed, bytes}, stream);
  };
  const auto unpack = [&](char *packed, char *half) {
    if (half != packed)
      copyRows({call.outer, bytes, packed, bytes, half, 2 * bytes}, stream);
  };
  for (const Part &part : parts)
    if (part.half && !zigzag.makesWhole)
      pack(part.half, part.chunk ? part.chunk : part.packed);
  if (group.size() > 1)
    if (Status status = exchange(group, zigzag, parts); !status.ok())
      return status;
  for (const Part &part : parts)
    if (part.half && zigzag.makesWhole)
      unpack(part.chunk ? part.chunk : part.packed, part.half);
  return {};
}

} // namespace tessera::cuda
