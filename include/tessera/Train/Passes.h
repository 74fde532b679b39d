//===- Passes.h - from a typed loss to a typed training step ----*- C++ -*-===//

#ifndef TESSERA_TRAIN_PASSES_H
#define TESSERA_TRAIN_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "tessera/Dialect/RT/RT.h"

namespace tessera {

#define GEN_PASS_DECL
#include "tessera/Train/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/Train/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_TRAIN_PASSES_H
