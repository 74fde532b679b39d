//===- ProgramLines.h - a program as lines of a page ------------*- C++ -*-===//
// Of a program that may have a hundred layers, a page shows what is of no layer
// and, of each function, its first layer. What is left out is a line that says
// how much it is.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_PASSES_PROGRAMLINES_H
#define TESSERA_TOOLS_TESSERA_PASSES_PROGRAMLINES_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <tuple>
#include <vector>

namespace tessera {

/// What is said of a line beside its text.
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
  /// Of an argument: what is said in place of its name, "h.0.mlp.c_fc.weight".
  std::string argument;
};

/// The lines of the programs, and of kernels that shown lines launch.
std::vector<ProgramLine> linesOf(mlir::ModuleOp module);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_PASSES_PROGRAMLINES_H
