//===- HostTensor.h - a rank's part of a tensor where the host can reach it -===
// The arena itself on a device that shares the host's memory; elsewhere a copy.
//===------------------------------------------------------------------------===
#ifndef TESSERA_RUNTIME_HOSTTENSOR_H
#define TESSERA_RUNTIME_HOSTTENSOR_H

#include "Rank.h"

#include <vector>

namespace tessera {

class HostTensor {
public:
  /// The rank holds the tensor. Its present values.
  static HostTensor toRead(const Rank &rank, const TensorInfo &tensor);
  /// To be filled and stored. A copy starts as zeros, the arena as it is: fill
  /// every element, or `zero` first.
  static HostTensor toWrite(const Rank &rank, const TensorInfo &tensor);

  unsigned char *data() { return direct ? direct : copy.data(); }
  void zero();
  /// Writes a copy back.
  void store();

private:
  HostTensor(const Rank &rank, const TensorInfo &tensor);

  DeviceRank &device;
  const TensorInfo &tensor;
  int64_t offset; ///< in the rank's arena
  unsigned char *direct = nullptr;
  std::vector<unsigned char> copy;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_HOSTTENSOR_H
