//===- Passes.h - who holds and computes what -------------------*- C++ -*-===//

#ifndef TESSERA_DISTRIBUTE_PASSES_H
#define TESSERA_DISTRIBUTE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "tessera/Dialect/RT/RT.h"

namespace tessera {

#define GEN_PASS_DECL
#include "tessera/Distribute/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/Distribute/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_DISTRIBUTE_PASSES_H
