//===- Kernel.cpp - queries on an analysed kernel -------------------------===//

#include "tessera/Lower/Kernels/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tessera {

Value tensorOf(BlockArgument argument) {
  auto op = cast<linalg::GenericOp>(argument.getOwner()->getParentOp());
  return op->getOperand(argument.getArgNumber());
}

Dims Kernel::domainOf(linalg::GenericOp op) const {
  Dims domain = kNone;
  for (Dims dim : loopsOf(op))
    domain |= dim;
  return domain;
}

const Reduction *Kernel::reductionOf(Value tensor) const {
  auto found = reductions.find(tensor);
  return found == reductions.end() ? nullptr : &found->second;
}

bool Kernel::isReduction(linalg::GenericOp op) const {
  return op.getNumReductionLoops() != 0;
}

bool Kernel::isColumnReduction(linalg::GenericOp op) const {
  return reducesColumns && isReduction(op) &&
         domainOf(op->getResult(0)) == inner;
}

Attribute Kernel::splatAttr(Value tensor) const {
  auto constant = tensor.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return {};
  return cast<DenseElementsAttr>(constant.getValue())
      .getSplatValue<Attribute>();
}

Value Kernel::splatValue(Value tensor) const {
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  return fill ? fill.getInputs()[0] : Value();
}

} // namespace tessera
