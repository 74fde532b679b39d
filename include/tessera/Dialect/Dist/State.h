//===- State.h - the state of a value on one mesh axis ----------*- C++ -*-===//
// States, their duals and the table of conversions between them; the reference
// is the executable specification (docs/TheOneRule.md).
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_DIST_STATE_H
#define TESSERA_DIALECT_DIST_STATE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "tessera/Program/ProgramCall.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>

#include "tessera/Dialect/Dist/DistEnums.h.inc"

namespace tessera::dist {

/// The state of a value on one mesh axis: the parts that its ranks hold.
struct State {
  enum Kind : uint8_t { I, R, S, P, M, A, L, C };
  Kind kind = I;
  int64_t where = 0; ///< S: the dimension; A: the stage.
  int64_t level = 0; ///< S: 0 is the outermost axis that shards the dimension.

  static State sharded(int64_t dim, int64_t level = 0) {
    return {S, dim, level};
  }
  bool isSharded() const { return kind == S; }
  bool operator==(const State &other) const {
    return kind == other.kind && where == other.where && level == other.level;
  }
  bool operator!=(const State &other) const { return !(*this == other); }
  /// Returns the text of the IR: `I`, `S(0)`, `S(0:1)`, `A(1)`.
  std::string str() const;
};

/// State of the gradient of a value. Partial maxima, means and candidates have
/// none.
State dual(State state);

/// The collective that a conversion runs.
using program::Collective;

/// One row of the table of conversions.
struct ConversionRow {
  State::Kind from, to;
  ConversionKind kind;
  Collective collective;
};

/// The row that leads from one state to another; null if there is none.
const ConversionRow *findConversion(State from, State to);

/// States to convert to, one after the other: empty if equal, nullopt if there
/// is no way.
std::optional<llvm::SmallVector<State>> route(State from, State to);

/// A state on a named axis.
struct AxisState {
  mlir::StringAttr axis;
  State state;
  bool operator==(const AxisState &other) const {
    return axis == other.axis && state == other.state;
  }
};

inline llvm::hash_code hash_value(const AxisState &s) {
  return llvm::hash_combine(s.axis, static_cast<unsigned>(s.state.kind),
                            s.state.where, s.state.level);
}

} // namespace tessera::dist

#endif // TESSERA_DIALECT_DIST_STATE_H
