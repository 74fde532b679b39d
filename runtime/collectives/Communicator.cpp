//===- Communicator.cpp - what follows from the other calls ---------------===//

#include "runtime/collectives/Communicator.h"

#include "runtime/support/DType.h"

#include <cstring>

namespace tessera {

void Routing::clearUnsent(void *result, int64_t elementBytes) const {
  int64_t bytes = rowElements * elementBytes;
  for (int64_t row = 0; gates && row < experts * tokens; ++row)
    if (!sends(row))
      std::memset(static_cast<char *>(result) + row * bytes, 0, bytes);
}

Status Communicator::allGatherCoalesced(const Coalesced &what) {
  for (const Coalesced::Member &member : what.members)
    if (Status status = allGather(member.call, member.source, member.result);
        !status.ok())
      return status;
  return {};
}

Status Communicator::reduceScatterCoalesced(const Coalesced &what) {
  for (const Coalesced::Member &member : what.members)
    if (Status status =
            reduceScatter(member.call, member.source, member.result);
        !status.ok())
      return status;
  return {};
}

std::shared_ptr<StartedMessage> Communicator::startSend(const Message &,
                                                        const void *) {
  return nullptr;
}

std::shared_ptr<StartedMessage> Communicator::startReceive(const Message &,
                                                           void *) {
  return nullptr;
}

Status Communicator::finish(StartedMessage &) {
  return {TSR_INTERNAL, "no message was started"};
}

Status Communicator::shift(const Shift &shift, const void *src, void *dst) {
  const Collective &call = shift.call;
  int64_t bytes = call.count * dtypeBytes(call.dtype);
  Message to{call.op, shift.next, bytes}, from{call.op, shift.previous, bytes};
  if (!shift.sendsFirst)
    if (Status status = receive(from, dst); !status.ok())
      return status;
  if (Status status = send(to, src); !status.ok())
    return status;
  return shift.sendsFirst ? receive(from, dst) : Status{};
}

namespace {

/// Half of each of `outer` rows of a slice.
struct Half {
  char *data;
  int64_t rows, bytes;

  char *row(int64_t number) const { return data + 2 * number * bytes; }
  void copyTo(char *chunk) const {
    for (int64_t i = 0; i < rows; ++i)
      std::memcpy(chunk + i * bytes, row(i), bytes);
  }
  void copyFrom(const char *chunk) const {
    for (int64_t i = 0; i < rows; ++i)
      std::memcpy(row(i), chunk + i * bytes, bytes);
  }
};

} // namespace

Status Communicator::zigzag(const Zigzag &zigzag,
                            const ZigzagBuffers &buffers) {
  const Collective &call = zigzag.call;
  const int64_t bytes = call.count * dtypeBytes(call.dtype);
  const std::unique_ptr<char[]> packed(new char[size_t(call.outer * bytes)]);
  for (int64_t number = 0; number < 2 * zigzag.size(); ++number) {
    const int64_t slice = Zigzag::slicedAt(number);
    const int64_t pair = zigzag.pairedAt(number);
    const bool hasHalf = slice == zigzag.member,
               hasChunk = pair == zigzag.member;
    Half half{static_cast<char *>(buffers.whole) + number % 2 * bytes,
              call.outer, bytes};
    char *chunk =
        hasChunk ? static_cast<char *>(buffers.chunk(zigzag.isEarly(number)))
                 : packed.get();
    if (hasHalf && !zigzag.makesWhole)
      half.copyTo(chunk);
    if (hasHalf != hasChunk) {
      const bool sends = hasHalf != zigzag.makesWhole;
      Message message{call.op, zigzag.ranks[size_t(hasHalf ? pair : slice)],
                      call.outer * bytes};
      Status status = sends ? send(message, chunk) : receive(message, chunk);
      if (!status.ok())
        return status;
    }
    if (hasHalf && zigzag.makesWhole)
      half.copyFrom(chunk);
  }
  return {};
}

} // namespace tessera
