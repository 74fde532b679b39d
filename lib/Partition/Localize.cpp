//===- Localize.cpp - global types become local shapes --------------------===//

#include "mlir/IR/Threading.h"
#include "tessera/Dialect/Dist/LocalShape.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/ResultMarks.h"
#include "tessera/Partition/ConversionReasons.h"
#include "tessera/Partition/Factors.h"
#include "tessera/Partition/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_LOCALIZEPASS
#include "tessera/Partition/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

namespace {

struct LocalizePass : tessera::impl::LocalizePassBase<LocalizePass> {
  using LocalizePassBase::LocalizePassBase;

  void runOnOperation() override {
    mesh = meshOf(getOperation());
    FailureOr<SmallVector<func::FuncOp>> programs =
        nn::findPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    if (failed(failableParallelForEach(
            &getContext(), *programs,
            [&](func::FuncOp step) { return localize(step); })))
      return signalPassFailure();
    // Local types have no sharding that could state paddings.
    getOperation()->removeAttr(DistDialect::kMaskedAttr);
  }

  LogicalResult localize(func::FuncOp func);

  void rememberGlobals(func::FuncOp func);
  void rememberGradients(func::FuncOp func);
  void rememberGradient(Value gradient, StringAttr name);
  void explainConversions(func::FuncOp func);
  void recordSpans(DistributableOpInterface op);
  void shareChunks(DistributableOpInterface op);
  LogicalResult lowerConversion(ConvertOp op);
  Operation *localOp(OpBuilder &builder, ConvertOp op);
  Operation *reduce(OpBuilder &builder, ConvertOp op);
  Operation *gather(OpBuilder &builder, ConvertOp op);
  Operation *scatter(OpBuilder &builder, ConvertOp op);
  Operation *exchange(OpBuilder &builder, ConvertOp op);
  Operation *merge(OpBuilder &builder, ConvertOp op);
  Operation *mergeTop(OpBuilder &builder, ConvertOp op);
  LogicalResult checkMeans(ConvertOp op);
  void shrinkTypes(func::FuncOp func);
  RankedTensorType localType(Type type);

  MeshAttr mesh;
};

/// Types that are distributed over nothing have no local shape.
LogicalResult checkMesh(func::FuncOp func) {
  WalkResult found = func.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(verifyAxes(op, type)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Type type : region.getArgumentTypes())
        if (failed(verifyAxes(op, type)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(found.wasInterrupted());
}

LogicalResult LocalizePass::localize(func::FuncOp func) {
  if (failed(checkMesh(func)))
    return failure();
  rememberGlobals(func);
  func.walk([&](DistributableOpInterface op) {
    recordSpans(op);
    shareChunks(op);
  });
  rememberGradients(func);
  explainConversions(func);
  for (Operation *op : readersOfGradients(func))
    op->removeAttr(nn::NNDialect::kGradientOfAttr); // equal kernels are shared
  WalkResult lowered =
      func.walk([&](ConvertOp op) { return WalkResult(lowerConversion(op)); });
  if (lowered.wasInterrupted())
    return failure();
  shrinkTypes(func);
  return success();
}

RankedTensorType LocalizePass::localType(Type type) {
  return dist::localType(cast<RankedTensorType>(type), mesh);
}

void LocalizePass::rememberGlobals(func::FuncOp func) {
  SmallVector<Attribute> types;
  for (BlockArgument argument : func.getArguments())
    types.push_back(TypeAttr::get(argument.getType()));
  rt::setArgumentAttrs(func, rt::RTDialect::kGlobalAttr, types);
  for (unsigned k = 0; k < func.getNumResults(); ++k)
    if (func.getResultAttr(k, nn::NNDialect::kDimsAttr) &&
        !func.getResultAttr(k, nn::NNDialect::kParamAttr))
      func.setResultAttr(k, rt::RTDialect::kGlobalAttr,
                         TypeAttr::get(func.getResultTypes()[k]));
}

/// Returns whether a conversion changes the state only, and not what a rank
/// holds.
bool renamesOnly(ConversionKind kind) {
  return kind == ConversionKind::Enter || kind == ConversionKind::Leave;
}

/// Marks the op that makes each gradient, for the memory map and for reading
/// it.
void LocalizePass::rememberGradients(func::FuncOp func) {
  for (Operation *op : readersOfGradients(func))
    rememberGradient(op->getOperand(0), op->getAttrOfType<StringAttr>(
                                            nn::NNDialect::kGradientOfAttr));
}

void LocalizePass::rememberGradient(Value gradient, StringAttr name) {
  TypeAttr global = TypeAttr::get(gradient.getType());
  // A conversion that only renames the state makes no buffer.
  while (auto convert = gradient.getDefiningOp<ConvertOp>()) {
    if (!renamesOnly(convert.getKind()))
      break;
    gradient = convert.getInput();
  }
  auto result = dyn_cast<OpResult>(gradient);
  if (!result)
    return;
  Builder builder(&getContext());
  setResultEntry(result, rt::RTDialect::kRoleAttr,
                 builder.getDictionaryAttr(
                     {builder.getNamedAttr(nn::NNDialect::kRoleAttr,
                                           builder.getStringAttr("gradient")),
                      builder.getNamedAttr(nn::NNDialect::kParamAttr, name),
                      builder.getNamedAttr("global", global)}));
  // rt-number-values keeps what nn ops make, not sums over ranks or
  // micro-batches.
  DictionaryAttr kept = getResultEntry(result, rt::RTDialect::kKeepAttr);
  if (keep && (!kept || kept.empty()))
    setResultEntry(
        result, rt::RTDialect::kKeepAttr,
        builder.getDictionaryAttr({builder.getNamedAttr("name", name),
                                   builder.getNamedAttr("global", global)}));
}

void LocalizePass::recordSpans(DistributableOpInterface op) {
  for (unsigned r = 0; r < op->getNumResults(); ++r) {
    Signature sig = op.getSignature(r);
    for (auto [k, letters] : llvm::enumerate(sig.ins)) {
      auto type = cast<RankedTensorType>(op->getOperand(k).getType());
      for (auto [dim, letter] : llvm::enumerate(letters)) {
        FactorSpan span;
        span.total = type.getDimSize(dim);
        for (StringAttr axis : axesOf(type, dim)) {
          int64_t outer = span.cuts.empty() ? span.total : span.chunk();
          span.cuts.push_back(
              {axis, llvm::divideCeilSigned(outer, mesh.getSize(axis))});
        }
        if (!span.cuts.empty())
          setSpan(op, letter, span);
      }
    }
  }
}

void LocalizePass::explainConversions(func::FuncOp func) {
  ConversionReasons reasons(func);
  Builder builder(&getContext());
  func.walk([&](ConvertOp op) {
    op->setAttr("reason", builder.getStringAttr(reasons.of(op)));
  });
}

RankedTensorType resized(RankedTensorType type, int64_t dim, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return type.clone(shape);
}

/// Chunks are gathered with their padding, which is then cut off.
Operation *LocalizePass::gather(OpBuilder &b, ConvertOp op) {
  int64_t dim = op.getFrom().where;
  RankedTensorType part = localType(op.getInput().getType());
  RankedTensorType whole = localType(op.getType());
  RankedTensorType padded =
      resized(whole, dim, part.getDimSize(dim) * mesh.getSize(op.getAxis()));
  bool isPadded = padded != whole;
  Operation *gathered = rt::AllGatherOp::create(
      b, op.getLoc(), isPadded ? padded : op.getType(), op.getInput(),
      b.getStrArrayAttr({op.getAxis()}), b.getI64IntegerAttr(dim));
  gathered->setAttr("reason", op->getAttr("reason"));
  if (!isPadded)
    return gathered;
  // The result without padding is the one that is read, kept or called a
  // gradient.
  inheritPhase(gathered, op);
  return rt::SliceOp::create(b, op.getLoc(), op.getType(),
                             gathered->getResult(0), b.getI64IntegerAttr(dim),
                             StringAttr());
}

/// The ranks' chunks are equal: the whole is padded to their sum first.
Operation *LocalizePass::scatter(OpBuilder &b, ConvertOp op) {
  int64_t dim = op.getTo().where;
  Value input = op.getInput();
  RankedTensorType part = localType(op.getType());
  RankedTensorType whole = localType(input.getType());
  RankedTensorType padded =
      resized(whole, dim, part.getDimSize(dim) * mesh.getSize(op.getAxis()));
  if (padded != whole) {
    auto pad = rt::PadOp::create(b, op.getLoc(), padded, input,
                                 b.getI64IntegerAttr(dim), StringAttr());
    inheritPhase(pad, op);
    input = pad;
  }
  Operation *scattered = rt::ReduceScatterOp::create(
      b, op.getLoc(), op.getType(), input, b.getStrArrayAttr({op.getAxis()}),
      b.getI64IntegerAttr(dim));
  scattered->setAttr("reason", op->getAttr("reason"));
  return scattered;
}

Operation *LocalizePass::reduce(OpBuilder &b, ConvertOp op) {
  Operation *reduced = rt::AllReduceOp::create(
      b, op.getLoc(), op.getInput().getType(), op.getInput(),
      b.getStrArrayAttr({op.getAxis()}),
      b.getBoolAttr(op.getKind() == ConversionKind::AllReduceMax));
  reduced->setAttr("reason", op->getAttr("reason"));
  return reduced;
}

/// Returns null where chunks would need padding.
Operation *LocalizePass::exchange(OpBuilder &b, ConvertOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  int64_t from = op.getFrom().where, to = op.getTo().where;
  int64_t ranks = mesh.getSize(op.getAxis());
  RankedTensorType before = localType(op.getInput().getType());
  RankedTensorType after = localType(type);
  if (before.getDimSize(from) * ranks != after.getDimSize(from) ||
      after.getDimSize(to) * ranks != before.getDimSize(to))
    return nullptr;
  Value gates = gatesOfReaders(op.getResult());
  Operation *made = gates ? gates.getDefiningOp() : nullptr;
  // Gates are converted after the rows that they route.
  if (made && made->getBlock() == op->getBlock() && op->isBeforeInBlock(made))
    b.setInsertionPointAfter(made);
  Operation *exchanged = rt::AllToAllOp::create(
      b, op.getLoc(), type, op.getInput(), gates,
      b.getStrArrayAttr({op.getAxis()}), b.getI64IntegerAttr(from),
      b.getI64IntegerAttr(to));
  exchanged->setAttr("reason", op->getAttr("reason"));
  if (gates) {
    nn::RoutedShare share = nn::routedShare(gates);
    exchanged->setAttr("share", b.getDenseI64ArrayAttr({share.k, share.total}));
  }
  return exchanged;
}

/// Gives every rank the parts of what it will have of all ranks, in their
/// order, and merges them: so all have the same bits. Returns null if parts
/// would need padding.
Operation *LocalizePass::merge(OpBuilder &b, ConvertOp op) {
  int64_t ranks = mesh.getSize(op.getAxis()), dim = op.getTo().where;
  RankedTensorType part = localType(op.getInput().getType());
  auto axes = b.getStrArrayAttr({op.getAxis()});
  Operation *parts;
  if (op.getKind() == ConversionKind::AllReduceMean) {
    auto type = resized(part, 0, part.getDimSize(0) * ranks);
    parts = rt::AllGatherOp::create(b, op.getLoc(), type, op.getInput(), axes,
                                    b.getI64IntegerAttr(0));
  } else if (part.getDimSize(dim) % ranks == 0 && dim != 0 &&
             dim + 1 != part.getRank()) {
    auto chunk = resized(part, dim, part.getDimSize(dim) / ranks);
    auto type = resized(chunk, 0, part.getDimSize(0) * ranks);
    parts = rt::AllToAllOp::create(
        b, op.getLoc(), type, op.getInput(), /*gates=*/Value(), axes,
        b.getI64IntegerAttr(0), b.getI64IntegerAttr(dim));
  } else {
    return nullptr;
  }
  parts->setAttr("reason", op->getAttr("reason"));
  inheritPhase(parts, op);
  return rt::MergeMeansOp::create(b, op.getLoc(), op.getType(),
                                  parts->getResult(0));
}

/// Candidates of all ranks, of which each keeps the best.
Operation *LocalizePass::mergeTop(OpBuilder &b, ConvertOp op) {
  RankedTensorType part = localType(op.getInput().getType());
  int64_t all = part.getDimSize(0) * mesh.getSize(op.getAxis());
  Operation *parts = rt::AllGatherOp::create(
      b, op.getLoc(), resized(part, 0, all), op.getInput(),
      b.getStrArrayAttr({op.getAxis()}), b.getI64IntegerAttr(0));
  parts->setAttr("reason", op->getAttr("reason"));
  inheritPhase(parts, op);
  return rt::MergeTopOp::create(b, op.getLoc(), op.getType(),
                                parts->getResult(0));
}

/// Returns the local op that a conversion runs; null if there is none.
Operation *LocalizePass::localOp(OpBuilder &b, ConvertOp op) {
  Value input = op.getInput();
  auto along = [&](State state) { return b.getI64IntegerAttr(state.where); };
  switch (op.getKind()) {
  case ConversionKind::AllReduce:
  case ConversionKind::AllReduceMax:
    return reduce(b, op);
  case ConversionKind::AllGather:
    return gather(b, op);
  case ConversionKind::ReduceScatter:
    return scatter(b, op);
  case ConversionKind::AllToAll:
    return exchange(b, op);
  case ConversionKind::AllReduceMean:
  case ConversionKind::ReduceScatterMean:
    return merge(b, op);
  case ConversionKind::AllReduceTop:
    return mergeTop(b, op);
  case ConversionKind::ReplicatedToPartial:
    return rt::FirstOp::create(b, op.getLoc(), input.getType(), input,
                               op.getAxisAttr());
  case ConversionKind::AllSlice:
    return rt::SliceOp::create(b, op.getLoc(), op.getType(), input,
                               along(op.getTo()), op.getAxisAttr());
  case ConversionKind::ShardedToPartial:
    return rt::PadOp::create(b, op.getLoc(), op.getType(), input,
                             along(op.getFrom()), op.getAxisAttr());
  default: // dist-split-stages and dist-split-owners lower the others.
    return nullptr;
  }
}

/// Lets a rank add its chunks of a factor that ranks share.
void LocalizePass::shareChunks(DistributableOpInterface op) {
  auto chunks =
      op->getAttrOfType<DictionaryAttr>(DistDialect::kChunkedSumsAttr);
  if (!chunks)
    return;
  Builder builder(&getContext());
  NamedAttrList local;
  for (NamedAttribute entry : chunks) {
    int64_t count = cast<IntegerAttr>(entry.getValue()).getInt();
    if (auto span = spanOf(op, entry.getName().strref()[0]))
      for (const FactorSpan::Cut &cut : span->cuts)
        count /= mesh.getSize(cut.axis);
    local.set(entry.getName(), builder.getI64IntegerAttr(count));
  }
  op->setAttr(DistDialect::kChunkedSumsAttr,
              local.getDictionary(&getContext()));
}

/// Beside a mean lies its weight, which is no addend and is not split.
LogicalResult LocalizePass::checkMeans(ConvertOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  if (!isPartialMean(type) || op.getFrom().kind == State::L)
    return success();
  for (State state : {op.getFrom(), op.getTo()})
    if (state.kind == State::P ||
        (state.isSharded() && state.where + 1 == type.getRank()))
      return op.emitOpError()
             << "converts " << state.str() << " on axis '" << op.getAxis()
             << "' of a mean that is partial on another axis; merge the means "
                "first (all_reduce_mean)";
  return success();
}

/// Lowers a conversion. The new ops have global types, which tell the next
/// conversion where it starts, until all types shrink.
LogicalResult LocalizePass::lowerConversion(ConvertOp op) {
  if (renamesOnly(op.getKind())) {
    op.replaceAllUsesWith(op.getInput());
    op.erase();
    return success();
  }
  if (failed(checkMeans(op)))
    return failure();
  OpBuilder builder(op);
  Operation *local = localOp(builder, op);
  if (!local)
    return op.emitOpError()
           << "'" << stringifyConversionKind(op.getKind())
           << "' needs dimensions that the " << mesh.getSize(op.getAxis())
           << " ranks of axis '" << op.getAxis()
           << "' divide; use all_gather and all_slice instead";
  inheritMarks(local, op);
  op.replaceAllUsesWith(local->getResult(0));
  op.erase();
  return success();
}

/// Micro-batches of typed data are views along dimension 0, which no axis
/// splits: so many local ones lie before them as global ones did.
void scaleOffset(rt::ViewOp view, int64_t localElements) {
  int64_t elements = view.getResult().getType().getNumElements();
  view.setOffset(view.getOffset() / elements * localElements);
}

void LocalizePass::shrinkTypes(func::FuncOp func) {
  func.walk([&](Operation *op) {
    if (auto view = dyn_cast<rt::ViewOp>(op))
      scaleOffset(view, localType(view.getType()).getNumElements());
    if (auto attention = dyn_cast<nn::CachedAttentionOp>(op))
      if (isPartialMean(cast<RankedTensorType>(attention.getType())))
        attention.setWeighted(true);
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        result.setType(localType(result.getType()));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (isa<RankedTensorType>(argument.getType()))
          argument.setType(localType(argument.getType()));
  });
  Block &block = func.getBody().front();
  func.setType(FunctionType::get(&getContext(), block.getArgumentTypes(),
                                 block.getTerminator()->getOperandTypes()));
}

} // namespace
