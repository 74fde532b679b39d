//===- Passes.h - from global shapes to one program per rank ----*- C++ -*-===//

#ifndef TESSERA_PARTITION_PASSES_H
#define TESSERA_PARTITION_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "tessera/Dialect/RT/RT.h"

namespace tessera {

#define GEN_PASS_DECL
#include "tessera/Partition/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/Partition/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_PARTITION_PASSES_H
