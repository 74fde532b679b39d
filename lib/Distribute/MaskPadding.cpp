//===- MaskPadding.cpp - masks the padding of uneven shards ---------------===//
// If a sum or a maximum would read padding that changes it, the pass takes the
// mask nearby that carries the program furthest, and among several the smallest
// (docs/TheOneRule.md).
//===----------------------------------------------------------------------===//

#include "lib/Distribute/PaddingFlow.h"
#include "tessera/Dialect/Dist/Chunks.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Distribute/Erasure.h"
#include "tessera/Distribute/Passes.h"
#include "tessera/Options/MeshAxis.h"

namespace tessera {
#define GEN_PASS_DEF_MASKPADDINGPASS
#include "tessera/Distribute/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

namespace {

/// The largest number of ops between a mask and the refused op after it.
constexpr int kReach = 6;
/// The number of steps beyond a refused one by which masks are compared.
constexpr size_t kLookahead = 256;

/// One mask, and the value that it may stand behind.
using Site = std::pair<Value, PaddingMask>;

/// Masks that are tried together.
using Candidate = SmallVector<Site, 2>;

/// Chooses masks that make a program verify.
class MaskChooser {
public:
  explicit MaskChooser(PaddingFlow &flow) : flow(flow) {}

  /// Masks the program; returns false if no mask helps the step at the
  /// frontier.
  bool run();

private:
  SmallVector<Candidate> candidates() const;
  MaskSites with(ArrayRef<Site> added) const;
  void consider(ArrayRef<Site> masks);
  void considerPairs(ArrayRef<Candidate> single);
  void prune();

  PaddingFlow &flow;
  MaskSites sites;
  struct Best {
    size_t reached = 0;
    int64_t elements = 0;
    SmallVector<Site> masks;
  };
  std::optional<Best> best;
};

static bool isPartial(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return llvm::any_of(
      cast<ShardingAttr>(type.getEncoding()).getStates(),
      [](const AxisState &s) { return s.state.kind == State::P; });
}

/// Masks of the refused op's operands, and of what these are made of, along the
/// same factors: of one dimension, and of all that a value has.
SmallVector<Candidate> MaskChooser::candidates() const {
  llvm::MapVector<Value, SmallVector<int64_t>> found;
  SmallVector<std::pair<Value, int64_t>> edge;
  for (Value operand : flow.op(flow.frontier())->getOperands())
    for (int64_t dim : flow.paddedDims(operand))
      edge.push_back({operand, dim});
  for (int step = 0; step < kReach; ++step) {
    SmallVector<std::pair<Value, int64_t>> next;
    for (auto [value, dim] : edge) {
      if (llvm::is_contained(found[value], dim))
        continue;
      found[value].push_back(dim);
      llvm::append_range(next, flow.originsOf(value, dim));
    }
    edge = std::move(next);
  }
  SmallVector<Candidate> candidates;
  for (auto &[value, dims] : found) {
    if (!isa<FloatType>(getElementTypeOrSelf(value.getType())))
      continue;
    for (Padding fill : {Padding::Zero, Padding::NegInfinity}) {
      if (fill == Padding::NegInfinity && isPartial(value))
        continue;
      Candidate all;
      for (int64_t dim : dims) {
        all.push_back({value, {dim, fill}});
        candidates.push_back({all.back()});
      }
      if (all.size() > 1)
        candidates.push_back(all);
    }
  }
  return candidates;
}

MaskSites MaskChooser::with(ArrayRef<Site> added) const {
  MaskSites result = sites;
  for (const auto &[value, mask] : added)
    if (!llvm::is_contained(result[value], mask))
      result[value].push_back(mask);
  return result;
}

void MaskChooser::consider(ArrayRef<Site> masks) {
  SmallVector<Value> changed;
  int64_t elements = 0;
  for (const auto &[value, mask] : masks) {
    changed.push_back(value);
    elements += flow.localElements(value);
  }
  size_t reached = flow.attempt(with(masks), changed, kLookahead).reached;
  if (reached <= flow.frontier())
    return;
  if (!best || reached > best->reached ||
      (reached == best->reached && elements < best->elements))
    best = {reached, elements, SmallVector<Site>(masks)};
}

void MaskChooser::considerPairs(ArrayRef<Candidate> single) {
  for (auto [k, first] : llvm::enumerate(single))
    for (const Candidate &second : single.drop_front(k + 1)) {
      Candidate both = first;
      llvm::append_range(both, second);
      consider(both);
    }
}

bool MaskChooser::run() {
  flow.accept(flow.attempt(sites, {}, flow.size()));
  while (!flow.isDone()) {
    best.reset();
    SmallVector<Candidate> single = candidates();
    for (const Candidate &candidate : single)
      consider(candidate);
    if (!best)
      considerPairs(single);
    if (!best)
      return false;
    SmallVector<Value> changed;
    for (const auto &[value, mask] : best->masks)
      changed.push_back(value);
    sites = with(best->masks);
    flow.accept(flow.attempt(sites, changed, flow.size()));
  }
  prune();
  return true;
}

/// Drops masks that later ones made needless.
void MaskChooser::prune() {
  SmallVector<Site> all;
  for (const auto &[value, masks] : sites)
    for (const PaddingMask &mask : masks)
      all.push_back({value, mask});
  for (const auto &[value, mask] : all) {
    MaskSites fewer = sites;
    llvm::erase(fewer[value], mask);
    PaddingFlow::Trial trial = flow.attempt(fewer, value, 0);
    if (trial.reached < flow.size())
      continue;
    sites = std::move(fewer);
    flow.accept(std::move(trial));
  }
}

/// Inserts the masks that the steps of a flow read through.
class MaskInserter {
public:
  explicit MaskInserter(const PaddingFlow &flow) : flow(flow) {}

  void run() {
    for (size_t k = 0; k < flow.size(); ++k)
      for (auto [operand, masks] :
           llvm::zip(flow.op(k)->getOpOperands(), flow.stepOf(k).operands))
        if (!masks.empty())
          operand.set(masked(operand.get(), masks, flow.op(k)));
  }

private:
  Value masked(Value value, ArrayRef<PaddingMask> masks, Operation *reader);

  const PaddingFlow &flow;
  llvm::DenseMap<Value, SmallVector<std::pair<PaddingMask, Value>>> made;
};

/// Stands before the first op that reads it, in the block of the value.
Value MaskInserter::masked(Value value, ArrayRef<PaddingMask> masks,
                           Operation *reader) {
  Operation *place = value.getParentBlock()->findAncestorOpInBlock(*reader);
  for (const PaddingMask &mask : masks) {
    auto &known = made[value];
    auto *it = llvm::find_if(known, [&](auto &m) { return m.first == mask; });
    if (it != known.end()) {
      value = it->second;
      continue;
    }
    OpBuilder builder(place);
    auto op =
        MaskOp::create(builder, reader->getLoc(), value, mask.dim, mask.fill);
    nn::inheritPhase(op, reader);
    inheritChunk(op, reader);
    inheritChunk(op, value.getDefiningOp());
    known.push_back({mask, op.getOutput()});
    value = op.getOutput();
  }
  return value;
}

/// Writes the worst that types allow into padding: nothing may depend on it.
class Poisoner {
public:
  explicit Poisoner(MeshAttr mesh) : mesh(mesh) {}

  void run(func::FuncOp func) {
    SmallVector<OpResult> results;
    func.walk([&](Operation *op) {
      if (isa<DistributableOpInterface, ConvertOp>(op))
        llvm::append_range(results, op->getResults());
    });
    for (OpResult result : results)
      poison(result);
  }

private:
  void poison(OpResult result);

  MeshAttr mesh;
};

/// Returns the op whose chunk has the value: a conversion to another stage is
/// in a chunk of the stage that it comes from, and what reads it is not.
Operation *placeOf(OpResult result) {
  auto convert = dyn_cast<ConvertOp>(result.getOwner());
  bool crosses =
      convert && stateOf(convert.getInput().getType(), kPipelineAxis) !=
                     stateOf(result.getType(), kPipelineAxis);
  return crosses && !result.use_empty() ? *result.user_begin()
                                        : result.getOwner();
}

/// Poisons the paddings of a result. Where two paddings meet, zeros and -inf
/// win over numbers, and NaN over all.
void Poisoner::poison(OpResult result) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> dims = paddedDims(type, mesh);
  auto states = dyn_cast_or_null<ShardingAttr>(type.getEncoding());
  if (dims.empty() || !isa<FloatType>(type.getElementType()) ||
      llvm::any_of(states.getStates(),
                   [](auto &s) { return s.state.kind == State::M; }))
    return;
  OpBuilder builder(type.getContext());
  builder.setInsertionPointAfter(result.getOwner());
  Value poisoned = result;
  SmallPtrSet<Operation *, 4> made;
  Operation *place = placeOf(result);
  for (Padding padding :
       {Padding::Finite, Padding::NegInfinity, Padding::Zero, Padding::Any})
    for (int64_t dim : dims) {
      bool isPlain = poisoned == result && (padding == Padding::Zero ||
                                            padding == Padding::NegInfinity);
      if (paddingOf(type, dim) != padding || isPlain)
        continue;
      auto mask =
          MaskOp::create(builder, result.getLoc(), poisoned, dim, padding);
      nn::inheritPhase(mask, result.getOwner());
      inheritChunk(mask, place);
      made.insert(mask);
      poisoned = mask;
    }
  result.replaceAllUsesExcept(poisoned, made);
}

struct MaskPaddingPass : tessera::impl::MaskPaddingPassBase<MaskPaddingPass> {
  using MaskPaddingPassBase::MaskPaddingPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        nn::findWithOthers(getOperation(), "step");
    if (failed(programs))
      return signalPassFailure();
    if (!meshOf(getOperation()))
      return;
    for (func::FuncOp program : *programs)
      if (failed(mask(program)))
        return signalPassFailure();
    getOperation()->setAttr(DistDialect::kMaskedAttr,
                            UnitAttr::get(&getContext()));
    for (func::FuncOp program : *programs)
      if (failed(state(program)))
        return signalPassFailure();
  }

  LogicalResult mask(func::FuncOp program);
  LogicalResult state(func::FuncOp program);
  void stateAtRest(func::FuncOp func);
};

LogicalResult MaskPaddingPass::mask(func::FuncOp program) {
  stateAtRest(program);
  PaddingFlow flow(program);
  if (!MaskChooser(flow).run())
    return flow.op(flow.frontier())->emitOpError()
           << flow.why() << ", and no mask nearby helps; use sizes that the "
           << "mesh divides";
  MaskInserter(flow).run();
  return success();
}

/// States paddings in types, which the module then has.
LogicalResult MaskPaddingPass::state(func::FuncOp program) {
  if (failed(retype(program)))
    return failure();
  if (!poison)
    return success();
  Poisoner(meshOf(program)).run(program);
  return retype(program);
}

/// Parameters, moments and tables rest with zeros; of data nothing is known.
void MaskPaddingPass::stateAtRest(func::FuncOp func) {
  MeshAttr mesh = meshOf(func);
  auto withZeros = [&](Type type) -> Type {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return type;
    DimPaddings paddings;
    for (int64_t dim : paddedDims(tensor, mesh))
      paddings.push_back({dim, Padding::Zero});
    return withPaddings(tensor, paddings);
  };
  for (BlockArgument argument : func.getArguments())
    if (!func.getArgAttr(argument.getArgNumber(), nn::NNDialect::kDataAttr))
      argument.setType(withZeros(argument.getType()));
  SmallVector<Type> results;
  for (Type type : func.getResultTypes())
    results.push_back(withZeros(type));
  func.setType(FunctionType::get(func.getContext(),
                                 func.getBody().getArgumentTypes(), results));
}

} // namespace
