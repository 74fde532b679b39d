//===- PadRows.cpp - aligned rows of an odd length ------------------------===//
// A layout of values, not a shape: what a product or a kernel computes, and in
// which order, stays the same. Values that share a kernel's operand get the
// layout together or not at all.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/RowLayout.h"
#include "tessera/Lower/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tessera {
#define GEN_PASS_DEF_PADROWSPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// An argument, then a result, of a kernel.
using KernelArgument = std::pair<func::FuncOp, unsigned>;

class RowPadding {
public:
  RowPadding(ModuleOp module, int64_t elements, int64_t least)
      : module(module), elements(elements), least(least) {}
  void run();

private:
  bool isOdd(Type type) const;
  bool mayPad(OpResult value);
  bool isMatrix(OpOperand &use) const;
  KernelArgument kernelOperand(rt::LaunchOp launch, unsigned number);
  KernelArgument kernelResult(rt::LaunchOp launch, unsigned number);
  bool isPlane(const KernelArgument &operand, Value value) const;
  void collect(rt::LaunchOp launch);
  void dropPartlyPadded();
  void padGemms(Value value, int64_t stride);
  void padKernel(const KernelArgument &operand);

  int64_t strideOf(Type type) const {
    int64_t row = cast<RankedTensorType>(type).getShape().back();
    return llvm::alignTo(row, elements);
  }

  ModuleOp module;
  int64_t elements, least;
  SymbolTableCollection symbols;
  llvm::SetVector<Value> padded;
  /// The values at an operand of a kernel, over all its launches.
  llvm::MapVector<KernelArgument, SmallVector<Value>> operands;
};

/// Returns whether rows are long, and their length is no multiple of eight.
bool RowPadding::isOdd(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  constexpr int64_t kAligned = 8;
  return tensor && tensor.getRank() >= 2 && !tensor.getEncoding() &&
         tensor.getShape().back() >= least &&
         tensor.getShape().back() % kAligned != 0;
}

/// The kernel is null if it is not here.
KernelArgument RowPadding::kernelOperand(rt::LaunchOp launch, unsigned number) {
  auto kernel = symbols.lookupNearestSymbolFrom<func::FuncOp>(
      launch, launch.getKernelAttr());
  return {kernel && !kernel.isDeclaration() ? kernel : func::FuncOp(), number};
}

KernelArgument RowPadding::kernelResult(rt::LaunchOp launch, unsigned number) {
  auto [kernel, result] = kernelOperand(launch, number);
  return {kernel, kernel ? kernel.getNumArguments() + result : result};
}

/// Returns the type of an operand of a kernel; null if it has no such operand.
Type typeOfOperand(const KernelArgument &operand) {
  auto [kernel, number] = operand;
  if (!kernel || number >= kernel.getNumArguments() + kernel.getNumResults())
    return {};
  unsigned arguments = kernel.getNumArguments();
  return number < arguments ? kernel.getArgumentTypes()[number]
                            : kernel.getResultTypes()[number - arguments];
}

/// Returns whether the value is read, or made, as it is, row by row.
bool RowPadding::isPlane(const KernelArgument &operand, Value value) const {
  func::FuncOp kernel = operand.first;
  auto type = dyn_cast_or_null<RankedTensorType>(typeOfOperand(operand));
  if (!type || type.getRank() != 2 ||
      type.getShape().back() != typeOf(value).getShape().back())
    return false;
  auto isGeneric = [](Operation *op) { return isa<linalg::GenericOp>(op); };
  if (operand.second < kernel.getNumArguments())
    return llvm::all_of(kernel.getArgument(operand.second).getUsers(),
                        isGeneric);
  Operation *ret = kernel.getBody().front().getTerminator();
  Value result = ret->getOperand(operand.second - kernel.getNumArguments());
  return result.getDefiningOp<linalg::GenericOp>() != nullptr;
}

/// Returns whether the product takes the value, which has rows of `n`, as rows
/// of `n`.
bool RowPadding::isMatrix(OpOperand &use) const {
  auto gemm = cast<rt::GemmOp>(use.getOwner());
  auto row = static_cast<uint64_t>(typeOf(use.get()).getShape().back());
  if (&use == &gemm.getAMutable())
    return gemm.getLda() == row &&
           (gemm.getTransA() ? gemm.getM() : gemm.getK()) == row;
  if (&use == &gemm.getBMutable())
    return gemm.getLdb() == row &&
           (gemm.getTransB() ? gemm.getK() : gemm.getN()) == row;
  return false;
}

bool RowPadding::mayPad(OpResult value) {
  if (!isOdd(value.getType()) ||
      rt::resultEntry(value, rt::RTDialect::kKeepAttr) ||
      rt::resultEntry(value, rt::RTDialect::kRoleAttr))
    return false;
  Operation *op = value.getOwner();
  if (auto gemm = dyn_cast<rt::GemmOp>(op)) {
    auto row = static_cast<uint64_t>(typeOf(value).getShape().back());
    if (value != gemm.getC() || gemm.getN() != row || gemm.getLdc() != row ||
        gemm.getAccumulator())
      return false;
  } else if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
    if (!isPlane(kernelResult(launch, value.getResultNumber()), value))
      return false;
  } else {
    return false;
  }
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    if (isa<rt::GemmOp>(use.getOwner()))
      return isMatrix(use);
    auto launch = dyn_cast<rt::LaunchOp>(use.getOwner());
    return launch &&
           isPlane(kernelOperand(launch, use.getOperandNumber()), value);
  });
}

/// Records the values at each operand of the kernel.
void RowPadding::collect(rt::LaunchOp launch) {
  for (auto [i, input] : llvm::enumerate(launch.getInputs()))
    operands[kernelOperand(launch, i)].push_back(input);
  for (auto [i, output] : llvm::enumerate(launch.getOutputs()))
    operands[kernelResult(launch, i)].push_back(output);
}

/// Drops the padding of an operand that lacks it in one launch of the kernel:
/// all launches must agree.
void RowPadding::dropPartlyPadded() {
  auto isPadded = [&](Value value) { return padded.contains(value); };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[operand, values] : operands)
      if (llvm::any_of(values, isPadded) && !llvm::all_of(values, isPadded)) {
        changed = true;
        for (Value value : values)
          padded.remove(value);
      }
  }
}

void RowPadding::padGemms(Value value, int64_t stride) {
  if (auto gemm = value.getDefiningOp<rt::GemmOp>())
    gemm.setLdc(stride);
  for (OpOperand &use : value.getUses())
    if (auto gemm = dyn_cast<rt::GemmOp>(use.getOwner())) {
      if (&use == &gemm.getAMutable())
        gemm.setLda(stride);
      if (&use == &gemm.getBMutable())
        gemm.setLdb(stride);
    }
}

void RowPadding::padKernel(const KernelArgument &operand) {
  auto [kernel, number] = operand;
  auto type = cast<RankedTensorType>(typeOfOperand(operand));
  RankedTensorType layout = rt::withRowStride(type, strideOf(type));
  unsigned arguments = kernel.getNumArguments();
  if (number < arguments) {
    kernel.getArgument(number).setType(layout);
  } else {
    Operation *ret = kernel.getBody().front().getTerminator();
    auto result = cast<OpResult>(ret->getOperand(number - arguments));
    auto generic = cast<linalg::GenericOp>(result.getOwner());
    OpBuilder builder(generic);
    OpOperand *init = generic.getDpsInitOperand(result.getResultNumber());
    init->set(
        tensor::EmptyOp::create(builder, generic.getLoc(), layout.getShape(),
                                layout.getElementType(), layout.getEncoding()));
    result.setType(layout);
  }
  Operation *ret = kernel.getBody().front().getTerminator();
  kernel.setType(FunctionType::get(module.getContext(),
                                   kernel.getBody().getArgumentTypes(),
                                   ret->getOperandTypes()));
}

void RowPadding::run() {
  module.walk([&](Operation *op) {
    for (OpResult result : op->getResults())
      if (mayPad(result))
        padded.insert(result);
    if (auto launch = dyn_cast<rt::LaunchOp>(op))
      collect(launch);
  });
  dropPartlyPadded();
  for (auto &[operand, values] : operands)
    if (padded.contains(values.front()))
      padKernel(operand);
  for (Value value : padded) {
    RankedTensorType type = typeOf(value);
    int64_t stride = strideOf(type);
    padGemms(value, stride);
    value.setType(rt::withRowStride(type, stride));
  }
}

struct PadRowsPass : tessera::impl::PadRowsPassBase<PadRowsPass> {
  using PadRowsPassBase::PadRowsPassBase;

  void runOnOperation() override {
    RowPadding(getOperation(), elements, least).run();
  }
};

} // namespace
