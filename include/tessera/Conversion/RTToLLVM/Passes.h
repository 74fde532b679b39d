//===- Passes.h - the program of one rank as host code --------------------===//

#ifndef TESSERA_CONVERSION_RTTOLLVM_PASSES_H
#define TESSERA_CONVERSION_RTTOLLVM_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"

namespace tessera {

#define GEN_PASS_DECL
#include "tessera/Conversion/RTToLLVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "tessera/Conversion/RTToLLVM/Passes.h.inc"

} // namespace tessera

#endif // TESSERA_CONVERSION_RTTOLLVM_PASSES_H
