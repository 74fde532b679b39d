//===- LowerLibrary.cpp - ops that become library calls -------------------===//

#include "lib/Lower/AttentionOperands.h"
#include "lib/Lower/ChunkedSums.h"
#include "lib/Lower/GemmForm.h"
#include "mlir/IR/Threading.h"
#include "tessera/Dialect/RT/ResultMarks.h"
#include "tessera/Dialect/RT/TaskOrder.h"
#include "tessera/Lower/Passes.h"
#include "tessera/Partition/Factors.h"
#include <atomic>

namespace tessera {
#define GEN_PASS_DEF_LOWERLIBRARYPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

LogicalResult lowerEinsum(nn::EinsumOp op) {
  if (!op.isContraction())
    return success();
  std::optional<GemmForm> form = gemmForm(op);
  if (!form)
    return op.emitOpError()
           << "'" << op.getSpec()
           << "' is no single matrix product of contiguous operands; order its "
              "factors as rows, columns";
  OpBuilder b(op);
  auto i = [&](int64_t v) { return b.getI64IntegerAttr(v); };
  auto gemm = rt::GemmOp::create(
      b, op.getLoc(), op.getType(), op.getInputs()[form->a],
      op.getInputs()[form->b], i(form->m), i(form->n), i(form->k),
      i(form->lda()), i(form->ldb()), i(form->n), b.getBoolAttr(form->transA),
      b.getBoolAttr(form->transB));
  if (auto cut = sumChunksOf(op, form->kFactors, form->kSizes)) {
    gemm.setChunks(cut->chunks);
    gemm.setOuter(cut->outer);
  }
  inheritMarks(gemm, op);
  op.replaceAllUsesWith(gemm.getC());
  op.erase();
  return success();
}

/// The bias in the type of the product; cast outside of loops.
Value biasLike(Value bias, rt::GemmOp gemm) {
  Type type = getElementTypeOrSelf(gemm.getC());
  if (getElementTypeOrSelf(bias.getType()) == type)
    return bias;
  OpBuilder b(bias.getParentBlock()->findAncestorOpInBlock(*gemm));
  return nn::create<nn::CastOp>(b, bias.getLoc(), bias, TypeAttr::get(type));
}

/// add(gemm(a, b), bias) -> gemm(a, b) bias(bias): one pass over c less.
void foldBias(nn::AddOp op) {
  dist::Signature sig = dist::Signature::parse(op.getSpec());
  if (sig.ins.size() != 2 || op.getCoefs() || sig.ins[0] != sig.out ||
      sig.ins[0] == sig.ins[1] || !StringRef(sig.out).ends_with(sig.ins[1]))
    return;
  auto gemm = op.getInputs()[0].getDefiningOp<rt::GemmOp>();
  Value bias = op.getInputs()[1];
  if (!gemm || !gemm->hasOneUse() || gemm.getBias() || gemm.getAccumulator() ||
      cast<RankedTensorType>(bias.getType()).getNumElements() !=
          static_cast<int64_t>(gemm.getN()))
    return;
  gemm->moveBefore(op);
  gemm.getBiasMutable().assign(biasLike(bias, gemm));
  inheritMarks(gemm, op);
  op.replaceAllUsesWith(gemm.getC());
  op.erase();
}

/// The op that first writes the buffer of `value`, through ops that work in
/// place on values nobody else reads.
Operation *firstWriter(Value value) {
  if (!value.hasOneUse())
    return nullptr;
  Operation *op = value.getDefiningOp();
  if (auto scatter = dyn_cast_or_null<rt::ScatterAddOp>(op))
    return firstWriter(scatter.getTable());
  if (auto gemm = dyn_cast_or_null<rt::GemmOp>(op))
    return gemm.getAccumulator() ? firstWriter(gemm.getAccumulator()) : op;
  return isa_and_nonnull<rt::ZeroOp>(op) ? op : nullptr;
}

/// Every op from the one that makes `value` to its first writer makes a sum
/// now, so the values that verify was to compare no longer exist.
void forgetKeptValues(Value value) {
  for (Operation *op = value.getDefiningOp(); op;) {
    op->removeAttr(rt::RTDialect::kKeepAttr);
    auto scatter = dyn_cast<rt::ScatterAddOp>(op);
    auto gemm = dyn_cast<rt::GemmOp>(op);
    Value into = scatter ? scatter.getTable()
                 : gemm  ? gemm.getAccumulator()
                         : Value();
    op = into ? into.getDefiningOp() : nullptr;
  }
}

bool isPlainSum(nn::AddOp op) {
  dist::Signature sig = dist::Signature::parse(op.getSpec());
  return sig.ins.size() == 2 && !op.getCoefs() && sig.ins[0] == sig.out &&
         sig.ins[1] == sig.out;
}

/// Whether one op makes the value from nothing but its own terms.
bool addsAtOnce(Value value) {
  if (auto scatter = value.getDefiningOp<rt::ScatterAddOp>())
    return !!scatter.getTable().getDefiningOp<rt::ZeroOp>();
  auto gemm = value.getDefiningOp<rt::GemmOp>();
  return gemm && !gemm.getAccumulator();
}

/// add(acc, gemm(a, b)) -> gemm(a, b) into(acc), also through scatter_add.
void foldAccumulation(nn::AddOp op) {
  if (!isPlainSum(op))
    return;
  Value sum = op.getInputs()[0], value = op.getInputs()[1];
  Operation *writer = firstWriter(value);
  if (writer && value.getDefiningOp()->hasAttr(rt::RTDialect::kKeepAttr))
    return; // verify compares the term, not the sum
  // (a + b) + c is not a + (b + c) in every bit.
  if (dist::chunksOf(op) && !addsAtOnce(value))
    return;
  bool ownsSum = isa<BlockArgument>(sum) || firstWriter(sum) ||
                 sum.getDefiningOp<rt::LoopOp>();
  if (!writer || !ownsSum || !sum.hasOneUse())
    return;
  // Between two tasks, others may add to the sum.
  if (writer->getBlock() == op->getBlock() && !rt::isInOneTask(writer, op))
    return;
  Operation *defined = sum.getDefiningOp();
  if (defined && defined->getBlock() == writer->getBlock() &&
      !defined->isBeforeInBlock(writer))
    return;
  forgetKeptValues(value);
  if (auto gemm = dyn_cast<rt::GemmOp>(writer))
    gemm.getAccumulatorMutable().assign(sum);
  else
    writer->getResult(0).replaceAllUsesExcept(sum, op);
  inheritMarks(value.getDefiningOp(), op);
  op.replaceAllUsesWith(value);
  op.erase();
  if (isa<rt::ZeroOp>(writer) && writer->use_empty())
    writer->erase();
}

//===----------------------------------------------------------------------===//
// Embedding
//===----------------------------------------------------------------------===//

void lowerEmbeddingGrad(nn::EmbeddingGradOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  std::optional<FactorSpan> span = spanOf(op, 'v');
  Value table = rt::ZeroOp::create(b, loc, op.getType());
  Value valid =
      span ? validOf(b, loc, *span) : i64(b, loc, op.getType().getDimSize(0));
  ArrayRef<int64_t> tokens = op.getIds().getType().getShape();
  IntegerAttr chunks;
  if (std::optional<SumChunks> cut = sumChunksOf(op, "bs", tokens))
    chunks = b.getI64IntegerAttr(cut->chunks);
  auto scatter =
      rt::ScatterAddOp::create(b, loc, op.getType(), op.getGrad(), op.getIds(),
                               table, startOf(b, loc, span), valid, chunks);
  inheritMarks(scatter, op);
  op.replaceAllUsesWith(scatter.getResult());
  op.erase();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Where the rank's queries begin in the sequence; no scalar if it has all.
struct QuerySlice {
  Value start;
  int64_t total = 0;
};

QuerySlice querySlice(OpBuilder &builder, Operation *op) {
  if (std::optional<FactorSpan> span = spanOf(op, 's'))
    return {startOf(builder, op->getLoc(), span), span->total};
  return {};
}

LogicalResult lowerAttention(nn::AttentionOp op) {
  OpBuilder b(op);
  Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
  auto i = [&](int64_t x) { return b.getI64IntegerAttr(x); };
  int64_t batch = cast<RankedTensorType>(q.getType()).getDimSize(0);
  QuerySlice slice = querySlice(b, op);
  FailureOr<HeadRange> heads = headRange(b, op, q, !op.getDropout().isZero());
  if (failed(heads))
    return failure();
  auto lowered = rt::AttentionOp::create(
      b, op.getLoc(), op.getResultTypes(), q, k, v, batchStart(b, op, batch),
      heads->start, i(rowStride(q)), i(rowStride(k)), i(rowStride(v)),
      i(heads->total), op.getAttentionAttr(), op.getDropoutAttr(),
      op.getStreamAttr(), slice.start, i(slice.total), op.getBiasTable(),
      op.getQuerySegments(), op.getKeySegments());
  inheritMarks(lowered, op);
  op.replaceAllUsesWith(lowered);
  op.erase();
  return success();
}

/// The first place of the rank, null if it has all. Fails with an error unless
/// places are dealt to as many ranks as share them.
FailureOr<Value> placesStart(OpBuilder &b, Operation *op, Value cache,
                             int64_t deal) {
  int64_t places = cast<RankedTensorType>(cache.getType()).getDimSize(2);
  std::optional<FactorSpan> span = spanOf(op, 'p');
  int64_t total = span ? span->total : places;
  int64_t chunk = span ? span->chunk() : places;
  if (chunk * deal != total)
    return op->emitOpError() << "deals " << total << " places to " << deal
                             << " ranks, but a rank holds " << chunk
                             << "; use a mesh with as many ranks to share "
                                "them, and a multiple of these as places";
  return deal == 1 ? Value() : startOf(b, op->getLoc(), span);
}

LogicalResult lowerAppend(nn::AppendOp op) {
  OpBuilder b(op);
  auto start =
      placesStart(b, op, op.getCache(), static_cast<int64_t>(op.getDeal()));
  if (failed(start))
    return failure();
  auto lowered = rt::AppendOp::create(
      b, op.getLoc(), op.getType(), op.getCache(), op.getRows(), op.getSlots(),
      op.getPositions(), b.getI64IntegerAttr(rowStride(op.getRows())),
      op.getDealAttr(), *start);
  inheritMarks(lowered, op);
  op.replaceAllUsesWith(lowered.getResult());
  op.erase();
  return success();
}

LogicalResult lowerCachedAttention(nn::CachedAttentionOp op) {
  OpBuilder b(op);
  auto start =
      placesStart(b, op, op.getKeys(), static_cast<int64_t>(op.getDeal()));
  if (failed(start))
    return failure();
  auto lowered = rt::CachedAttentionOp::create(
      b, op.getLoc(), op.getType(), op.getQuery(), op.getKeys(), op.getValues(),
      op.getSlots(), op.getPositions(),
      b.getI64IntegerAttr(rowStride(op.getQuery())), op.getAttentionAttr(),
      op.getDealAttr(), *start, op.getWeightedAttr(), op.getBiasTable());
  inheritMarks(lowered, op);
  op.replaceAllUsesWith(lowered.getResult());
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Sampling
//===----------------------------------------------------------------------===//

/// The rank's indices of the vocabulary.
struct VocabularySlice {
  Value start, valid;
  int64_t total;
};

VocabularySlice vocabularySlice(OpBuilder &b, Operation *op, Value logits) {
  Location loc = op->getLoc();
  int64_t columns = cast<RankedTensorType>(logits.getType()).getDimSize(2);
  std::optional<FactorSpan> span = spanOf(op, 'v');
  if (!span)
    return {i64(b, loc, 0), i64(b, loc, columns), columns};
  return {startOf(b, loc, span), validOf(b, loc, *span), span->total};
}

void lowerPenalize(nn::PenalizeOp op) {
  OpBuilder b(op);
  VocabularySlice slice = vocabularySlice(b, op, op.getLogits());
  auto lowered = rt::PenalizeOp::create(
      b, op.getLoc(), op.getType(), op.getLogits(), op.getTokens(),
      op.getPenalties(), slice.start, slice.valid);
  inheritMarks(lowered, op);
  op.replaceAllUsesWith(lowered.getResult());
  op.erase();
}

void lowerTop(nn::TopOp op) {
  OpBuilder b(op);
  VocabularySlice slice = vocabularySlice(b, op, op.getLogits());
  auto lowered =
      rt::TopOp::create(b, op.getLoc(), op.getType(), op.getLogits(),
                        op.getSharpness(), op.getDraws(), slice.start,
                        slice.valid, b.getI64IntegerAttr(slice.total));
  inheritMarks(lowered, op);
  op.replaceAllUsesWith(lowered.getResult());
  op.erase();
}

/// Gradients that a stack concatenates are written in place, with its row
/// stride.
int64_t gradStride(Value grad) {
  int64_t row = rowElements(grad);
  if (!grad.hasOneUse())
    return row;
  auto stack = dyn_cast<nn::StackOp>(*grad.user_begin());
  return stack && stack.getDim() == 2 ? row * stack.getInputs().size() : row;
}

LogicalResult lowerAttentionGrad(nn::AttentionGradOp op) {
  OpBuilder b(op);
  Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
  auto i = [&](int64_t x) { return b.getI64IntegerAttr(x); };
  int64_t batch = cast<RankedTensorType>(q.getType()).getDimSize(0);
  QuerySlice slice = querySlice(b, op);
  FailureOr<HeadRange> heads = headRange(b, op, q, !op.getDropout().isZero());
  if (failed(heads))
    return failure();
  auto lowered = rt::AttentionGradOp::create(
      b, op.getLoc(), op.getResultTypes(), op.getGrad(), q, k, v,
      op.getOutput(), op.getLse(), batchStart(b, op, batch), heads->start,
      i(rowStride(q)), i(rowStride(k)), i(rowStride(v)),
      i(gradStride(op.getGradQuery())), i(gradStride(op.getGradKey())),
      i(gradStride(op.getGradValue())), i(heads->total), op.getAttentionAttr(),
      op.getDropoutAttr(), op.getStreamAttr(), slice.start, i(slice.total),
      op.getBiasTable(), op.getQuerySegments(), op.getKeySegments());
  inheritPhase(lowered, op);
  op.replaceAllUsesWith(lowered);
  op.erase();
  return success();
}

/// Elements of one slice of a dimension and everything after it.
int64_t sliceElements(RankedTensorType whole, int64_t dim) {
  int64_t elements = 1;
  for (int64_t d = dim + 1; d < whole.getRank(); ++d)
    elements *= whole.getDimSize(d);
  return elements;
}

/// Only attention, appends and copies read slices in place, only attention
/// writes them.
Value contiguous(OpBuilder &builder, Operation *op, Value slice) {
  auto copy = rt::CopyOp::create(builder, op->getLoc(), slice.getType(), slice);
  inheritPhase(copy, op);
  return copy;
}

bool readsSlices(Operation *op) {
  return isa<rt::AttentionOp, rt::AttentionGradOp, rt::RingAttentionOp,
             rt::RingAttentionGradOp, rt::AppendOp, rt::CachedAttentionOp,
             rt::CopyOp>(op);
}

LogicalResult lowerUnstack(nn::UnstackOp op) {
  OpBuilder b(op);
  auto type = cast<RankedTensorType>(op.getInput().getType());
  for (Operation *user : op->getUsers())
    if (!readsSlices(user) && op.getDim() + 3 != type.getRank())
      return op.emitOpError()
             << "cuts dimension " << op.getDim() << " of " << type << " for '"
             << user->getName() << "'; it can be copied only from dimension "
             << type.getRank() - 3;
  int64_t elements = sliceElements(type, op.getDim());
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    auto view = rt::ViewOp::create(
        b, op.getLoc(), result.getType(), op.getInput(), Value(),
        b.getI64IntegerAttr(k * elements), b.getI64IntegerAttr(0));
    view->setAttr("parts", b.getI64IntegerAttr(op.getNumResults()));
    result.replaceUsesWithIf(view.getResult(), [](OpOperand &use) {
      return readsSlices(use.getOwner());
    });
    if (!result.use_empty())
      result.replaceAllUsesWith(contiguous(b, op, view));
  }
  op.erase();
  return success();
}

void lowerStack(nn::StackOp op) {
  OpBuilder b(op);
  for (OpOperand &part : op->getOpOperands())
    if (!part.get().getDefiningOp<rt::AttentionGradOp>() ||
        !part.get().hasOneUse())
      part.set(contiguous(b, op, part.get()));
  int64_t elements = sliceElements(op.getType(), op.getDim());
  SmallVector<int64_t> offsets;
  for (unsigned k = 0; k < op.getInputs().size(); ++k)
    offsets.push_back(k * elements);
  auto concat =
      rt::ConcatOp::create(b, op.getLoc(), op.getType(), op.getInputs(),
                           b.getDenseI64ArrayAttr(offsets));
  inheritMarks(concat, op);
  op.replaceAllUsesWith(concat.getResult());
  op.erase();
}

/// The first rows of a matrix are where the matrix starts.
void lowerPrefix(nn::PrefixOp op) {
  OpBuilder b(op);
  auto view =
      rt::ViewOp::create(b, op.getLoc(), op.getType(), op.getInput(), Value(),
                         b.getI64IntegerAttr(0), b.getI64IntegerAttr(0));
  op.replaceAllUsesWith(view.getResult());
  op.erase();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

template <typename OpTy> SmallVector<OpTy> collect(func::FuncOp func) {
  SmallVector<OpTy> ops;
  func.walk([&](OpTy op) { ops.push_back(op); });
  return ops;
}

LogicalResult lowerFunction(func::FuncOp func) {
  bool failedOp = false;
  for (auto op : collect<nn::EinsumOp>(func))
    failedOp |= failed(lowerEinsum(op));
  for (auto op : collect<nn::EmbeddingGradOp>(func))
    lowerEmbeddingGrad(op);
  // The first moves ops and the second asks for their order: in turns, MLIR
  // would number all ops again and again.
  for (auto op : collect<nn::AddOp>(func))
    foldBias(op);
  for (auto op : collect<nn::AddOp>(func))
    foldAccumulation(op);
  for (auto op : collect<nn::AttentionOp>(func))
    failedOp |= failed(lowerAttention(op));
  for (auto op : collect<nn::AttentionGradOp>(func))
    failedOp |= failed(lowerAttentionGrad(op));
  for (auto op : collect<nn::AppendOp>(func))
    failedOp |= failed(lowerAppend(op));
  for (auto op : collect<nn::CachedAttentionOp>(func))
    failedOp |= failed(lowerCachedAttention(op));
  for (auto op : collect<nn::PenalizeOp>(func))
    lowerPenalize(op);
  for (auto op : collect<nn::TopOp>(func))
    lowerTop(op);
  for (auto op : collect<nn::UnstackOp>(func))
    failedOp |= failed(lowerUnstack(op));
  for (auto op : collect<nn::PrefixOp>(func))
    lowerPrefix(op);
  for (auto op : collect<nn::StackOp>(func))
    lowerStack(op);
  return failure(failedOp);
}

struct LowerLibraryPass
    : tessera::impl::LowerLibraryPassBase<LowerLibraryPass> {
  void runOnOperation() override {
    std::atomic<bool> failedOp = false;
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    parallelForEach(&getContext(), functions, [&](func::FuncOp func) {
      if (failed(lowerFunction(func)))
        failedOp = true;
    });
    if (failedOp)
      signalPassFailure();
  }
};

} // namespace
