#include "HostTensor.h"

#include <cstring>

namespace tessera {

HostTensor::HostTensor(const Rank &rank, const TensorInfo &tensor)
    : device(*rank.device), tensor(tensor), offset(rank.offsetOf(tensor)) {
  if (unsigned char *arena = device.hostArena())
    direct = arena + offset;
  else
    copy.resize(tensor.localBytes());
}

HostTensor HostTensor::toRead(const Rank &rank, const TensorInfo &tensor) {
  HostTensor result(rank, tensor);
  if (!result.direct)
    result.device.read(result.offset, tensor.localBytes(), result.copy.data());
  return result;
}

HostTensor HostTensor::toWrite(const Rank &rank, const TensorInfo &tensor) {
  return HostTensor(rank, tensor);
}

void HostTensor::zero() { std::memset(data(), 0, tensor.localBytes()); }

void HostTensor::store() {
  if (!direct)
    device.write(offset, tensor.localBytes(), copy.data());
}

} // namespace tessera
