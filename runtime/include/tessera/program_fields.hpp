//===- program_fields.hpp - the keys of an artifact's metadata --*- C++ -*-===//
// program_fields.def as constants: the compiler writes and reads metadata by
// them, and the runtime reads by them.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_PROGRAM_FIELDS_HPP
#define TESSERA_PROGRAM_FIELDS_HPP

#include "tessera/abi.h"

#include <cstdint>

namespace tessera {

struct ProgramField {
  /// When the compiler writes the key.
  enum Presence { Always, IfSet, InGroup };
  const char *key;
  int64_t low, high; ///< Bounds of integers.
  Presence presence;
};

/// The list of a program's calls has no field: it is read entry by entry.
inline constexpr const char kCallsKey[] = "ops";

/// The fields of each kind of record, such as program_fields::Call::times.
namespace program_fields {
#define TSR_PROGRAM_FIELD(RECORD, FIELD, KEY, LOW, HIGH, PRESENCE)             \
  namespace RECORD {                                                           \
  inline constexpr ProgramField FIELD = {KEY, LOW, HIGH,                       \
                                         ProgramField::PRESENCE};              \
  }
#include "tessera/program_fields.def"
#undef TSR_PROGRAM_FIELD
} // namespace program_fields

} // namespace tessera

#endif // TESSERA_PROGRAM_FIELDS_HPP
