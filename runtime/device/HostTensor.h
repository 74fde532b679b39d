//===- HostTensor.h - a rank's part of a tensor on the host -----*- C++ -*-===//
// The arena itself on a device that shares the host's memory; elsewhere a copy.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DEVICE_HOSTTENSOR_H
#define TESSERA_RUNTIME_DEVICE_HOSTTENSOR_H

#include "runtime/device/Rank.h"

#include <vector>

namespace tessera {

class HostTensor {
public:
  /// The rank holds the tensor. Its present values.
  static HostTensor toRead(const Rank &rank, const TensorInfo &tensor);
  /// To be filled and stored. Starts as anything: fill every element, or `zero`
  /// first.
  static HostTensor toWrite(const Rank &rank, const TensorInfo &tensor);

  HostTensor(HostTensor &&) = default;
  HostTensor(const HostTensor &) = delete;

  unsigned char *data() { return host; }
  void zero();
  /// Writes a copy back.
  void store();

private:
  enum class Use { Read, Write };
  HostTensor(const Rank &rank, const TensorInfo &tensor, Use use);

  DeviceRank &device;
  const TensorInfo &tensor;
  int64_t offset;      ///< in the rank's arena
  unsigned char *host; ///< the arena, the device's, or `copy`
  std::vector<unsigned char> copy;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DEVICE_HOSTTENSOR_H
