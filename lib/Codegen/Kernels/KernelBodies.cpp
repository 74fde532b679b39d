//===- KernelBodies.cpp - body values and reductions of a kernel ----------===//
// Finds what each scalar in a generic's body varies over, and which op
// combines.
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tessera/Lower/Kernels/KernelAnalysis.h"

using namespace mlir;

namespace tessera {

LogicalResult KernelAnalysis::classifyBodies() {
  for (linalg::GenericOp op : kernel.generics) {
    for (BlockArgument argument : op.getBody()->getArguments())
      kernel.variances[argument] = kernel.domainOf(tensorOf(argument));
    for (Operation &body : op.getBody()->without_terminator())
      if (failed(classifyBodyOp(op, &body)))
        return failure();
    if (failed(kernel.isReduction(op) ? classifyReduction(op)
                                      : checkElementwise(op)))
      return failure();
  }
  return success();
}

LogicalResult KernelAnalysis::classifyBodyOp(linalg::GenericOp op,
                                             Operation *body) {
  Dims variance = kNone;
  if (auto index = dyn_cast<linalg::IndexOp>(body))
    variance = kernel.loopsOf(op)[index.getDim()];
  else if (isa<tensor::ExtractOp>(body)) {
    if (failed(checkTable(body)))
      return failure();
  } else if (!isa<arith::ConstantOp>(body) &&
             (!OpTrait::hasElementwiseMappableTraits(body) ||
              body->getNumRegions() != 0)) {
    return body->emitOpError("kernel: not an elementwise arith or math op");
  }
  for (Value operand : body->getOperands())
    variance |= kernel.varianceOf(operand);
  for (Value result : body->getResults())
    kernel.variances[result] = variance;
  return success();
}

LogicalResult KernelAnalysis::checkTable(Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  if (!isa<BlockArgument>(extract.getTensor()))
    return op->emitOpError("kernel: the table must be an argument");
  kernel.tables.insert(extract.getTensor());
  return success();
}

/// Elementwise results lie along all loops of their op.
LogicalResult KernelAnalysis::checkElementwise(linalg::GenericOp op) {
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i)
    if (!op.getMatchingIndexingMap(op.getDpsInitOperand(i)).isIdentity())
      return op.emitOpError("kernel: result #")
             << i << " of an elementwise op must use the identity map";
  return success();
}

/// All rows of a kernel are done before a reduction along its columns is known.
LogicalResult KernelAnalysis::checkColumnReduction(linalg::GenericOp op) {
  for (Operation *user : op->getUsers())
    if (!isa<func::ReturnOp>(user))
      return user->emitOpError("kernel: reads a reduction along columns that a "
                               "kernel of rows makes; use another kernel");
  return success();
}

static bool isCombiner(Operation *op) {
  return isa_and_nonnull<arith::AddFOp, arith::MaximumFOp, arith::MinimumFOp,
                         arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp,
                         arith::MaxSIOp, arith::MinSIOp>(op);
}

LogicalResult KernelAnalysis::classifyReduction(linalg::GenericOp op) {
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  bool isPlane = op.getNumLoops() == 2 && dims.size() == 1;
  Dims over = isPlane ? kernel.loopsOf(op)[dims[0]] : kNone;
  if (!isPlane || (over != kernel.inner && !kernel.reducesColumns))
    return op.emitOpError("kernel: a ")
           << (kernel.outer == kRow ? "row" : "column")
           << " kernel reduces over " << (kernel.outer == kRow ? "d1" : "d0")
           << " of (d0, d1) only";
  Operation *yield = op.getBody()->getTerminator();
  for (int64_t i = 0; i < op.getNumDpsInits(); ++i) {
    BlockArgument acc = op.getMatchingBlockArgument(op.getDpsInitOperand(i));
    Operation *combiner = yield->getOperand(i).getDefiningOp();
    bool ok = isCombiner(combiner) && acc.hasOneUse() &&
              *acc.user_begin() == combiner &&
              combiner->getResult(0).hasOneUse();
    if (!ok || kernel.domainOf(op->getResult(i)) != (kBoth & ~over))
      return op.emitOpError("kernel: reduction #")
             << i << " must yield addf, maximumf, minimumf or an integer "
             << "equivalent of its accumulator and one value";
    bool accFirst = combiner->getOperand(0) == acc;
    Value input = combiner->getOperand(accFirst ? 1 : 0);
    if (input == acc)
      return op.emitOpError("kernel: a reduction cannot combine its "
                            "accumulator with itself");
    kernel.reductions[op->getResult(i)] = {op, static_cast<unsigned>(i),
                                           combiner, input};
  }
  return over == kernel.inner ? success() : checkColumnReduction(op);
}

} // namespace tessera
