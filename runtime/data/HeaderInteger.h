//===- HeaderInteger.h - integers of headers of token files -----*- C++ -*-===//
#ifndef TESSERA_RUNTIME_DATA_HEADERINTEGER_H
#define TESSERA_RUNTIME_DATA_HEADERINTEGER_H

#include "runtime/support/File.h"

namespace tessera {

/// A little-endian integer of a header, which must lie in the file.
template <class Integer>
Integer integerAt(const InputFile &file, uint64_t offset) {
  Integer value;
  file.read(offset, &value, sizeof value);
  return value;
}

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_HEADERINTEGER_H
