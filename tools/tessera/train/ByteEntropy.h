//===- ByteEntropy.h - what byte frequencies alone predict ------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_BYTEENTROPY_H
#define TESSERA_TOOLS_TESSERA_TRAIN_BYTEENTROPY_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// Bytes of a file that are read, and the share of all that these are.
struct ByteSource {
  std::string path;
  int64_t first, count;
  double share;
};

/// The entropy of bytes that are drawn from the sources by their shares, in
/// nats per byte: the loss of the best model that ignores context (Shannon
/// 1948). 0 for unreadable or empty files.
double byteEntropy(const std::vector<ByteSource> &sources);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_BYTEENTROPY_H
