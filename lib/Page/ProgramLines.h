//===- ProgramLines.h - a program as lines of a page ------------*- C++ -*-===//
// A page shows the lines of no layer and, of each function, its first layer, as
// a program may have a hundred layers. Lines that are left out become one that
// says how much it is.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_PAGE_PROGRAMLINES_H
#define TESSERA_LIB_PAGE_PROGRAMLINES_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <tuple>
#include <vector>

namespace tessera {

/// Facts about a line beside its text.
struct LineFacts {
  enum class Kind { Function, Argument, Op, Kernel, LeftOut, End };

  Kind kind = Kind::Op;
  unsigned depth = 0;
  std::string op;    ///< "nn.einsum"
  std::string place; ///< In the model, with a "#" for the layer: "h.#.mlp".
  int64_t layer = -1;
  std::string phase;  ///< "forward"; "" of what is no op.
  std::string reason; ///< Why a conversion of a typed program communicates.

  auto tied() const {
    return std::tie(kind, depth, op, place, layer, phase, reason);
  }
  bool operator==(const LineFacts &other) const {
    return tied() == other.tied();
  }
  bool operator<(const LineFacts &other) const { return tied() < other.tied(); }
};

struct ProgramLine {
  LineFacts facts;
  /// The text, with a bare "%" for each name of a value.
  std::string text;
  /// These names, without "%". They are unique in a function, and change with
  /// each op that a pass adds.
  std::vector<std::string> names;
  /// The text in place of an argument's name, "h.0.mlp.c_fc.weight".
  std::string argument;
};

/// Returns the lines of the programs, and of kernels that shown lines launch.
std::vector<ProgramLine> linesOf(mlir::ModuleOp module);

} // namespace tessera

#endif // TESSERA_LIB_PAGE_PROGRAMLINES_H
