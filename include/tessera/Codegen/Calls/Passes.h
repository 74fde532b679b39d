//===- Passes.h - from a rank's program to host code ------------*- C++ -*-===//

#ifndef TESSERA_CODEGEN_CALLS_PASSES_H
#define TESSERA_CODEGEN_CALLS_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "tessera/Codegen/Calls/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/Codegen/Calls/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_CODEGEN_CALLS_PASSES_H
