//===- Products.cpp - matrix products and sums into them become calls -----===//

#include "lib/Lower/ChunkedSums.h"
#include "lib/Lower/GemmForm.h"
#include "lib/Lower/Ops/Replace.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/TaskOrder.h"
#include "tessera/Lower/Patterns.h"
#include "tessera/Partition/Factors.h"

using namespace mlir;
using namespace tessera;

namespace {

/// sum_k a b -> rt.gemm(a, b)
LogicalResult lowerContraction(nn::EinsumOp op, PatternRewriter &rewriter) {
  if (isChunkedSum(op))
    return lowerChunkedSum(rewriter, op);
  if (!op.isContraction())
    return rewriter.notifyMatchFailure(op, "is no matrix product");
  std::optional<GemmForm> form = gemmForm(op);
  if (!form)
    return rewriter.notifyMatchFailure(op, [&](Diagnostic &why) {
      why << "'" << op.getSpec()
          << "' is no single matrix product of contiguous operands; order "
             "its factors as rows, columns";
    });
  auto i = [&](int64_t v) { return rewriter.getI64IntegerAttr(v); };
  auto gemm = rt::GemmOp::create(
      rewriter, op.getLoc(), op.getType(), op.getInputs()[form->a],
      op.getInputs()[form->b], i(form->m), i(form->n), i(form->k),
      i(form->lda()), i(form->ldb()), i(form->n),
      rewriter.getBoolAttr(form->transA), rewriter.getBoolAttr(form->transB));
  if (auto cut = sumChunksOf(op, form->kFactors, form->kSizes)) {
    gemm.setChunks(cut->chunks);
    gemm.setOuter(cut->outer);
  }
  return replaceMarked(rewriter, op, gemm);
}

/// nn.embedding_grad(g, ids) -> rt.scatter_add(g, ids) into zero
LogicalResult lowerEmbeddingGrad(nn::EmbeddingGradOp op,
                                 PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  std::optional<FactorSpan> span = spanOf(op, 'v');
  Value table = rt::ZeroOp::create(rewriter, loc, op.getType());
  Value valid = span ? validOf(rewriter, loc, *span)
                     : i64(rewriter, loc, op.getType().getDimSize(0));
  ArrayRef<int64_t> tokens = op.getIds().getType().getShape();
  IntegerAttr chunks;
  if (std::optional<SumChunks> cut = sumChunksOf(op, "bs", tokens))
    chunks = rewriter.getI64IntegerAttr(cut->chunks);
  auto scatter = rt::ScatterAddOp::create(
      rewriter, loc, op.getType(), op.getGrad(), op.getIds(), table,
      startOf(rewriter, loc, span), valid, chunks);
  return replaceMarked(rewriter, op, scatter);
}

//===----------------------------------------------------------------------===//
// Sums that become part of a product
//===----------------------------------------------------------------------===//

/// Returns the bias in the type of the product, cast outside of loops.
Value biasLike(OpBuilder &b, Value bias, rt::GemmOp gemm) {
  Type type = getElementTypeOrSelf(gemm.getC());
  if (getElementTypeOrSelf(bias.getType()) == type)
    return bias;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(bias.getParentBlock()->findAncestorOpInBlock(*gemm));
  return nn::create<nn::CastOp>(b, bias.getLoc(), bias, TypeAttr::get(type));
}

/// add(gemm(a, b), bias) -> gemm(a, b) bias(bias): one pass over c less.
LogicalResult foldBias(nn::AddOp op, PatternRewriter &rewriter) {
  dist::Signature sig = dist::Signature::parse(op.getSpec());
  if (sig.ins.size() != 2 || op.getCoefs() || sig.ins[0] != sig.out ||
      sig.ins[0] == sig.ins[1] || !StringRef(sig.out).ends_with(sig.ins[1]))
    return rewriter.notifyMatchFailure(op, "adds no bias");
  auto gemm = op.getInputs()[0].getDefiningOp<rt::GemmOp>();
  if (!gemm || !gemm->hasOneUse() || gemm.getBias() || gemm.getAccumulator())
    return rewriter.notifyMatchFailure(op, "adds to no plain product");
  Value bias = op.getInputs()[1];
  if (cast<RankedTensorType>(bias.getType()).getNumElements() !=
      static_cast<int64_t>(gemm.getN()))
    return rewriter.notifyMatchFailure(op, "has no bias for every column");
  rewriter.moveOpBefore(gemm, op);
  bias = biasLike(rewriter, bias, gemm);
  rewriter.modifyOpInPlace(gemm, [&] { gemm.getBiasMutable().assign(bias); });
  return replaceMarked(rewriter, op, gemm);
}

/// Returns the value that a call adds to in place; null if it makes a new one.
Value addedTo(Operation *op) {
  if (auto scatter = dyn_cast_or_null<rt::ScatterAddOp>(op))
    return scatter.getTable();
  auto gemm = dyn_cast_or_null<rt::GemmOp>(op);
  return gemm ? gemm.getAccumulator() : Value();
}

/// Returns the op that first writes the buffer of `value`, through ops that
/// work in place on values nobody else reads.
Operation *firstWriter(Value value) {
  for (; value.hasOneUse(); value = addedTo(value.getDefiningOp())) {
    Operation *op = value.getDefiningOp();
    if (!addedTo(op))
      return isa_and_nonnull<rt::GemmOp, rt::ZeroOp>(op) ? op : nullptr;
  }
  return nullptr;
}

/// Every op from the one that makes `value` to its first writer makes a sum
/// now, so the values that verify was to compare no longer exist.
void forgetKeptValues(Value value) {
  while (Operation *op = value ? value.getDefiningOp() : nullptr) {
    op->removeAttr(rt::RTDialect::kKeepAttr);
    value = addedTo(op);
  }
}

bool isPlainSum(nn::AddOp op) {
  dist::Signature sig = dist::Signature::parse(op.getSpec());
  return sig.ins.size() == 2 && !op.getCoefs() && sig.ins[0] == sig.out &&
         sig.ins[1] == sig.out;
}

/// Returns whether one op makes the value from nothing but its own terms.
bool addsAtOnce(Value value) {
  if (auto scatter = value.getDefiningOp<rt::ScatterAddOp>())
    return !!scatter.getTable().getDefiningOp<rt::ZeroOp>();
  auto gemm = value.getDefiningOp<rt::GemmOp>();
  return gemm && !gemm.getAccumulator();
}

/// Returns why the first writer of a term cannot begin with the sum; empty if
/// it can.
StringRef whyNotInto(Value sum, Operation *writer, nn::AddOp op) {
  bool ownsSum = isa<BlockArgument>(sum) || firstWriter(sum) ||
                 sum.getDefiningOp<rt::LoopOp>();
  if (!ownsSum || !sum.hasOneUse())
    return "adds to a value that is read elsewhere";
  if (writer->getBlock() == op->getBlock() && !rt::isInOneTask(writer, op))
    return "is in another task, and between them others may add to the sum";
  Operation *defined = sum.getDefiningOp();
  if (defined && defined->getBlock() == writer->getBlock() &&
      !defined->isBeforeInBlock(writer))
    return "adds to a sum that is made later than the term";
  return "";
}

void beginWith(Value sum, Operation *writer, nn::AddOp op,
               PatternRewriter &rewriter) {
  if (auto gemm = dyn_cast<rt::GemmOp>(writer))
    rewriter.modifyOpInPlace(gemm,
                             [&] { gemm.getAccumulatorMutable().assign(sum); });
  else
    rewriter.replaceAllUsesExcept(writer->getResult(0), sum, op);
}

/// add(acc, gemm(a, b)) -> gemm(a, b) into(acc), also through scatter_add.
LogicalResult foldAccumulation(nn::AddOp op, PatternRewriter &rewriter) {
  if (!isPlainSum(op))
    return rewriter.notifyMatchFailure(op, "is no sum of two tensors");
  Value sum = op.getInputs()[0], value = op.getInputs()[1];
  Operation *writer = firstWriter(value);
  if (!writer)
    return rewriter.notifyMatchFailure(op, "adds no result of a call");
  if (value.getDefiningOp()->hasAttr(rt::RTDialect::kKeepAttr))
    return rewriter.notifyMatchFailure(op, "adds what verify compares");
  if (dist::chunksOf(op) && !addsAtOnce(value))
    return rewriter.notifyMatchFailure(
        op, "is (a + b) + c, which is not a + (b + c) in every bit");
  if (StringRef why = whyNotInto(sum, writer, op); !why.empty())
    return rewriter.notifyMatchFailure(op, Twine(why));
  forgetKeptValues(value);
  beginWith(sum, writer, op, rewriter);
  inheritMarks(value.getDefiningOp(), op);
  rewriter.replaceOp(op, value);
  if (isa<rt::ZeroOp>(writer) && writer->use_empty())
    rewriter.eraseOp(writer);
  return success();
}

} // namespace

void tessera::populateProductPatterns(RewritePatternSet &patterns) {
  patterns.add(lowerContraction).add(lowerEmbeddingGrad);
}

void tessera::populateProductFoldPatterns(RewritePatternSet &patterns) {
  patterns.add(foldBias).add(foldAccumulation);
}
