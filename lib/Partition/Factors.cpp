//===- Factors.cpp - where a rank's slice of a factor lies ----------------===//

#include "tessera/Partition/Factors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;

bool FactorSpan::isPadded(dist::MeshAttr mesh) const {
  int64_t ranks = 1;
  for (const Cut &cut : cuts)
    ranks *= mesh.getSize(cut.axis);
  return chunk() * ranks != total;
}

/// Reads `v = {axes = ["tp"], chunks = array<i64: 4>, total = 7}`.
std::optional<FactorSpan> tessera::spanOf(Operation *op, char factor) {
  auto all = op->getAttrOfType<DictionaryAttr>(rt::RTDialect::kFactorsAttr);
  if (!all)
    return std::nullopt;
  auto entry = all.getAs<DictionaryAttr>(StringRef(&factor, 1));
  if (!entry)
    return std::nullopt;
  FactorSpan span;
  auto axes = entry.getAs<ArrayAttr>("axes").getAsRange<StringAttr>();
  auto chunks = entry.getAs<DenseI64ArrayAttr>("chunks").asArrayRef();
  for (auto [axis, chunk] : llvm::zip(axes, chunks))
    span.cuts.push_back({axis, chunk});
  span.total = entry.getAs<IntegerAttr>("total").getInt();
  return span;
}

void tessera::setSpan(Operation *op, char factor, const FactorSpan &span) {
  Builder builder(op->getContext());
  SmallVector<Attribute> axes;
  SmallVector<int64_t> chunks;
  for (const FactorSpan::Cut &cut : span.cuts) {
    axes.push_back(cut.axis);
    chunks.push_back(cut.chunk);
  }
  NamedAttrList entry,
      all(op->getAttrOfType<DictionaryAttr>(rt::RTDialect::kFactorsAttr));
  entry.set("axes", builder.getArrayAttr(axes));
  entry.set("chunks", builder.getDenseI64ArrayAttr(chunks));
  entry.set("total", builder.getI64IntegerAttr(span.total));
  all.set(StringRef(&factor, 1), entry.getDictionary(op->getContext()));
  op->setAttr(rt::RTDialect::kFactorsAttr, all.getDictionary(op->getContext()));
}

Value tessera::i64(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 64);
}

static Value coordinateTimes(OpBuilder &builder, Location loc,
                             const FactorSpan::Cut &cut) {
  Value coordinate =
      rt::CoordOp::create(builder, loc, builder.getI64Type(), cut.axis);
  return arith::MulIOp::create(builder, loc, coordinate,
                               i64(builder, loc, cut.chunk));
}

Value tessera::startOf(OpBuilder &builder, Location loc,
                       const std::optional<FactorSpan> &span) {
  if (!span)
    return i64(builder, loc, 0);
  Value start;
  for (const FactorSpan::Cut &cut : span->cuts) {
    Value inner = coordinateTimes(builder, loc, cut);
    start = start ? Value(arith::AddIOp::create(builder, loc, start, inner))
                  : inner;
  }
  return start;
}

/// An inner axis cuts the padded chunk of the outer one.
Value tessera::validOf(OpBuilder &builder, Location loc,
                       const FactorSpan &span) {
  Value valid = i64(builder, loc, span.total), zero = i64(builder, loc, 0);
  for (const FactorSpan::Cut &cut : span.cuts) {
    Value left = arith::SubIOp::create(builder, loc, valid,
                                       coordinateTimes(builder, loc, cut));
    Value atLeast = arith::MaxSIOp::create(builder, loc, left, zero);
    valid = arith::MinSIOp::create(builder, loc, atLeast,
                                   i64(builder, loc, cut.chunk));
  }
  return valid;
}

Value tessera::microBatchOf(OpBuilder &builder, Operation *op) {
  if (auto loop = op->getParentOfType<rt::LoopOp>())
    return loop.getBody().getArgument(0);
  auto number = op->getAttrOfType<IntegerAttr>(rt::RTDialect::kMicroBatchAttr);
  return number ? i64(builder, op->getLoc(), number.getInt()) : Value();
}
