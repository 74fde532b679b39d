//===- Passes.h - from nn ops to runtime calls and kernels ------*- C++ -*-===//

#ifndef TESSERA_LOWER_PASSES_H
#define TESSERA_LOWER_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "tessera/Dialect/RT/RT.h"

namespace tessera {

#define GEN_PASS_DECL
#include "tessera/Lower/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/Lower/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_LOWER_PASSES_H
