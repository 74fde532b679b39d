//===- Erasure.h - is the parallel program the serial one? ------*- C++ -*-===//
// Proof by erasure: without distributions and conversions the parallel program
// must be the serial program, op for op and wire for wire.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DISTRIBUTE_ERASURE_H
#define TESSERA_DISTRIBUTE_ERASURE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace tessera {

/// Erases a copy of `parallel` and compares its function `name` with that of
/// `serial`. Returns "" if they are equal, else a sentence that names the first
/// difference. Neither module is changed.
std::string compareErased(mlir::ModuleOp parallel, mlir::ModuleOp serial,
                          llvm::StringRef name = "step");

/// Computes the types of all values anew from the types of the arguments, in
/// order. Fails with an error at the first op that refuses its operands, or if
/// a returned value changes its type. Used to judge a changed program.
mlir::LogicalResult retype(mlir::func::FuncOp func);

} // namespace tessera

#endif // TESSERA_DISTRIBUTE_ERASURE_H
