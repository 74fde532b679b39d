//===- Structure.cpp - slices and stacks become views ---------------------===//
// Calls may read and write slices in place, so these patterns come after those
// that make the calls.
//===----------------------------------------------------------------------===//

#include "lib/Lower/Ops/Replace.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Lower/Patterns.h"

using namespace mlir;
using namespace tessera;

namespace {

/// Returns the elements of one slice of a dimension and everything after it.
int64_t sliceElements(RankedTensorType whole, int64_t dim) {
  return llvm::product_of(whole.getShape().drop_front(dim + 1));
}

Value contiguous(OpBuilder &b, Operation *op, Value slice) {
  auto copy = rt::CopyOp::create(b, op->getLoc(), slice.getType(), slice);
  inheritPhase(copy, op);
  return copy;
}

/// Returns whether the op reads rows in place that begin `stride` elements
/// apart.
bool readsInPlace(OpOperand &use, int64_t stride) {
  auto call = dyn_cast<rt::RuntimeCallOpInterface>(use.getOwner());
  return call && (call.getOperandStride(use.getOperandNumber()) == stride ||
                  isa<rt::CopyOp>(call));
}

/// Returns whether a call writes this part of a stack in place, its rows
/// `stride` elements apart.
bool isWrittenInPlace(Value part, int64_t stride) {
  auto call = part.getDefiningOp<rt::RuntimeCallOpInterface>();
  return call && part.hasOneUse() &&
         call.getResultStride(cast<OpResult>(part).getResultNumber()) == stride;
}

LogicalResult refuseCut(nn::UnstackOp op, RankedTensorType type,
                        Operation *user, PatternRewriter &rewriter) {
  return rewriter.notifyMatchFailure(op, [&](Diagnostic &why) {
    why << "cuts dimension " << op.getDim() << " of " << type << " for '"
        << user->getName() << "'; it can be copied only from dimension "
        << type.getRank() - 3;
  });
}

/// unstack(x) -> a view of x for each slice, copied for ops that need it
/// contiguous
LogicalResult lowerUnstack(nn::UnstackOp op, PatternRewriter &rewriter) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  auto dim = static_cast<int64_t>(op.getDim());
  int64_t elements = sliceElements(type, dim);
  int64_t parts = op.getNumResults();
  auto isInPlace = [&](OpOperand &use) {
    return readsInPlace(use, elements * parts);
  };
  for (OpOperand &use : op->getUses())
    if (!isInPlace(use) && dim + 3 != type.getRank())
      return refuseCut(op, type, use.getOwner(), rewriter);
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    auto view = rt::ViewOp::create(rewriter, op.getLoc(), result.getType(),
                                   op.getInput(), Value(),
                                   rewriter.getI64IntegerAttr(k * elements),
                                   rewriter.getI64IntegerAttr(0));
    view->setAttr("parts", rewriter.getI64IntegerAttr(parts));
    rewriter.replaceUsesWithIf(result, view.getResult(), isInPlace);
    if (!result.use_empty())
      rewriter.replaceAllUsesWith(result, contiguous(rewriter, op, view));
  }
  rewriter.eraseOp(op);
  return success();
}

/// stack(x, y) -> concat of x and y, copied unless calls write them in place
LogicalResult lowerStack(nn::StackOp op, PatternRewriter &rewriter) {
  int64_t elements = sliceElements(op.getType(), op.getDim());
  auto count = static_cast<int64_t>(op.getInputs().size());
  SmallVector<Value> parts;
  SmallVector<int64_t> offsets;
  for (Value part : op.getInputs()) {
    offsets.push_back(static_cast<int64_t>(parts.size()) * elements);
    parts.push_back(isWrittenInPlace(part, elements * count)
                        ? part
                        : contiguous(rewriter, op, part));
  }
  auto concat = rt::ConcatOp::create(rewriter, op.getLoc(), op.getType(), parts,
                                     rewriter.getDenseI64ArrayAttr(offsets));
  return replaceMarked(rewriter, op, concat);
}

/// prefix(x) -> a view of x: its first rows are where x starts
LogicalResult lowerPrefix(nn::PrefixOp op, PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<rt::ViewOp>(
      op, op.getType(), op.getInput(), Value(), rewriter.getI64IntegerAttr(0),
      rewriter.getI64IntegerAttr(0));
  return success();
}

} // namespace

void tessera::populateStructurePatterns(RewritePatternSet &patterns) {
  patterns.add(lowerUnstack).add(lowerStack).add(lowerPrefix);
}
