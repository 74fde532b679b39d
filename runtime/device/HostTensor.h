//===- HostTensor.h - a rank's part of a tensor on the host -----*- C++ -*-===//
// The arena itself on a device that shares the host's memory; elsewhere a copy.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DEVICE_HOSTTENSOR_H
#define TESSERA_RUNTIME_DEVICE_HOSTTENSOR_H

#include "runtime/device/Rank.h"

#include <vector>

namespace tessera {

/// Writes a rank's part of a tensor piece by piece: in place where the host
/// reaches the arena, elsewhere through memory of at most `pieceBytes`, which
/// the device copies from while the host fills the next.
class PieceWriter {
public:
  PieceWriter(const Rank &rank, const TensorInfo &tensor);

  /// Returns the most bytes of a piece.
  int64_t mostBytes() const;
  /// A piece of `count` elements from `first` on, to be filled; `zero`: but for
  /// gaps, which are zero already where it is filled in place.
  void begin(int64_t first, int64_t count, bool zero);
  /// Returns where an element of the piece goes.
  unsigned char *at(int64_t index) const { return host + index * element; }
  /// The piece is filled.
  void end();

private:
  DeviceRank &device;
  int64_t offset, element;
  int64_t start = 0, bytes = 0;  ///< the piece's range in the tensor's bytes
  unsigned char *host = nullptr; ///< address of element 0
  std::vector<unsigned char> copy;
};

class HostTensor {
public:
  /// The rank holds the tensor. Its present values.
  static HostTensor toRead(const Rank &rank, const TensorInfo &tensor);
  /// Makes a tensor to be filled and stored. It starts as anything: fill every
  /// element, or `zero` first.
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
