//===- Passes.h - what goes into an artifact --------------------*- C++ -*-===//

#ifndef TESSERA_TARGET_PASSES_H
#define TESSERA_TARGET_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "tessera/Target/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/Target/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_TARGET_PASSES_H
