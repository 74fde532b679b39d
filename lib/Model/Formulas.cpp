//===- Formulas.cpp - what ops compute, of simpler ops --------------------===//

#include "lib/Model/Formulas.h"
#include "tessera/Dialect/NN/Marks.h"

using namespace mlir;
using namespace tessera;

Formulas::Formulas(func::FuncOp func)
    : builder(func.getContext()), func(func), loc(func.getLoc()) {}

void Formulas::begin(Operation *op, Type type) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  element = type;
}

void Formulas::mark(Operation *op) {
  op->setAttr(nn::kFormulaAttr, builder.getUnitAttr());
}

Value Formulas::product(const Twine &spec, ValueRange inputs, double scale) {
  return emit<nn::EinsumOp>(builder.getStringAttr(spec), inputs,
                            builder.getF64FloatAttr(scale), TypeAttr());
}

Value Formulas::sum(const Twine &spec, ValueRange inputs,
                    ArrayRef<double> coefs) {
  return emit<nn::AddOp>(builder.getStringAttr(spec), inputs,
                         coefs.empty() ? DenseF64ArrayAttr()
                                       : builder.getDenseF64ArrayAttr(coefs));
}

Value Formulas::map(nn::Function function, Value input) {
  return emit<nn::MapOp>(nn::FunctionAttr::get(builder.getContext(), function),
                         input, FloatAttr());
}

Value Formulas::constant(double value) {
  return emit<nn::ConstantOp>(builder.getF64FloatAttr(value),
                              TypeAttr::get(element));
}

Value Formulas::scaled(Value x, double scale, double offset) {
  std::string d = nn::lettersOf(x);
  if (offset == 0)
    return product(d + "->" + d, x, scale);
  return sum(d + ",->" + d, {x, constant(1)}, {scale, offset});
}

Value Formulas::times(Value x, Value y) {
  std::string d = nn::lettersOf(x);
  return product(d + "," + d + "->" + d, {x, y});
}

Value Formulas::cast(Value x, Type type) {
  if (getElementTypeOrSelf(x.getType()) == type)
    return x;
  return emit<nn::CastOp>(x, TypeAttr::get(type));
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// The sine of small angles is the angle: scale * sin(p / scale) is p but for
/// p^3 / (6 scale^2), less than 1e-3 up to 8192. Comparisons of whole numbers
/// allow for a half.
Value Formulas::table(int64_t size) {
  constexpr double scale = 1e7;
  auto type = RankedTensorType::get({size, 1}, element);
  unsigned index = func.getNumArguments();
  while (index > 0 && func.getArgAttr(index - 1, nn::NNDialect::kDataAttr))
    --index;
  NamedAttrList init, attrs;
  init.set("kind", builder.getStringAttr("sines"));
  init.set("frequencies", builder.getF64ArrayAttr({1 / scale}));
  init.set("scale", builder.getF64FloatAttr(scale));
  attrs.set(nn::NNDialect::kTableAttr,
            builder.getStringAttr("formula.count." + Twine(size)));
  attrs.set(nn::NNDialect::kDimsAttr, builder.getStringAttr("pe"));
  attrs.set(nn::NNDialect::kInitAttr, init.getDictionary(func.getContext()));
  (void)func.insertArgument(index, type, attrs.getDictionary(func.getContext()),
                            loc);
  return func.getArgument(index);
}

/// The op stands at the start of the program, because several layers read it.
Value Formulas::count(int64_t size) {
  Value &known = counts[{size, element.getAsOpaquePointer()}];
  if (known)
    return known;
  Value rows = table(size);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&func.getBody().front());
  return known = product("pe->p", rows);
}

Value Formulas::indices(StringRef letters, ArrayRef<int64_t> sizes,
                        ArrayRef<double> weights) {
  Value all = scaled(count(sizes.front()), weights.front());
  for (size_t k = 1; k < letters.size(); ++k) {
    StringRef before = letters.take_front(k), next = letters.slice(k, k + 1);
    all = sum(before + "," + next + "->" + before + next,
              {all, count(sizes[k])}, {1, weights[k]});
  }
  return all;
}

Value Formulas::difference(StringRef rows, Value x, StringRef columns,
                           Value y) {
  return sum(rows + "," + columns + "->" + rows + columns, {x, y}, {1, -1});
}

/// (1 + sign(x - least + 1/2)) / 2
Value Formulas::isAtLeast(Value x, double least) {
  Value side = map(nn::Function::Sign, scaled(x, 1, 0.5 - least));
  return scaled(side, 0.5, 0.5);
}

Value Formulas::isBelow(Value x, double bound) {
  return scaled(isAtLeast(x, bound), -1, 1);
}

/// (sign(x + 1/2) - sign(x - 1/2)) / 2
Value Formulas::isZero(Value x) {
  std::string d = nn::lettersOf(x);
  Value above = map(nn::Function::Sign, scaled(x, 1, 0.5));
  Value below = map(nn::Function::Sign, scaled(x, 1, -0.5));
  return sum(d + "," + d + "->" + d, {above, below}, {0.5, -0.5});
}
