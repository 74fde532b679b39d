//===- Sums.cpp - sums that a kernel cannot compute at once ---------------===//

#include "lib/Lower/ChunkedSums.h"
#include "lib/Lower/Ops/Replace.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Lower/Patterns.h"

using namespace mlir;
using namespace tessera;

namespace {

nn::EinsumOp makeSum(OpBuilder &b, nn::EinsumOp op, const Twine &spec,
                     ValueRange inputs, FloatAttr scale) {
  auto made = nn::create<nn::EinsumOp>(b, op.getLoc(), b.getStringAttr(spec),
                                       inputs, scale, TypeAttr());
  inheritPhase(made, op);
  return made;
}

/// sum_ab x y -> sum_a (sum_b x y): a kernel adds rows in parallel.
LogicalResult splitFullSum(nn::EinsumOp op, PatternRewriter &rewriter) {
  if (isChunkedSum(op))
    return rewriter.notifyMatchFailure(op, "is added in chunks");
  dist::Signature sig = dist::Signature::parse(op.getSpec());
  bool alike = llvm::all_of(
      sig.ins, [&](const std::string &in) { return in == sig.ins[0]; });
  if (!sig.out.empty() || !alike || sig.ins[0].size() < 2)
    return rewriter.notifyMatchFailure(op, "is no sum of rows to a scalar");
  std::string first(1, sig.ins[0][0]);
  StringRef ins = op.getSpec().split("->").first;
  nn::EinsumOp partial = makeSum(rewriter, op, ins + "->" + first,
                                 op.getInputs(), op.getScaleAttr());
  if (Attribute spans = op->getAttr(rt::RTDialect::kFactorsAttr))
    partial->setAttr(rt::RTDialect::kFactorsAttr, spans);
  return replaceMarked(rewriter, op,
                       makeSum(rewriter, op, first + "->", partial.getResult(),
                               rewriter.getF64FloatAttr(1.0)));
}

/// add(x) -> x: such an op only marks where a value branches, for gradients and
/// plans. An op whose result verify or a role refers to stays.
LogicalResult dropBranch(nn::AddOp op, PatternRewriter &rewriter) {
  if (op.getInputs().size() != 1 || op.getCoefficient(0) != 1.0 ||
      op.getInputs()[0].getType() != op.getType())
    return rewriter.notifyMatchFailure(op, "computes something");
  if (op->hasAttr(rt::RTDialect::kKeepAttr) ||
      op->hasAttr(rt::RTDialect::kRoleAttr))
    return rewriter.notifyMatchFailure(op, "is referred to");
  rewriter.replaceOp(op, op.getInputs()[0]);
  return success();
}

/// A kernel takes that many scalars, such as the norms of all gradients. A GPU
/// has 4 KiB for the operands of a kernel.
constexpr size_t kMostTerms = 256;

/// x1 + .. + xn -> ((x1 + .. + x256) + ..) + xn, with the same bits: each sum
/// begins with the one before it.
LogicalResult splitLongSum(nn::AddOp op, PatternRewriter &rewriter) {
  if (op.getType().getRank() != 0 || op.getCoefs() ||
      op.getInputs().size() <= kMostTerms)
    return rewriter.notifyMatchFailure(op, "is no long sum of scalars");
  SmallVector<Value> rest(llvm::reverse(op.getInputs())), terms;
  while (!rest.empty()) {
    while (!rest.empty() && terms.size() < kMostTerms)
      terms.push_back(rest.pop_back_val());
    Value sum = nn::create<nn::AddOp>(
        rewriter, op.getLoc(),
        rewriter.getStringAttr(std::string(terms.size() - 1, ',') + "->"),
        terms, DenseF64ArrayAttr());
    inheritPhase(sum.getDefiningOp(), op);
    terms = {sum};
  }
  return replaceMarked(rewriter, op, terms.front().getDefiningOp());
}

} // namespace

void tessera::populateSumPatterns(RewritePatternSet &patterns) {
  patterns.add(splitFullSum).add(dropBranch).add(splitLongSum);
}
