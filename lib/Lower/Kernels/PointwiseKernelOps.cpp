//===- PointwiseKernelOps.cpp - map, cast, dropout, commit in kernels -----===//

#include "lib/Lower/Kernels/KernelMath.h"
#include "lib/Lower/Kernels/KernelOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tessera/Dialect/NN/Functions.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Lower/Kernels/KernelOpInterface.h"
#include "tessera/Partition/Factors.h"
#include <cmath>

using namespace mlir;
using namespace tessera;

namespace {

LogicalResult refuseFunction(Operation *op, StringRef what,
                             nn::Function function) {
  return op->emitOpError() << "has no lowering to the runtime: '"
                           << nn::stringifyFunction(function) << "' has no "
                           << what << " in the table of functions";
}

struct MapKernel : KernelOpInterface::ExternalModel<MapKernel, nn::MapOp> {
  static const nn::FunctionInfo &infoOf(Operation *op) {
    return nn::infoOf(cast<nn::MapOp>(op).getFunction());
  }

  FailureOr<ElementBody> buildElementBody(Operation *op, KernelScope &) const {
    auto map = cast<nn::MapOp>(op);
    auto formula = infoOf(op).formula;
    if (!formula)
      return refuseFunction(op, "formula", map.getFunction());
    double bound = map.getBound() ? map.getBound()->convertToDouble() : 0;
    return ElementBody([=](OpBuilder &b, ValueRange x) {
      return formula({b, op->getLoc()}, x[0], bound);
    });
  }
  bool isCostly(Operation *op) const {
    return infoOf(op).has(nn::FunctionInfo::IsCostly);
  }
};

struct MapGradKernel
    : KernelOpInterface::ExternalModel<MapGradKernel, nn::MapGradOp> {
  FailureOr<ElementBody> buildElementBody(Operation *op, KernelScope &) const {
    nn::Function function = cast<nn::MapGradOp>(op).getFunction();
    auto derivative = nn::infoOf(function).derivative;
    if (!derivative)
      return refuseFunction(op, "derivative", function);
    return ElementBody([=](OpBuilder &b, ValueRange x) {
      nn::ScalarMath math{b, op->getLoc()};
      return math.mul(x[0], derivative(math, x[1]));
    });
  }
};

/// The kernel widens what it reads and rounds what it writes.
struct CastKernel : KernelOpInterface::ExternalModel<CastKernel, nn::CastOp> {
  FailureOr<ElementBody> buildElementBody(Operation *, KernelScope &) const {
    return ElementBody([](OpBuilder &, ValueRange x) { return x[0]; });
  }
};

//===----------------------------------------------------------------------===//
// dropout
//===----------------------------------------------------------------------===//

/// Returns the first global index of the rank's elements along each factor.
SmallVector<Value> globalStarts(Operation *op, KernelScope &kernel) {
  Location loc = op->getLoc();
  OpBuilder &host = kernel.host();
  SmallVector<Value> starts;
  for (auto [d, f] : llvm::enumerate(kernel.space().factors)) {
    std::optional<FactorSpan> span = spanOf(op, f);
    Value begin = startOf(host, loc, span);
    Value index = d == 0 ? microBatchOf(host, op) : Value();
    if (index) {
      Value rows = i64(host, loc, span ? span->total : kernel.space().sizes[0]);
      Value skipped = arith::MulIOp::create(host, loc, index, rows);
      begin = arith::AddIOp::create(host, loc, begin, skipped);
    }
    starts.push_back(kernel.scalar(begin));
  }
  return starts;
}

/// Row-major index of an element in the global tensor.
struct GlobalIndex {
  Operation *op;
  KernelSpace space;
  int64_t columns;
  SmallVector<Value> starts;

  Value build(OpBuilder &b) const {
    Location loc = op->getLoc();
    int64_t stride = 1;
    Value sum;
    for (unsigned d = space.factors.size(); d-- > 0;) {
      std::optional<FactorSpan> span = spanOf(op, space.factors[d]);
      Value at = arith::AddIOp::create(
          b, loc, indexAlong(b, loc, space.sizes, columns, d), starts[d]);
      at = arith::MulIOp::create(b, loc, at, i64(b, loc, stride));
      sum = sum ? Value(arith::AddIOp::create(b, loc, sum, at)) : at;
      stride *= span ? span->total : space.sizes[d];
    }
    return sum;
  }
};

/// x / (1 - p) where a random word of the element's global index is at least p
/// of its range, else 0.
struct DropoutKernel
    : KernelOpInterface::ExternalModel<DropoutKernel, nn::DropoutOp> {
  FailureOr<ElementBody> buildElementBody(Operation *op,
                                          KernelScope &kernel) const {
    auto dropout = cast<nn::DropoutOp>(op);
    Location loc = op->getLoc();
    OpBuilder &host = kernel.host();
    Type i64Type = host.getI64Type();
    Value seed = rt::SeedOp::create(host, loc, i64Type);
    Value step = rt::StepOp::create(host, loc, i64Type);
    Value key = kernel.scalar(rt::StreamKeyOp::create(
        host, loc, i64Type, seed, step, dropout.getStreamAttr()));
    GlobalIndex index{op, kernel.space(), kernel.columns(),
                      globalStarts(op, kernel)};
    double p = dropout.getP().convertToDouble();
    return ElementBody([=](OpBuilder &b, ValueRange x) {
      auto threshold = static_cast<uint32_t>(std::ceil(p * 4294967296.0));
      Value word = emitPhilox(b, loc, index.build(b), key);
      Value limit = arith::ConstantOp::create(
          b, loc,
          b.getIntegerAttr(b.getI32Type(), static_cast<int32_t>(threshold)));
      Value keep =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, word, limit);
      Value scaled = arith::MulFOp::create(
          b, loc, x[0], constantLike(b, loc, x[0], 1 / (1 - p)));
      return zeroUnless(b, loc, keep, scaled);
    });
  }
};

//===----------------------------------------------------------------------===//
// counted, routed, adamw, commit
//===----------------------------------------------------------------------===//

struct CountedKernel
    : KernelOpInterface::ExternalModel<CountedKernel, nn::CountedOp> {
  FailureOr<ElementBody> buildElementBody(Operation *op, KernelScope &) const {
    auto counted = cast<nn::CountedOp>(op);
    Type type = counted.getElementType();
    std::optional<int64_t> except = counted.getExcept();
    return ElementBody([=](OpBuilder &b, ValueRange label) -> Value {
      Location loc = op->getLoc();
      Value zero = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
      Value legal = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                          label[0], zero);
      if (except) {
        Value refused = arith::ConstantOp::create(
            b, loc, b.getI32IntegerAttr(static_cast<int32_t>(*except)));
        Value other = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                            label[0], refused);
        legal = arith::AndIOp::create(b, loc, legal, other);
      }
      auto constant = [&](double v) -> Value {
        return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, v));
      };
      return arith::SelectOp::create(b, loc, legal, constant(1), constant(0));
    });
  }
};

struct RoutedKernel
    : KernelOpInterface::ExternalModel<RoutedKernel, nn::RoutedOp> {
  FailureOr<ElementBody> buildElementBody(Operation *op, KernelScope &) const {
    return ElementBody([=](OpBuilder &b, ValueRange gate) {
      Location loc = op->getLoc();
      Value zero = constantLike(b, loc, gate[0], 0.0);
      Value isRouted = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE,
                                             gate[0], zero);
      return zeroUnless(b, loc, isRouted, constantLike(b, loc, gate[0], 1.0));
    });
  }
};

/// p - lr (m c1 / (sqrt(v c2) + epsilon) + decay p)
struct AdamWKernel
    : KernelOpInterface::ExternalModel<AdamWKernel, nn::AdamWOp> {
  FailureOr<ElementBody> buildElementBody(Operation *op, KernelScope &) const {
    auto adam = cast<nn::AdamWOp>(op);
    double epsilon = adam.getEpsilon().convertToDouble();
    double decay = adam.getDecay().convertToDouble();
    return ElementBody([=](OpBuilder &b, ValueRange x) {
      nn::ScalarMath math{b, op->getLoc()};
      Value param = x[0], m = x[1], v = x[2], lr = x[3];
      Value c1 = x[4], c2 = x[5];
      Value root = math::SqrtOp::create(b, op->getLoc(), math.mul(v, c2));
      Value move = math.div(math.mul(m, c1), math.add(root, epsilon));
      if (decay != 0)
        move = math.add(move, math.mul(param, decay));
      return math.sub(param, math.mul(lr, move));
    });
  }
};

/// A select: NaN of a step that does not count goes nowhere.
struct CommitKernel
    : KernelOpInterface::ExternalModel<CommitKernel, nn::CommitOp> {
  FailureOr<ElementBody> buildElementBody(Operation *op, KernelScope &) const {
    return ElementBody([=](OpBuilder &b, ValueRange x) -> Value {
      Location loc = op->getLoc();
      Value counts =
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, x[0],
                                constantLike(b, loc, x[0], 0.0));
      return arith::SelectOp::create(b, loc, counts, x[1], x[2]);
    });
  }
};

} // namespace

void tessera::attachPointwiseKernelOps(MLIRContext &context) {
  nn::MapOp::attachInterface<MapKernel>(context);
  nn::MapGradOp::attachInterface<MapGradKernel>(context);
  nn::CastOp::attachInterface<CastKernel>(context);
  nn::DropoutOp::attachInterface<DropoutKernel>(context);
  nn::CountedOp::attachInterface<CountedKernel>(context);
  nn::RoutedOp::attachInterface<RoutedKernel>(context);
  nn::AdamWOp::attachInterface<AdamWKernel>(context);
  nn::CommitOp::attachInterface<CommitKernel>(context);
}
