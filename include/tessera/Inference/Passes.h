//===- Passes.h - programs beside the loss ----------------------*- C++ -*-===//

#ifndef TESSERA_INFERENCE_PASSES_H
#define TESSERA_INFERENCE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "tessera/Dialect/RT/RT.h"

namespace tessera {

#define GEN_PASS_DECL
#include "tessera/Inference/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/Inference/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_INFERENCE_PASSES_H
