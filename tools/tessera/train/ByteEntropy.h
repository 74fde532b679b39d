//===- ByteEntropy.h - what byte frequencies alone predict ------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_BYTEENTROPY_H
#define TESSERA_TOOLS_TESSERA_TRAIN_BYTEENTROPY_H

#include <string>
#include <vector>

namespace tessera {

/// The entropy of the bytes of all files together, in nats per byte: the loss
/// of the best model that ignores context (Shannon 1948). 0 for unreadable or
/// empty files.
double byteEntropy(const std::vector<std::string> &paths);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_BYTEENTROPY_H
