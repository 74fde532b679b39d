//===- OptimizerOps.cpp - ops of the optimizer ----------------------------===//

#include "lib/Train/OptimizerOps.h"

using namespace mlir;
using namespace tessera;

static ShardingPlan planOn(dist::MeshAttr mesh) {
  ShardingPlan plan;
  plan.mesh = mesh;
  return plan;
}

OptimizerOps::OptimizerOps(func::FuncOp func)
    : builder(func.getBody().front().getTerminator()), loc(func.getLoc()),
      mesh(dist::meshOf(func)), place(planOn(mesh)) {}

void OptimizerOps::enter(StringRef part, Location file) {
  loc = NameLoc::get(builder.getStringAttr(part), file);
}

Value OptimizerOps::product(const Twine &spec, ValueRange inputs,
                            double scale) {
  return emit<nn::EinsumOp>(builder.getStringAttr(spec), inputs,
                            builder.getF64FloatAttr(scale), TypeAttr());
}

Value OptimizerOps::sum(const Twine &spec, ValueRange inputs,
                        ArrayRef<double> coefs) {
  return emit<nn::AddOp>(builder.getStringAttr(spec), inputs,
                         coefs.empty() ? DenseF64ArrayAttr()
                                       : builder.getDenseF64ArrayAttr(coefs));
}

Value OptimizerOps::map(nn::Function function, Value input) {
  return emit<nn::MapOp>(nn::FunctionAttr::get(builder.getContext(), function),
                         input, FloatAttr());
}

Value OptimizerOps::map(nn::Function function, Value input, double bound) {
  return emit<nn::MapOp>(nn::FunctionAttr::get(builder.getContext(), function),
                         input, builder.getF64FloatAttr(bound));
}

Value OptimizerOps::scaled(Value factor, Value x, double scale) {
  std::string d = nn::lettersOf(x);
  return product("," + d + "->" + d, {factor, x}, scale);
}

Value OptimizerOps::combined(ValueRange terms, ArrayRef<double> coefs) {
  std::string d = nn::lettersOf(terms.front()), spec = d;
  for (size_t k = 1; k < terms.size(); ++k)
    spec += "," + d;
  return sum(spec + "->" + d, terms, coefs);
}

Value OptimizerOps::toInvariant(Value value) {
  if (mesh)
    for (StringAttr axis : mesh.getAxes())
      value = place.convert(builder, value, axis, {dist::State::I});
  return value;
}

Value OptimizerOps::reduced(Value value) {
  if (mesh)
    for (StringAttr axis : mesh.getAxes())
      if (dist::stateOf(value.getType(), axis).kind == dist::State::P)
        value = place.convert(builder, value, axis, {dist::State::I});
  return value;
}

Value OptimizerOps::toStatesOf(Value value, Value other) {
  if (mesh)
    for (StringAttr axis : mesh.getAxes())
      value = place.convert(builder, value, axis,
                            dist::stateOf(other.getType(), axis));
  return value;
}
