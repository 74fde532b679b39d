//===- LookupKernelOps.cpp - embedding, pick, max, rope in kernels --------===//

#include "lib/Lower/Kernels/KernelMath.h"
#include "lib/Lower/Kernels/KernelOps.h"
#include "lib/Lower/Kernels/TableRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Lower/Kernels/KernelOpInterface.h"
#include "tessera/Partition/Factors.h"

using namespace mlir;
using namespace tessera;

namespace {

//===----------------------------------------------------------------------===//
// pick, max
//===----------------------------------------------------------------------===//

/// Compares the body's column of the rank's slice with the one that the label
/// names.
Value compareToLabel(OpBuilder &b, Location loc, arith::CmpIPredicate predicate,
                     Value label, Value start) {
  Value wanted = arith::ExtSIOp::create(b, loc, b.getI64Type(), label);
  Value row = arith::SubIOp::create(b, loc, wanted, start);
  // Labels fit 32 bits; narrow comparisons vectorize better.
  Value narrowRow = arith::TruncIOp::create(b, loc, b.getI32Type(), row);
  Value column = arith::IndexCastOp::create(b, loc, b.getI32Type(),
                                            linalg::IndexOp::create(b, loc, 1));
  return arith::CmpIOp::create(b, loc, predicate, column, narrowRow);
}

/// The first operand where the second, a label, names the column; else 0.
template <typename OpTy>
struct PickKernel : KernelOpInterface::ExternalModel<PickKernel<OpTy>, OpTy> {
  FailureOr<ElementBody> buildElementBody(Operation *op,
                                          KernelScope &kernel) const {
    Location loc = op->getLoc();
    char column = kernel.space().factors.back();
    Value start =
        kernel.scalar(startOf(kernel.host(), loc, spanOf(op, column)));
    return ElementBody([=](OpBuilder &b, ValueRange x) {
      Value isLabel =
          compareToLabel(b, loc, arith::CmpIPredicate::eq, x[1], start);
      return zeroUnless(b, loc, isLabel, x[0]);
    });
  }
};

/// 1 where the body's column comes before the label's; a sum counts them.
struct LabelRankKernel
    : KernelOpInterface::ExternalModel<LabelRankKernel, nn::LabelRankOp> {
  FailureOr<ElementBody> buildElementBody(Operation *op,
                                          KernelScope &kernel) const {
    Location loc = op->getLoc();
    char column = kernel.space().factors.back();
    Value start =
        kernel.scalar(startOf(kernel.host(), loc, spanOf(op, column)));
    return ElementBody([=](OpBuilder &b, ValueRange x) -> Value {
      Value larger =
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UGT, x[0], x[2]);
      Value equal =
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x[0], x[2]);
      Value earlier =
          compareToLabel(b, loc, arith::CmpIPredicate::slt, x[1], start);
      Value first = arith::AndIOp::create(b, loc, equal, earlier);
      Value before = arith::OrIOp::create(b, loc, larger, first);
      return zeroUnless(b, loc, before, constantLike(b, loc, x[0], 1.0));
    });
  }
};

struct MaxKernel : KernelOpInterface::ExternalModel<MaxKernel, nn::MaxOp> {
  std::optional<KernelSpace> getKernelSpace(Operation *op) const {
    std::optional<KernelSpace> space = spaceOfSignature(op);
    if (space)
      space->combiner = KernelSpace::Maximum;
    return space;
  }
  FailureOr<ElementBody> buildElementBody(Operation *, KernelScope &) const {
    return ElementBody([](OpBuilder &, ValueRange x) { return x[0]; });
  }
};

//===----------------------------------------------------------------------===//
// embedding, prefix_grad
//===----------------------------------------------------------------------===//

struct EmbeddingKernel
    : KernelOpInterface::ExternalModel<EmbeddingKernel, nn::EmbeddingOp> {
  std::optional<KernelSpace> getKernelSpace(Operation *op) const {
    dist::Signature sig = cast<nn::EmbeddingOp>(op).getSignature(0);
    KernelSpace space = factorsOf(sig);
    space.operands[1].access = KernelOperand::Table;
    space.split = sig.ins[0].size();
    return setSizes(op, space) ? std::optional(space) : std::nullopt;
  }
  FailureOr<ElementBody> buildElementBody(Operation *op,
                                          KernelScope &kernel) const {
    Location loc = op->getLoc();
    OpBuilder &host = kernel.host();
    auto type =
        cast<RankedTensorType>(cast<nn::EmbeddingOp>(op).getTable().getType());
    std::optional<FactorSpan> span = spanOf(op, 'v');
    Value start = kernel.scalar(startOf(host, loc, span));
    Value rows = kernel.scalar(span ? validOf(host, loc, *span)
                                    : i64(host, loc, type.getDimSize(0)));
    Value table = kernel.table(1);
    return ElementBody([=](OpBuilder &b, ValueRange id) {
      Value wide = arith::ExtSIOp::create(b, loc, b.getI64Type(), id[0]);
      Value row = arith::SubIOp::create(b, loc, wide, start);
      // Unsigned: a negative row is too large.
      Value hit =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row, rows);
      return rowOrZero(b, loc, table, hit, row);
    });
  }
};

/// A lane's rows lie together in the table; 0 where the number is negative.
struct TakeKernel : KernelOpInterface::ExternalModel<TakeKernel, nn::TakeOp> {
  std::optional<KernelSpace> getKernelSpace(Operation *op) const {
    KernelSpace space;
    space.factors = space.result = "bmh";
    space.operands = {{"", KernelOperand::Table},
                      {"bm", KernelOperand::Element}};
    space.split = 2;
    return setSizes(op, space) ? std::optional(space) : std::nullopt;
  }
  FailureOr<ElementBody> buildElementBody(Operation *op,
                                          KernelScope &kernel) const {
    Location loc = op->getLoc();
    auto take = cast<nn::TakeOp>(op);
    int64_t rows = take.getInput().getType().getDimSize(1);
    int64_t taken = take.getNumbers().getType().getDimSize(1);
    Value table = kernel.table(0);
    return ElementBody([=](OpBuilder &b, ValueRange x) {
      Value wide = arith::ExtSIOp::create(b, loc, b.getI64Type(), x[1]);
      // Unsigned: a negative number is too large.
      Value hit = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, wide,
                                        i64(b, loc, rows));
      Value lane = arith::DivUIOp::create(b, loc, index64(b, loc, 0),
                                          i64(b, loc, taken));
      Value first = arith::MulIOp::create(b, loc, lane, i64(b, loc, rows));
      return rowOrZero(b, loc, table, hit,
                       arith::AddIOp::create(b, loc, first, wide));
    });
  }
};

/// The gradient is a shorter table; 0 after its last row.
struct PrefixGradKernel
    : KernelOpInterface::ExternalModel<PrefixGradKernel, nn::PrefixGradOp> {
  std::optional<KernelSpace> getKernelSpace(Operation *op) const {
    KernelSpace space;
    space.factors = space.result = "ph";
    space.operands = {{"", KernelOperand::Table}, {"ph", KernelOperand::Shape}};
    space.split = 1;
    return setSizes(op, space) ? std::optional(space) : std::nullopt;
  }
  FailureOr<ElementBody> buildElementBody(Operation *op,
                                          KernelScope &kernel) const {
    Value table = kernel.table(0);
    return ElementBody([=](OpBuilder &b, ValueRange) {
      Location loc = op->getLoc();
      int64_t rows = cast<RankedTensorType>(table.getType()).getDimSize(0);
      Value row = index64(b, loc, 0);
      Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                           row, i64(b, loc, rows));
      return rowOrZero(b, loc, table, inside, row);
    });
  }
};

//===----------------------------------------------------------------------===//
// rope
//===----------------------------------------------------------------------===//

/// Rows are halves of heads: row 2k is the first half of head k, row 2k + 1 the
/// second, and heads of one position are neighbours. Both halves are read at
/// the same columns.
struct RopeKernel : KernelOpInterface::ExternalModel<RopeKernel, nn::RopeOp> {
  std::optional<KernelSpace> getKernelSpace(Operation *op) const {
    auto rope = cast<nn::RopeOp>(op);
    int64_t angles =
        cast<RankedTensorType>(rope.getCosines().getType()).getShape().back();
    KernelSpace space;
    space.factors = space.result = "ze";
    space.sizes = {rope.getType().getNumElements() / angles, angles};
    space.operands.assign(3, {"", KernelOperand::Table});
    space.split = 1;
    return space;
  }
  FailureOr<ElementBody> buildElementBody(Operation *op,
                                          KernelScope &kernel) const {
    auto rope = cast<nn::RopeOp>(op);
    ArrayRef<int64_t> shape = rope.getType().getShape();
    Rotation rotation;
    bool ofRows =
        cast<RankedTensorType>(rope.getCosines().getType()).getRank() == 3;
    rotation.angles = ofRows ? shape[0] * shape[1] : shape[1];
    rotation.halves = kernel.space().sizes[0] / (shape[0] * shape[1]);
    rotation.inverse = rope.getInverse();
    rotation.heads = kernel.table(0);
    rotation.cosines = kernel.table(1);
    rotation.sines = kernel.table(2);
    return ElementBody([=](OpBuilder &b, ValueRange) {
      return rotation.build(b, op->getLoc());
    });
  }

  struct Rotation {
    int64_t angles = 1; ///< Positions that have angles, in turn.
    int64_t halves = 1; ///< Halves of one position.
    bool inverse = false;
    Value heads, cosines, sines;

    Value build(OpBuilder &b, Location loc) const;
  };
};

Value RopeKernel::Rotation::build(OpBuilder &b, Location loc) const {
  auto index = [&](int64_t v) -> Value {
    return arith::ConstantIndexOp::create(b, loc, v);
  };
  Value row = linalg::IndexOp::create(b, loc, 0);
  Value column = linalg::IndexOp::create(b, loc, 1);
  Value place = arith::DivUIOp::create(b, loc, row, index(halves));
  place = arith::RemUIOp::create(b, loc, place, index(angles));
  Value half = arith::RemUIOp::create(b, loc, row, index(2));
  Value other = arith::XOrIOp::create(b, loc, row, index(1));
  auto read = [&](Value from, Value at) {
    Value x = tensor::ExtractOp::create(b, loc, from, ValueRange{at, column});
    return widen(b, loc, x);
  };
  Value x = read(heads, row), y = read(heads, other);
  Value cosine = read(cosines, place), sine = read(sines, place);
  // The first half subtracts; if the rotation is inverse, the second does.
  Value subtracts = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          half, index(inverse ? 1 : 0));
  Value sign =
      arith::SelectOp::create(b, loc, subtracts, constantLike(b, loc, x, -1.0),
                              constantLike(b, loc, x, 1.0));
  Value turned = arith::MulFOp::create(
      b, loc, arith::MulFOp::create(b, loc, y, sine), sign);
  return arith::AddFOp::create(b, loc, arith::MulFOp::create(b, loc, x, cosine),
                               turned);
}

} // namespace

void tessera::attachLookupKernelOps(MLIRContext &context) {
  nn::PickOp::attachInterface<PickKernel<nn::PickOp>>(context);
  nn::PickGradOp::attachInterface<PickKernel<nn::PickGradOp>>(context);
  nn::LabelRankOp::attachInterface<LabelRankKernel>(context);
  nn::MaxOp::attachInterface<MaxKernel>(context);
  nn::EmbeddingOp::attachInterface<EmbeddingKernel>(context);
  nn::PrefixGradOp::attachInterface<PrefixGradKernel>(context);
  nn::RopeOp::attachInterface<RopeKernel>(context);
  nn::TakeOp::attachInterface<TakeKernel>(context);
}
