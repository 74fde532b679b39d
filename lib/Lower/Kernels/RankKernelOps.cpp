//===- RankKernelOps.cpp - ops on the rank's part, in kernels -------------===//
// The results of these ops depend on the rank's coordinate on a mesh axis,
// which is a scalar of the launch.
//===----------------------------------------------------------------------===//

#include "lib/Lower/Kernels/KernelMath.h"
#include "lib/Lower/Kernels/KernelOps.h"
#include "lib/Lower/Kernels/TableRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Lower/Kernels/KernelOpInterface.h"
#include "tessera/Partition/Factors.h"
#include <cmath>

using namespace mlir;
using namespace tessera;

namespace {

int64_t sizeOf(Value tensor, int64_t dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

dist::Signature elementwiseSignature(Operation *op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  return dist::Signature::elementwise(type.getRank(), 1);
}

/// Returns the space of an op that reads rows of its operand at other places of
/// dimension `dim`: rows end with that dimension.
KernelSpace shiftedSpace(Operation *op, int64_t dim) {
  KernelSpace space = factorsOf(elementwiseSignature(op));
  space.operands[0].access = KernelOperand::Table;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  space.sizes.assign(type.getShape().begin(), type.getShape().end());
  space.split = dim + 1;
  return space;
}

/// Returns where the rank's chunk of so many elements starts; null: at 0.
Value chunkStart(Operation *op, KernelScope &kernel, StringAttr axis,
                 int64_t size) {
  if (!axis)
    return {};
  return kernel.scalar(
      startOf(kernel.host(), op->getLoc(), FactorSpan{{{axis, size}}, size}));
}

struct FirstKernel
    : KernelOpInterface::ExternalModel<FirstKernel, rt::FirstOp> {
  std::optional<KernelSpace> getKernelSpace(Operation *op) const {
    return spaceOf(op, elementwiseSignature(op));
  }
  FailureOr<ElementBody> buildElementBody(Operation *op,
                                          KernelScope &kernel) const {
    Location loc = op->getLoc();
    OpBuilder &host = kernel.host();
    Value coordinate = kernel.scalar(rt::CoordOp::create(
        host, loc, host.getI64Type(), cast<rt::FirstOp>(op).getAxisAttr()));
    return ElementBody([=](OpBuilder &b, ValueRange x) {
      Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                            coordinate, i64(b, loc, 0));
      return zeroUnless(b, loc, isFirst, x[0]);
    });
  }
};

/// rt.slice and rt.pad: a row of the result is one of the operand, shifted by
/// where the rank's chunk starts.
template <class Op>
struct ShiftKernel : KernelOpInterface::ExternalModel<ShiftKernel<Op>, Op> {
  std::optional<KernelSpace> getKernelSpace(Operation *op) const {
    return shiftedSpace(op, cast<Op>(op).getDim());
  }
  FailureOr<ElementBody> buildElementBody(Operation *op,
                                          KernelScope &kernel) const {
    constexpr bool pads = std::is_same_v<Op, rt::PadOp>;
    auto shift = cast<Op>(op);
    int64_t from = sizeOf(shift.getInput(), shift.getDim());
    int64_t to = sizeOf(shift.getResult(), shift.getDim());
    Value table = kernel.table(0);
    Value start = chunkStart(op, kernel, shift.getAxisAttr(), pads ? from : to);
    return ElementBody([=](OpBuilder &b, ValueRange) {
      Location loc = op->getLoc();
      Value by = start;
      if (pads && start)
        by = arith::SubIOp::create(b, loc, i64(b, loc, 0), start);
      return shiftedRow(b, loc, table, from, to, by);
    });
  }
};

/// Returns the filling of padding. If no result may depend on it, it is a
/// number that would show.
double fillingOf(dist::Padding fill) {
  switch (fill) {
  case dist::Padding::Zero:
    return 0.0;
  case dist::Padding::NegInfinity:
    return -INFINITY;
  case dist::Padding::Finite:
    return 3.0;
  case dist::Padding::Any:
    return NAN;
  }
  llvm_unreachable("all fillings are handled");
}

/// The element where it is one of the valid ones of the rank's slice, elsewhere
/// the filling. Slices are short enough for 32 bits, which vectorize better.
struct MaskKernel : KernelOpInterface::ExternalModel<MaskKernel, dist::MaskOp> {
  FailureOr<ElementBody> buildElementBody(Operation *op,
                                          KernelScope &kernel) const {
    auto mask = cast<dist::MaskOp>(op);
    unsigned dim = mask.getDim();
    std::optional<FactorSpan> span = spanOf(op, kernel.space().factors[dim]);
    if (!span)
      return ElementBody([](OpBuilder &, ValueRange x) { return x[0]; });
    Value valid = kernel.scalar(validOf(kernel.host(), op->getLoc(), *span));
    double fill = fillingOf(mask.getFill());
    return ElementBody([=, &kernel](OpBuilder &b, ValueRange x) -> Value {
      Location loc = op->getLoc();
      Type i32 = b.getI32Type();
      Value index =
          arith::TruncIOp::create(b, loc, i32, kernel.localIndex(b, dim));
      Value limit = arith::TruncIOp::create(b, loc, i32, valid);
      Value isValid = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                            index, limit);
      Value filling = constantLike(b, loc, x[0], fill);
      return arith::SelectOp::create(b, loc, isValid, x[0], filling);
    });
  }
};

} // namespace

void tessera::attachMaskKernelOp(MLIRContext &context) {
  dist::MaskOp::attachInterface<MaskKernel>(context);
}

void tessera::attachRankKernelOps(MLIRContext &context) {
  rt::FirstOp::attachInterface<FirstKernel>(context);
  rt::SliceOp::attachInterface<ShiftKernel<rt::SliceOp>>(context);
  rt::PadOp::attachInterface<ShiftKernel<rt::PadOp>>(context);
}
