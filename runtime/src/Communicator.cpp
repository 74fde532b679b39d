//===- Communicator.cpp - what follows from the other calls ---------------===//

#include "Communicator.h"

#include "DType.h"

#include <cstring>

namespace tessera {

void Routing::clearUnsent(void *result, int64_t elementBytes) const {
  int64_t bytes = rowElements * elementBytes;
  for (int64_t row = 0; gates && row < experts * tokens; ++row)
    if (!sends(row))
      std::memset(static_cast<char *>(result) + row * bytes, 0, bytes);
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

} // namespace tessera
