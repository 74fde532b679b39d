//===- ConvertKernelToLLVM.cpp - kernels to ABI functions -----------------===//

#include "lib/Codegen/Kernels/Cpu/LoopEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tessera/Codegen/Kernels/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_CONVERTKERNELTOLLVMPASS
#include "tessera/Codegen/Kernels/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace {

struct ConvertKernelToLLVM
    : tessera::impl::ConvertKernelToLLVMPassBase<ConvertKernelToLLVM> {
  using ConvertKernelToLLVMPassBase::ConvertKernelToLLVMPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (vectorBits != 128 && vectorBits != 256 && vectorBits != 512) {
      module.emitError() << "vector-bits = " << vectorBits
                         << " is not 128, 256 or 512";
      return signalPassFailure();
    }
    SmallVector<func::FuncOp> kernels;
    for (auto func : module.getOps<func::FuncOp>())
      if (func->hasAttr("rt.schedule"))
        kernels.push_back(func);
    for (func::FuncOp func : kernels) {
      FailureOr<tessera::Kernel> kernel = tessera::Kernel::analyze(func);
      if (failed(kernel))
        return signalPassFailure();
      if (kernel->reducesColumns) {
        func.emitOpError("kernel: 'rt.schedule' is \"both\", which only CUDA "
                         "kernels can be; use two kernels");
        return signalPassFailure();
      }
      tessera::LoopEmitter(*kernel, vectorBits).emit();
      func.erase();
    }
  }
};

} // namespace
