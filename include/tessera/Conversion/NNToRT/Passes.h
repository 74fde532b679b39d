//===- Passes.h - from typed nn to the program of one rank ----------------===//

#ifndef TESSERA_CONVERSION_NNTORT_PASSES_H
#define TESSERA_CONVERSION_NNTORT_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"
#include "tessera/Dialect/RT/RT.h"

namespace tessera {

#define GEN_PASS_DECL
#include "tessera/Conversion/NNToRT/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/Conversion/NNToRT/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_CONVERSION_NNTORT_PASSES_H
