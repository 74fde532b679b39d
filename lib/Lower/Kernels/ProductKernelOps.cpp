//===- ProductKernelOps.cpp - einsum, add, broadcast in kernels -----------===//

#include "lib/Lower/ChunkedSums.h"
#include "lib/Lower/Kernels/KernelOps.h"
#include "tessera/Dialect/NN/Functions.h"
#include "tessera/Lower/Kernels/KernelOpInterface.h"

using namespace mlir;
using namespace tessera;

namespace {

/// An elementwise product or a sum. A contraction and a sum in chunks are
/// library calls.
struct EinsumKernel
    : KernelOpInterface::ExternalModel<EinsumKernel, nn::EinsumOp> {
  std::optional<KernelSpace> getKernelSpace(Operation *op) const {
    auto einsum = cast<nn::EinsumOp>(op);
    if (einsum.isContraction() || isChunkedSum(einsum))
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
};

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
};

struct BroadcastKernel
    : KernelOpInterface::ExternalModel<BroadcastKernel, nn::BroadcastOp> {
  FailureOr<ElementBody> buildElementBody(Operation *, KernelScope &) const {
    return ElementBody([](OpBuilder &, ValueRange x) { return x[0]; });
  }
};

} // namespace

void tessera::attachProductKernelOps(MLIRContext &context) {
  nn::EinsumOp::attachInterface<EinsumKernel>(context);
  nn::AddOp::attachInterface<AddKernel>(context);
  nn::BroadcastOp::attachInterface<BroadcastKernel>(context);
}
