//===- ProductKernelOps.cpp - einsum, add, broadcast in kernels -----------===//

#include "lib/Lower/Kernels/KernelOps.h"
#include "tessera/Dialect/NN/Functions.h"
#include "tessera/Lower/Kernels/KernelOpInterface.h"

using namespace mlir;
using namespace tessera;

namespace {

/// An elementwise product or a sum. A contraction is a library call.
struct EinsumKernel
    : KernelOpInterface::ExternalModel<EinsumKernel, nn::EinsumOp> {
  std::optional<KernelSpace> getKernelSpace(Operation *op) const {
    if (cast<nn::EinsumOp>(op).isContraction())
      return std::nullopt;
    return spaceOfSignature(op);
  }
  FailureOr<ElementBody> buildElementBody(Operation *op, KernelScope &) const {
    double scale = cast<nn::EinsumOp>(op).getScale().convertToDouble();
    return ElementBody([=](OpBuilder &b, ValueRange x) {
      nn::ScalarMath math{b, op->getLoc()};
      Value result = x[0];
      for (Value factor : x.drop_front())
        result = math.mul(result, factor);
      return scale == 1.0 ? result : math.mul(result, scale);
    });
  }
  /// Another operand is 0 there, unless it repeats a value and nothing masks
  /// it.
  bool ignoresPadding(Operation *op, unsigned operand) const {
    dist::Signature sig = cast<nn::EinsumOp>(op).getSignature(0);
    char factor = sig.ins[operand].back();
    for (auto [k, in] : llvm::enumerate(sig.ins)) {
      if (k == operand || !StringRef(in).contains(factor))
        continue;
      auto other = op->getOperand(k).getDefiningOp<KernelOpInterface>();
      if (!other || other.getPaddingEffect(in.back()) != PaddingEffect::Repeats)
        return true;
    }
    return false;
  }
};

/// Whether one of the operands lacks a factor of the result.
PaddingEffect effectOfRepeating(ArrayRef<std::string> operands, char factor) {
  bool repeats = llvm::any_of(
      operands, [&](StringRef in) { return !in.contains(factor); });
  return repeats ? PaddingEffect::Repeats : PaddingEffect::KeepsZero;
}

struct AddKernel : KernelOpInterface::ExternalModel<AddKernel, nn::AddOp> {
  FailureOr<ElementBody> buildElementBody(Operation *op, KernelScope &) const {
    return ElementBody([=](OpBuilder &b, ValueRange x) {
      nn::ScalarMath math{b, op->getLoc()};
      auto add = cast<nn::AddOp>(op);
      Value sum;
      for (auto [k, term] : llvm::enumerate(x)) {
        double c = add.getCoefficient(k);
        if (sum && c == -1.0) {
          sum = math.sub(sum, term);
          continue;
        }
        Value scaled = c == 1.0 ? term : math.mul(term, c);
        sum = sum ? math.add(sum, scaled) : scaled;
      }
      return sum;
    });
  }
  PaddingEffect getPaddingEffect(Operation *op, char factor) const {
    return effectOfRepeating(cast<nn::AddOp>(op).getSignature(0).ins, factor);
  }
};

struct BroadcastKernel
    : KernelOpInterface::ExternalModel<BroadcastKernel, nn::BroadcastOp> {
  FailureOr<ElementBody> buildElementBody(Operation *, KernelScope &) const {
    return ElementBody([](OpBuilder &, ValueRange x) { return x[0]; });
  }
  PaddingEffect getPaddingEffect(Operation *op, char factor) const {
    dist::Signature sig = cast<nn::BroadcastOp>(op).getSignature(0);
    return effectOfRepeating(sig.ins[0], factor);
  }
};

} // namespace

void tessera::attachProductKernelOps(MLIRContext &context) {
  nn::EinsumOp::attachInterface<EinsumKernel>(context);
  nn::AddOp::attachInterface<AddKernel>(context);
  nn::BroadcastOp::attachInterface<BroadcastKernel>(context);
}
