//===- Factors.cpp - where a rank's slice of a factor lies ----------------===//

#include "tessera/Conversion/NNToRT/Factors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;

std::optional<FactorSpan> tessera::spanOf(Operation *op, char factor) {
  auto all = op->getAttrOfType<DictionaryAttr>(rt::RTDialect::kFactorsAttr);
  if (!all)
    return std::nullopt;
  auto span = all.getAs<DictionaryAttr>(StringRef(&factor, 1));
  if (!span)
    return std::nullopt;
  return FactorSpan{span.getAs<StringAttr>("axis"),
                    span.getAs<IntegerAttr>("chunk").getInt(),
                    span.getAs<IntegerAttr>("total").getInt()};
}

void tessera::setSpan(Operation *op, char factor, const FactorSpan &span) {
  Builder builder(op->getContext());
  NamedAttrList all(
      op->getAttrOfType<DictionaryAttr>(rt::RTDialect::kFactorsAttr));
  all.set(
      StringRef(&factor, 1),
      builder.getDictionaryAttr(
          {builder.getNamedAttr("axis", span.axis),
           builder.getNamedAttr("chunk", builder.getI64IntegerAttr(span.chunk)),
           builder.getNamedAttr("total",
                                builder.getI64IntegerAttr(span.total))}));
  op->setAttr(rt::RTDialect::kFactorsAttr, all.getDictionary(op->getContext()));
}

Value tessera::i64(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 64);
}

Value tessera::startOf(OpBuilder &builder, Location loc,
                       const std::optional<FactorSpan> &span) {
  if (!span)
    return i64(builder, loc, 0);
  Value coordinate =
      rt::CoordOp::create(builder, loc, builder.getI64Type(), span->axis);
  return arith::MulIOp::create(builder, loc, coordinate,
                               i64(builder, loc, span->chunk));
}

Value tessera::validOf(OpBuilder &builder, Location loc,
                       const FactorSpan &span) {
  Value left = arith::SubIOp::create(
      builder, loc, i64(builder, loc, span.total), startOf(builder, loc, span));
  Value zero = i64(builder, loc, 0), chunk = i64(builder, loc, span.chunk);
  Value atLeast = arith::MaxSIOp::create(builder, loc, left, zero);
  return arith::MinSIOp::create(builder, loc, atLeast, chunk);
}

DictionaryAttr tessera::getResultEntry(OpResult result, StringRef name) {
  auto entries = result.getOwner()->getAttrOfType<ArrayAttr>(name);
  unsigned k = result.getResultNumber();
  return entries && k < entries.size() ? dyn_cast<DictionaryAttr>(entries[k])
                                       : DictionaryAttr();
}

void tessera::setResultEntry(OpResult result, StringRef name,
                             DictionaryAttr entry) {
  Operation *op = result.getOwner();
  SmallVector<Attribute> entries;
  for (OpResult other : op->getResults()) {
    DictionaryAttr known = getResultEntry(other, name);
    entries.push_back(known ? known : DictionaryAttr::get(op->getContext()));
  }
  entries[result.getResultNumber()] = entry;
  op->setAttr(name, ArrayAttr::get(op->getContext(), entries));
}
