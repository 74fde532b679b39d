//===- Correspondence.h - is a program the model? ---------------*- C++ -*-===//
// Proofs that the serial programs of inference compute what `@loss` does.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_INFERENCE_CORRESPONDENCE_H
#define TESSERA_INFERENCE_CORRESPONDENCE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>

namespace tessera {

/// Returns "" if a serial program for generation, unrolled over positions, is
/// the forward part of the model's `@loss`, op for op, else a sentence that
/// names the first difference.
std::string compareUnrolled(mlir::func::FuncOp step, mlir::func::FuncOp loss);

/// Returns "" if a serial program for encoding, whose choice of positions is
/// looked through, is the forward part of the model's `@loss` without dropout,
/// op for op, else a sentence that names the first difference.
std::string compareEncoded(mlir::func::FuncOp program, mlir::func::FuncOp loss);

} // namespace tessera

#endif // TESSERA_INFERENCE_CORRESPONDENCE_H
