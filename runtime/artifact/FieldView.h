//===- FieldView.h - members of metadata by their fields --------*- C++ -*-===//
// program_fields.def has the key and the bounds of each member; what is
// narrower follows from other members.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_ARTIFACT_FIELDVIEW_H
#define TESSERA_RUNTIME_ARTIFACT_FIELDVIEW_H

#include "runtime/support/Json.h"
#include "tessera/program_fields.hpp"

#include <algorithm>

namespace tessera {
namespace fields = program_fields;

inline JsonView at(const JsonView &view, const ProgramField &field) {
  return view.at(field.key);
}

inline bool has(const JsonView &view, const ProgramField &field) {
  return view.has(field.key);
}

/// Returns an integer within the field's bounds.
inline int64_t integerAt(const JsonView &view, const ProgramField &field) {
  return at(view, field).integer(field.low, field.high);
}

/// Returns an integer within the field's bounds and these.
inline int64_t integerAt(const JsonView &view, const ProgramField &field,
                         int64_t low, int64_t high) {
  return at(view, field)
      .integer(std::max(low, field.low), std::min(high, field.high));
}

/// Returns the integers of a list, each within the field's bounds.
inline std::vector<int64_t> integersAt(const JsonView &view,
                                       const ProgramField &field) {
  return at(view, field).integers(field.low, field.high);
}
} // namespace tessera

#endif // TESSERA_RUNTIME_ARTIFACT_FIELDVIEW_H
