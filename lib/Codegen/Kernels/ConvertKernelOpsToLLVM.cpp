//===- ConvertKernelOpsToLLVM.cpp - all ops of kernels at once ------------===//

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "tessera/Codegen/Kernels/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_CONVERTKERNELOPSTOLLVMPASS
#include "tessera/Codegen/Kernels/Passes.h.inc"
} // namespace tessera

using namespace mlir;

namespace {

/// An intrinsic is tried before a call of libm.
constexpr unsigned short kIntrinsic = 2, kLibm = 1;

struct ConvertKernelOpsToLLVM
    : tessera::impl::ConvertKernelOpsToLLVMPassBase<ConvertKernelOpsToLLVM> {
  void runOnOperation() override {
    LLVMTypeConverter types(&getContext());
    RewritePatternSet patterns(&getContext());
    populateSCFToControlFlowConversionPatterns(patterns);
    populateMathToLLVMConversionPatterns(types, patterns,
                                         /*approximateLog1p=*/true, kIntrinsic);
    populateMathToLibmConversionPatterns(patterns, kLibm);
    populateVectorToLLVMConversionPatterns(types, patterns);
    arith::populateArithToLLVMConversionPatterns(types, patterns);
    index::populateIndexToLLVMConversionPatterns(types, patterns);
    populateFuncToLLVMConversionPatterns(types, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
    LLVMConversionTarget target(getContext());
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
