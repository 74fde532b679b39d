//===- Passes.td - from a rank's program to host code ------*- tablegen -*-===//

#ifndef TESSERA_CODEGEN_CALLS_PASSES_TD
#define TESSERA_CODEGEN_CALLS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertRTToLLVMPass : Pass<"convert-rt-to-llvm", "::mlir::ModuleOp"> {
  let summary = "The lowered program becomes a function that calls the runtime";
  let description = [{
    Before: `@step` with offsets; every kernel that it launches is an
    `llvm.func`. After: `llvm.func @tsr_program_step(!llvm.ptr) -> i32`
    (runtime's abi.h) passes lists of calls, which are data, to the runtime, and
    returns at once if a result is not zero. Ops are numbered in program order,
    as in the metadata. Only what a rank computes itself (coordinates, loop
    counters) is code; integer arithmetic stays `arith`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // TESSERA_CODEGEN_CALLS_PASSES_TD
