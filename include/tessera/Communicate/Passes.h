//===- Passes.h - when collectives and messages run -------------*- C++ -*-===//

#ifndef TESSERA_COMMUNICATE_PASSES_H
#define TESSERA_COMMUNICATE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "tessera/Dialect/RT/RT.h"

namespace tessera {

#define GEN_PASS_DECL
#include "tessera/Communicate/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/Communicate/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_COMMUNICATE_PASSES_H
