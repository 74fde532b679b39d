//===- Passes.h - where every buffer lies -----------------------*- C++ -*-===//

#ifndef TESSERA_MEMORY_PASSES_H
#define TESSERA_MEMORY_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "tessera/Dialect/RT/RT.h"

namespace tessera {

#define GEN_PASS_DECL
#include "tessera/Memory/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/Memory/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_MEMORY_PASSES_H
