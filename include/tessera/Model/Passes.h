//===- Passes.h - from a serial model to a serial model ---------*- C++ -*-===//

#ifndef TESSERA_MODEL_PASSES_H
#define TESSERA_MODEL_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "tessera/Dialect/RT/RT.h"

namespace tessera {

#define GEN_PASS_DECL
#include "tessera/Model/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/Model/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_MODEL_PASSES_H
