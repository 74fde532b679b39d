//===- OpBody.cpp - what an nn op computes per element --------------------===//

#include "lib/Lower/Kernels/OpBody.h"
#include "lib/Lower/Kernels/Padding.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// The factor that columns run over, if it is split and some rank holds
/// padding.
static std::optional<FactorSpan> paddedColumn(Operation *op,
                                              const KernelSpace &space) {
  if (space.factors.empty())
    return std::nullopt;
  std::optional<FactorSpan> span = spanOf(op, space.factors.back());
  if (!span)
    return std::nullopt;
  dist::MeshAttr mesh = dist::meshOf(op);
  bool isPadded = !mesh || span->isPadded(mesh);
  return isPadded ? span : std::nullopt;
}

/// Where a rank's chunk starts in the whole dimension; null: at 0.
Value OpBody::chunkStart(StringAttr axis, Type chunk, int64_t dim) {
  if (!axis)
    return {};
  int64_t size = cast<RankedTensorType>(chunk).getDimSize(dim);
  return emitter.scalar(
      startOf(emitter.outer, op->getLoc(), FactorSpan{{{axis, size}}, size}));
}

void OpBody::prepare() {
  OpBuilder &outer = emitter.outer;
  Location loc = op->getLoc();
  if (isa<nn::PickOp, nn::PickGradOp>(op))
    start = emitter.scalar(
        startOf(outer, loc, spanOf(op, member.space.factors.back())));
  if (auto span = paddedColumn(op, member.space))
    if (masksPadding(op, member.space.factors.back()))
      valid = emitter.scalar(validOf(outer, loc, *span));
  if (auto embedding = dyn_cast<nn::EmbeddingOp>(op)) {
    std::optional<FactorSpan> span = spanOf(op, 'v');
    auto type = cast<RankedTensorType>(embedding.getTable().getType());
    start = emitter.scalar(startOf(outer, loc, span));
    valid = emitter.scalar(span ? validOf(outer, loc, *span)
                                : i64(outer, loc, type.getDimSize(0)));
    table = emitter.operandView(member, 1).tensor;
  }
  if (isa<nn::PrefixGradOp, nn::RopeOp, rt::SliceOp, rt::PadOp>(op))
    table = emitter.operandView(member, 0).tensor;
  if (auto slice = dyn_cast<rt::SliceOp>(op))
    start = chunkStart(slice.getAxisAttr(), slice.getType(), slice.getDim());
  if (auto pad = dyn_cast<rt::PadOp>(op))
    start =
        chunkStart(pad.getAxisAttr(), pad.getInput().getType(), pad.getDim());
  if (isa<nn::RopeOp>(op)) {
    cosines = emitter.operandView(member, 1).tensor;
    sines = emitter.operandView(member, 2).tensor;
  }
  if (auto firstOp = dyn_cast<rt::FirstOp>(op))
    first = emitter.scalar(rt::CoordOp::create(outer, loc, outer.getI64Type(),
                                               firstOp.getAxisAttr()));
  auto dropout = dyn_cast<nn::DropoutOp>(op);
  if (!dropout)
    return;
  Value seed = rt::SeedOp::create(outer, loc, outer.getI64Type());
  Value step = rt::StepOp::create(outer, loc, outer.getI64Type());
  key = emitter.scalar(rt::StreamKeyOp::create(
      outer, loc, outer.getI64Type(), seed, step, dropout.getStreamAttr()));
  for (auto [d, f] : llvm::enumerate(member.space.factors)) {
    std::optional<FactorSpan> span = spanOf(op, f);
    Value begin = startOf(outer, loc, span);
    Value index = d == 0 ? microBatchOf(outer, op) : Value();
    if (index) {
      Value rows = i64(outer, loc, span ? span->total : member.space.sizes[0]);
      Value skipped = arith::MulIOp::create(outer, loc, index, rows);
      begin = arith::AddIOp::create(outer, loc, begin, skipped);
    }
    starts.push_back(emitter.scalar(begin));
  }
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

static Value index64(OpBuilder &b, Location loc, int64_t dim) {
  Value index = linalg::IndexOp::create(b, loc, dim);
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
}

Value OpBody::columnIndex(OpBuilder &b) { return index64(b, op->getLoc(), 1); }

/// Row-major index of the element in the global tensor. The part of the rows is
/// the same for a whole row.
Value OpBody::globalIndex(OpBuilder &b) {
  Location loc = op->getLoc();
  const KernelSpace &space = member.space;
  int64_t rank = space.factors.size(), stride = 1, left = 1;
  int64_t columns = emitter.group.columns;
  Value column = columnIndex(b), row = index64(b, loc, 0), sum;
  // Flat local index = row * columns + column; peel dimensions off its end. A
  // dimension lies wholly within the columns or wholly within the rows.
  for (int64_t d = rank - 1; d >= 0; --d) {
    std::optional<FactorSpan> span = spanOf(op, space.factors[d]);
    bool inColumns = left < columns;
    Value source = inColumns ? column : row;
    int64_t divisor = inColumns ? left : left / columns;
    if (divisor > 1)
      source = arith::DivUIOp::create(b, loc, source, i64(b, loc, divisor));
    // Rows of dimensions of size 1 behind the first are not the first's.
    bool outermost = d == 0 || (inColumns && left * space.sizes[d] == columns);
    if (!outermost)
      source =
          arith::RemUIOp::create(b, loc, source, i64(b, loc, space.sizes[d]));
    Value at = arith::AddIOp::create(b, loc, source, starts[d]);
    at = arith::MulIOp::create(b, loc, at, i64(b, loc, stride));
    sum = sum ? Value(arith::AddIOp::create(b, loc, sum, at)) : at;
    stride *= span ? span->total : space.sizes[d];
    left *= space.sizes[d];
  }
  return sum;
}

Value OpBody::isLabel(OpBuilder &b, Value label) {
  Location loc = op->getLoc();
  Value wanted = arith::ExtSIOp::create(b, loc, b.getI64Type(), label);
  Value row = arith::SubIOp::create(b, loc, wanted, start);
  // Labels fit 32 bits; narrow comparisons vectorize better.
  Value narrowRow = arith::TruncIOp::create(b, loc, b.getI32Type(), row);
  Value column = arith::IndexCastOp::create(b, loc, b.getI32Type(),
                                            linalg::IndexOp::create(b, loc, 1));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, column,
                               narrowRow);
}

static Value constantLike(OpBuilder &b, Location loc, Value like, double v) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(like.getType(), v));
}

/// The value, or `padding` where the rank's slice has ended; most ops do not
/// need it and have no `valid`.
Value OpBody::maskPadding(OpBuilder &b, Value value, double padding) {
  if (!valid)
    return value;
  Location loc = op->getLoc();
  Value limit = arith::TruncIOp::create(b, loc, b.getI32Type(), valid);
  Value column = arith::IndexCastOp::create(b, loc, b.getI32Type(),
                                            linalg::IndexOp::create(b, loc, 1));
  Value inside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, column, limit);
  return arith::SelectOp::create(b, loc, inside, value,
                                 constantLike(b, loc, value, padding));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The element of a row (i64) of the table, or 0 where `inside` is false.
Value OpBody::rowOrZero(OpBuilder &b, Value inside, Value row) {
  Location loc = op->getLoc();
  Value safe = arith::SelectOp::create(b, loc, inside, row, i64(b, loc, 0));
  Value at = arith::IndexCastOp::create(b, loc, b.getIndexType(), safe);
  Value column = linalg::IndexOp::create(b, loc, 1);
  Value x = tensor::ExtractOp::create(b, loc, table, ValueRange{at, column});
  x = widen(b, loc, x);
  return arith::SelectOp::create(b, loc, inside, x,
                                 constantLike(b, loc, x, 0.0));
}

Value OpBody::lookUp(OpBuilder &b, Value id) {
  Location loc = op->getLoc();
  Value wide = arith::ExtSIOp::create(b, loc, b.getI64Type(), id);
  Value row = arith::SubIOp::create(b, loc, wide, start);
  // Unsigned: a negative row is too large.
  Value hit =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row, valid);
  return rowOrZero(b, hit, row);
}

/// The gradient's row, or 0 behind its last row.
Value OpBody::prefixRow(OpBuilder &b) {
  Location loc = op->getLoc();
  int64_t rows = cast<RankedTensorType>(table.getType()).getDimSize(0);
  Value row = index64(b, loc, 0);
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, row,
                                       i64(b, loc, rows));
  return rowOrZero(b, inside, row);
}

/// Row (o, j) of the result is row (o, j + shift) of the operand, 0 where that
/// lies outside.
Value OpBody::shiftedRow(OpBuilder &b, int64_t dim, Value shift) {
  Location loc = op->getLoc();
  auto sizeOf = [&](Value value) {
    return i64(b, loc, cast<RankedTensorType>(value.getType()).getDimSize(dim));
  };
  Value from = sizeOf(op->getOperand(0)), to = sizeOf(op->getResult(0));
  Value row = index64(b, loc, 0);
  Value at = arith::RemUIOp::create(b, loc, row, to);
  if (shift)
    at = arith::AddIOp::create(b, loc, at, shift);
  // Unsigned: a negative row is too large.
  Value inside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at, from);
  Value outer = arith::MulIOp::create(
      b, loc, arith::DivUIOp::create(b, loc, row, to), from);
  return rowOrZero(b, inside, arith::AddIOp::create(b, loc, outer, at));
}

Value OpBody::sliceRow(OpBuilder &b, rt::SliceOp slice) {
  return shiftedRow(b, slice.getDim(), start);
}

Value OpBody::padRow(OpBuilder &b, rt::PadOp pad) {
  Value back;
  if (start)
    back =
        arith::SubIOp::create(b, op->getLoc(), i64(b, op->getLoc(), 0), start);
  return shiftedRow(b, pad.getDim(), back);
}

Value OpBody::dropout(OpBuilder &b, nn::DropoutOp dropout, Value x) {
  Location loc = op->getLoc();
  double p = dropout.getP().convertToDouble();
  auto threshold = static_cast<uint32_t>(std::ceil(p * 4294967296.0));
  Value word = emitPhilox(b, loc, globalIndex(b), key);
  Value limit = arith::ConstantOp::create(
      b, loc,
      b.getIntegerAttr(b.getI32Type(), static_cast<int32_t>(threshold)));
  Value keep =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, word, limit);
  Value scaled =
      arith::MulFOp::create(b, loc, x, constantLike(b, loc, x, 1 / (1 - p)));
  return arith::SelectOp::create(b, loc, keep, scaled,
                                 constantLike(b, loc, x, 0.0));
}

/// Row 2k is the first half of head k, row 2k + 1 the second; heads of one
/// position are neighbours.
Value OpBody::rotate(OpBuilder &b, nn::RopeOp rope) {
  Location loc = op->getLoc();
  ArrayRef<int64_t> shape = rope.getType().getShape();
  auto index = [&](int64_t v) -> Value {
    return arith::ConstantIndexOp::create(b, loc, v);
  };
  int64_t sequence = shape[1];
  int64_t halves = member.space.sizes[0] / (shape[0] * sequence);
  Value row = linalg::IndexOp::create(b, loc, 0);
  Value column = linalg::IndexOp::create(b, loc, 1);
  Value place = arith::DivUIOp::create(b, loc, row, index(halves));
  place = arith::RemUIOp::create(b, loc, place, index(sequence));
  Value half = arith::RemUIOp::create(b, loc, row, index(2));
  Value other = arith::XOrIOp::create(b, loc, row, index(1));
  auto read = [&](Value from, Value at) {
    Value x = tensor::ExtractOp::create(b, loc, from, ValueRange{at, column});
    return widen(b, loc, x);
  };
  Value x = read(table, row), y = read(table, other);
  Value cosine = read(cosines, place), sine = read(sines, place);
  // The first half subtracts; turning back, the second.
  Value subtracts = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::eq, half, index(rope.getInverse() ? 1 : 0));
  Value sign =
      arith::SelectOp::create(b, loc, subtracts, constantLike(b, loc, x, -1.0),
                              constantLike(b, loc, x, 1.0));
  Value turned = arith::MulFOp::create(
      b, loc, arith::MulFOp::create(b, loc, y, sine), sign);
  return arith::AddFOp::create(b, loc, arith::MulFOp::create(b, loc, x, cosine),
                               turned);
}

Value OpBody::counts(OpBuilder &b, nn::CountedOp counted, Value label) {
  Location loc = op->getLoc();
  Type type = counted.getElementType();
  Value zero = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  Value legal =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, label, zero);
  auto constant = [&](double v) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, v));
  };
  return arith::SelectOp::create(b, loc, legal, constant(1), constant(0));
}

/// p - lr (m c1 / (sqrt(v c2) + epsilon) + decay p)
Value OpBody::adamw(OpBuilder &b, nn::AdamWOp adam, ValueRange x) {
  Location loc = op->getLoc();
  auto mul = [&](Value l, Value r) -> Value {
    return arith::MulFOp::create(b, loc, l, r);
  };
  auto constant = [&](APFloat v) {
    return constantLike(b, loc, x[0], v.convertToDouble());
  };
  Value root = math::SqrtOp::create(b, loc, mul(x[2], x[5]));
  Value bottom =
      arith::AddFOp::create(b, loc, root, constant(adam.getEpsilon()));
  Value move = arith::DivFOp::create(b, loc, mul(x[1], x[4]), bottom);
  if (!adam.getDecay().isZero())
    move = arith::AddFOp::create(b, loc, move,
                                 mul(x[0], constant(adam.getDecay())));
  return arith::SubFOp::create(b, loc, x[0], mul(x[3], move));
}

Value OpBody::products(OpBuilder &b, nn::EinsumOp einsum, ValueRange x) {
  Location loc = op->getLoc();
  Value result = x[0];
  for (Value factor : x.drop_front())
    result = arith::MulFOp::create(b, loc, result, factor);
  double scale = einsum.getScale().convertToDouble();
  if (scale != 1.0)
    result = arith::MulFOp::create(b, loc, result,
                                   constantLike(b, loc, result, scale));
  return result;
}

Value OpBody::sums(OpBuilder &b, nn::AddOp add, ValueRange x) {
  Location loc = op->getLoc();
  Value result;
  for (auto [k, term] : llvm::enumerate(x)) {
    double c = add.getCoefficient(k);
    if (result && c == -1.0) {
      result = arith::SubFOp::create(b, loc, result, term);
      continue;
    }
    Value scaled = term;
    if (c != 1.0)
      scaled =
          arith::MulFOp::create(b, loc, term, constantLike(b, loc, term, c));
    result =
        result ? Value(arith::AddFOp::create(b, loc, result, scaled)) : scaled;
  }
  return result;
}

Value OpBody::emit(OpBuilder &b, ValueRange x) {
  Location loc = op->getLoc();
  auto zeroUnless = [&](Value condition, Value value) -> Value {
    return arith::SelectOp::create(b, loc, condition, value,
                                   constantLike(b, loc, value, 0.0));
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](nn::EinsumOp e) { return products(b, e, x); })
      .Case([&](nn::AddOp a) { return maskPadding(b, sums(b, a, x), 0.0); })
      .Case([&](nn::MapOp m) {
        double bound = m.getBound() ? m.getBound()->convertToDouble() : 0;
        Value y = emitFunction(b, loc, m.getFunction(), x[0], bound);
        return maskPadding(b, y, 0.0);
      })
      .Case([&](nn::MapGradOp m) -> Value {
        return arith::MulFOp::create(
            b, loc, x[0], emitDerivative(b, loc, m.getFunction(), x[1]));
      })
      .Case([&](nn::DropoutOp d) { return dropout(b, d, x[0]); })
      .Case([&](nn::PickOp) { return zeroUnless(isLabel(b, x[1]), x[0]); })
      .Case([&](nn::PickGradOp) { return zeroUnless(isLabel(b, x[1]), x[0]); })
      .Case([&](nn::MaxOp) { return maskPadding(b, x[0], -INFINITY); })
      .Case([&](nn::EmbeddingOp) { return lookUp(b, x[0]); })
      .Case([&](nn::PrefixGradOp) { return prefixRow(b); })
      .Case([&](rt::SliceOp s) { return sliceRow(b, s); })
      .Case([&](rt::PadOp p) { return padRow(b, p); })
      .Case([&](nn::RopeOp r) { return rotate(b, r); })
      .Case([&](nn::CountedOp c) { return counts(b, c, x[0]); })
      .Case([&](nn::RoutedOp) -> Value {
        Value zero = constantLike(b, loc, x[0], 0.0);
        Value isRouted = arith::CmpFOp::create(
            b, loc, arith::CmpFPredicate::UNE, x[0], zero);
        return zeroUnless(isRouted, constantLike(b, loc, x[0], 1.0));
      })
      .Case([&](nn::AdamWOp a) { return adamw(b, a, x); })
      .Case([&](rt::FirstOp) {
        Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                              first, i64(b, loc, 0));
        return zeroUnless(isFirst, x[0]);
      })
      .Case([&](nn::BroadcastOp) { return maskPadding(b, x[0], 0.0); })
      .Default([&](Operation *) { return x[0]; }); // cast
}
