#include "runtime/device/HostTensor.h"

#include <cstring>

namespace tessera {

HostTensor::HostTensor(const Rank &rank, const TensorInfo &tensor, Use use)
    : device(*rank.device), tensor(tensor), offset(rank.offsetOf(tensor)) {
  if (unsigned char *arena = device.hostArena()) {
    host = arena + offset;
    return;
  }
  host = use == Use::Write ? device.stage(tensor.localBytes()) : nullptr;
  if (host)
    return;
  copy.resize(tensor.localBytes());
  host = copy.data();
  if (use == Use::Read)
    device.read(offset, tensor.localBytes(), host);
}

HostTensor HostTensor::toRead(const Rank &rank, const TensorInfo &tensor) {
  return HostTensor(rank, tensor, Use::Read);
}

HostTensor HostTensor::toWrite(const Rank &rank, const TensorInfo &tensor) {
  return HostTensor(rank, tensor, Use::Write);
}

void HostTensor::zero() { std::memset(data(), 0, tensor.localBytes()); }

void HostTensor::store() {
  if (!device.hostArena())
    device.write(offset, tensor.localBytes(), host);
}

} // namespace tessera
