//===- Placement.cpp - gives ops their distribution -----------------------===//

#include "lib/Distribute/Placement.h"
#include "lib/Distribute/AdapterAnchor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/Dist/Chunks.h"
#include "tessera/Dialect/Dist/LocalShape.h"
#include "tessera/Dialect/NN/Adapters.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NamedLayers.h"
#include "tessera/Options/MeshAxis.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;
using nn::hasTag;

//===----------------------------------------------------------------------===//
// Sharding plan
//===----------------------------------------------------------------------===//

/// Returns the letters of `nn.dims` that an axis shards.
static StringRef shardedLetters(StringRef axis, bool sharesPlaces) {
  return llvm::StringSwitch<StringRef>(axis)
      .Cases({kDataAxis, kReplicaAxis}, "b")
      .Case(kTensorAxis, "nfvg")
      .Case(kContextAxis, sharesPlaces ? "l" : "s")
      .Case(kExpertAxis, "bx")
      .Default("");
}

/// Returns the dimension that an axis shards in the resting sharding of a
/// value, or npos. Key heads that the axis does not divide stay whole, and the
/// query heads of each are split: the gradients of the keys then add over the
/// axis. Of a cache of them, places are split.
static size_t shardedDim(RankedTensorType type, StringRef dims,
                         StringRef letters, int64_t ranks) {
  size_t dim = dims.find_first_of(letters);
  bool uneven = dim != StringRef::npos && type.getDimSize(dim) % ranks != 0;
  return uneven && dims[dim] == 'g' ? dims.find_first_of("rl") : dim;
}

/// Among the axes that cut the same dimension `ep` is the inner one, whatever
/// the order of the mesh: only the innermost can be exchanged.
static SmallVector<StringAttr> outermostFirst(MeshAttr mesh) {
  SmallVector<StringAttr> axes(mesh.getAxes());
  llvm::stable_sort(axes, [](StringAttr a, StringAttr b) {
    return a.getValue() != kExpertAxis && b.getValue() == kExpertAxis;
  });
  return axes;
}

bool ShardingPlan::isReplicated(Operation *op) const {
  return replicatedLayers.contains(layerOf(op));
}

bool ShardingPlan::isReplicated(BlockArgument parameter) const {
  return !parameter.use_empty() &&
         llvm::all_of(parameter.getUsers(),
                      [&](Operation *user) { return isReplicated(user); });
}

RankedTensorType ShardingPlan::resting(RankedTensorType type, StringRef dims,
                                       bool isReplicated) const {
  if (!mesh)
    return type;
  for (StringAttr axis : outermostFirst(mesh)) {
    if (axis == kTensorAxis && isReplicated)
      continue;
    size_t dim = shardedDim(type, dims, shardedLetters(axis, sharesPlaces),
                            mesh.getSize(axis));
    if (dim != StringRef::npos && mesh.getSize(axis) > 1)
      type =
          withState(type, axis, State::sharded(dim, axesOf(type, dim).size()));
  }
  return type;
}

SmallVector<StringAttr> ShardingPlan::zeroAxes() const {
  SmallVector<StringAttr> axes;
  if (mesh)
    for (StringAttr axis : mesh.getAxes())
      if (mesh.getSize(axis) > 1 && llvm::is_contained(kZeroAxes, axis))
        axes.push_back(axis);
  return axes;
}

/// Returns the first dimension of a rank's part that so many ranks divide, or
/// npos.
static size_t evenDim(RankedTensorType type, MeshAttr mesh, int64_t ranks) {
  for (auto [dim, size] : llvm::enumerate(localShape(type, mesh)))
    if (size % ranks == 0)
      return dim;
  return StringRef::npos;
}

/// Slices of one dimension lie in the order of the ranks, so that one
/// collective can move them over all axes.
RankedTensorType ShardingPlan::restingShard(RankedTensorType type,
                                            StringRef dims,
                                            bool isReplicated) const {
  RankedTensorType rest = resting(type, dims, isReplicated);
  if (type.getRank() == 0)
    return rest;
  SmallVector<StringAttr> axes = zeroAxes();
  int64_t all = 1;
  for (StringAttr axis : axes)
    all *= mesh.getSize(axis);
  const size_t common = evenDim(rest, mesh, all);
  for (StringAttr axis : axes) {
    size_t dim = common;
    if (dim == StringRef::npos)
      dim = evenDim(rest, mesh, mesh.getSize(axis));
    if (dim == StringRef::npos)
      dim = 0;
    rest = withState(rest, axis, State::sharded(dim, axesOf(rest, dim).size()));
  }
  return rest;
}

bool ShardingPlan::isGathered(Value value) const {
  return shardsParameters && isParameter(value) &&
         llvm::any_of(kZeroAxes, [&](StringRef axis) {
           return stateOf(value.getType(), axis).isSharded();
         });
}

/// Returns whether every operand's factors are among the result's.
static bool isElementwise(Operation *op) {
  auto iface = dyn_cast<DistributableOpInterface>(op);
  if (!iface || op->getNumResults() != 1)
    return false;
  Signature sig = iface.getSignature(0);
  return llvm::all_of(sig.ins, [&](StringRef letters) {
    return letters.find_first_not_of(sig.out) == StringRef::npos;
  });
}

/// Returns whether an op reads one activation; the rest of its operands are
/// parameters.
static bool readsOneActivation(Operation *op) {
  return llvm::count_if(op->getOperands(),
                        [](Value value) { return !isParameter(value); }) == 1;
}

void ShardingPlan::findStream(Region &program) {
  auto isPartOf = [&](Operation *op, Operation *user) {
    auto shape = [](Operation *of) {
      return cast<RankedTensorType>(of->getResult(0).getType()).getShape();
    };
    return (stream.contains(user) || branches.contains(user)) &&
           isElementwise(user) && shape(op) == shape(user);
  };
  for (Operation &op : llvm::reverse(program.front().without_terminator()))
    if (hasTag(&op, nn::Tag::Stream))
      stream.insert(&op);
    else if (op.getNumResults() == 1 && !op.use_empty() &&
             llvm::all_of(op.getUsers(), [&](Operation *user) {
               return isPartOf(&op, user);
             })) {
      branches.insert(&op);
      if (isElementwise(&op) && readsOneActivation(&op) &&
          llvm::all_of(op.getUsers(), [&](Operation *user) {
            return stream.contains(user) || tails.contains(user);
          }))
        tails.insert(&op);
    }
}

/// Caches stay where they are, and attention is over the places that a rank
/// has.
static std::optional<State> anchorByCache(Operation *op, StringRef axis) {
  if (auto append = dyn_cast<nn::AppendOp>(op))
    if (State state = stateOf(append.getCache().getType(), axis);
        state.isSharded())
      return state;
  if (auto attention = dyn_cast<nn::CachedAttentionOp>(op))
    if (State state = stateOf(attention.getKeys().getType(), axis);
        state.isSharded() && state.where == kPlacesDim)
      return State{State::L};
  return std::nullopt;
}

std::optional<State> ShardingPlan::anchor(Operation *op, StringRef axis) const {
  if (axis == kPipelineAxis)
    return stageOf(op);
  bool isSplit = axis == kTensorAxis && !isReplicated(op);
  // Sums of a fixed order are rounded before B multiplies them.
  if (isSplit && op->hasAttr(nn::kAdapterAttr) && !chunksOf(op))
    if (std::optional<State> state = anchorOfAdapter(op, axis))
      return state;
  bool isStream = stream.contains(op), isBranch = branches.contains(op);
  // Tokens cross to experts and back; every rank of tp has a part of each.
  if (axis == kExpertAxis && hasTag(op, nn::Tag::Dispatch))
    return State::sharded(kRoutedBatchDim);
  if (axis == kExpertAxis && hasTag(op, nn::Tag::Collect))
    return State::sharded(kBatchDim);
  if (isSplit && hasTag(op, nn::Tag::Dispatch))
    return State{State::R};
  if (std::optional<State> state = anchorByCache(op, axis))
    return state;
  if (axis == kContextAxis && sharesPlaces)
    return State{State::I};
  if (axis == kContextAxis && hasTag(op, nn::Tag::Attention))
    return State::sharded(exchangesHeads ? kHeadsDim : kSequenceDim);
  if (axis == kContextAxis && (isStream || isBranch))
    return State::sharded(kSequenceDim);
  if (axis == kTensorAxis && sequenceParallel &&
      (isStream || (isBranch && isElementwise(op))))
    return State::sharded(kSequenceDim);
  if (axis == kTensorAxis && (isStream || tails.contains(op)))
    return State{State::I};
  return std::nullopt;
}

bool ShardingPlan::keepsOperand(Operation *op, unsigned operand,
                                StringRef axis) const {
  return axis == kTensorAxis && hasTag(op, nn::Tag::Collect) && operand == 0 &&
         stateOf(op->getOperand(0).getType(), axis).kind == State::P;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Value Placement::convert(OpBuilder &builder, Value value, StringRef axis,
                         State to) {
  std::optional<SmallVector<State>> path =
      route(stateOf(value.getType(), axis), to);
  if (!path)
    return value; // The verifier refuses the op that reads it.
  Value source = value;
  bool sharesBackward = !chunksOf(builder.getInsertionBlock()->getParentOp());
  for (State state : *path) {
    // The gradients of several uses would add as partial sums.
    if (!sharesBackward && state.kind == State::R && active.contains(source))
      made.erase({source.getAsOpaquePointer(), axis.str(), state.str()});
    Value &known = made[{source.getAsOpaquePointer(), axis.str(), state.str()}];
    if (!known) {
      known = ConvertOp::create(builder, source.getLoc(), source, axis, state);
      inheritChunk(known.getDefiningOp(), &*builder.getInsertionPoint());
      if (active.contains(source))
        active.insert(known);
    }
    source = known;
  }
  return source;
}

bool tessera::isParameter(Value value) {
  while (auto convert = value.getDefiningOp<ConvertOp>())
    value = convert.getInput();
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return func &&
         func.getArgAttr(argument.getArgNumber(), nn::NNDialect::kParamAttr);
}

/// Returns the ring bytes of a conversion, and of its backward if a gradient
/// flows.
static double wireBytes(RankedTensorType type, StringRef axis, State to,
                        bool differentiated, MeshAttr mesh) {
  State from = stateOf(type, axis);
  int64_t n = mesh.getSize(axis);
  double ring = ringShare(findConversion(from, to)->collective, n);
  if (differentiated)
    if (const ConversionRow *back = findConversion(dual(to), dual(from)))
      ring += ringShare(back->collective, n);
  return ring * wholeBytes(type, mesh, axis);
}

Placement::Price &Placement::Price::operator+=(const Price &other) {
  parametersMoved += other.parametersMoved;
  valuesGathered += other.valuesGathered;
  bytes += other.bytes;
  conversions += other.conversions;
  return *this;
}

bool Placement::Price::operator<(const Price &other) const {
  auto key = [](const Price &p) {
    return std::tie(p.parametersMoved, p.valuesGathered, p.bytes,
                    p.conversions);
  };
  return key(*this) < key(other);
}

/// An all-to-all moves only chunks that are equal on all ranks. Parts of means
/// move by one, too.
bool Placement::exchangesPadding(RankedTensorType from, RankedTensorType to,
                                 StringRef axis) const {
  State before = stateOf(from, axis), after = stateOf(to, axis);
  bool exchanges = before.isSharded() || before.kind == State::L;
  if (!exchanges || !after.isSharded())
    return false;
  int64_t ranks = plan.mesh.getSize(axis);
  SmallVector<int64_t> whole =
      localShape(withState(from, axis, {State::I}), plan.mesh);
  return (before.isSharded() && whole[before.where] % ranks != 0) ||
         whole[after.where] % ranks != 0;
}

std::optional<Placement::Price> Placement::price(Value value, StringRef axis,
                                                 State to) const {
  auto type = cast<RankedTensorType>(value.getType());
  std::optional<SmallVector<State>> path = route(stateOf(type, axis), to);
  if (!path)
    return std::nullopt;
  auto steps = static_cast<int64_t>(path->size());
  double wire = 0;
  Value here = value;
  for (State state : *path) {
    RankedTensorType after = withState(type, axis, state);
    if (state.isSharded() && state.where >= type.getRank())
      return std::nullopt;
    if (!checkLevels(after).empty() || exchangesPadding(type, after, axis))
      return std::nullopt;
    auto it =
        here ? made.find({here.getAsOpaquePointer(), axis.str(), state.str()})
             : made.end();
    here = it == made.end() ? Value() : it->second;
    if (!here)
      wire += wireBytes(type, axis, state, active.contains(value), plan.mesh);
    type = after;
  }
  bool isSplit = stateOf(value.getType(), axis).isSharded();
  bool changes = !path->empty();
  if (isParameter(value))
    return Price{changes && (isSplit || to.isSharded()), 0, wire, steps};
  return Price{0, changes && isSplit && !to.isSharded(), wire, steps};
}

LogicalResult Placement::refuse(Operation *op, StringRef axis) const {
  InFlightDiagnostic error = op->emitOpError() << "has no legal distribution "
                                               << "on axis '" << axis << "'";
  if (axis != kContextAxis || !hasTag(op, nn::Tag::Attention))
    return error;
  if (!plan.exchangesHeads && plan.sequenceParallel && plan.isReplicated(op))
    return error << ": its keys are cut along the sequence over 'tp' as well, "
                    "which does not split the heads of a replicated layer; "
                    "leave --sequence-parallel out, or do not replicate it";
  if (!plan.exchangesHeads && plan.sequenceParallel)
    return error << ": its keys, of fewer heads than mesh axis 'tp' has ranks, "
                    "are cut along the sequence over 'tp' as well; leave "
                    "--sequence-parallel out, or use a smaller tp";
  if (!plan.exchangesHeads)
    return error;
  auto keys = cast<RankedTensorType>(op->getOperand(1).getType());
  return error << " of size " << plan.mesh.getSize(axis)
               << ": it would exchange heads, but a rank has "
               << localShape(keys, plan.mesh)[kHeadsDim]
               << " key heads, which it does not divide; use "
                  "--context-parallel all-gather";
}

FailureOr<SmallVector<State>> Placement::choose(Operation *op,
                                                StringRef axis) const {
  Signature sig = signatureOn(op, 0, axis);
  std::optional<State> wanted = plan.anchor(op, axis);
  std::optional<std::pair<Price, SmallVector<State>>> best;
  int64_t stages = axis == kPipelineAxis ? plan.stages() : 0;
  for (Value operand : op->getOperands()) // an owner along another axis
    if (State state = stateOf(operand.getType(), axis); state.kind == State::A)
      stages = std::max(stages, state.where + 1);
  for (Row &row : rows(sig, plan.mesh.getAxes().size(), stages)) {
    if (wanted &&
        (wanted->kind != row.result.kind || wanted->where != row.result.where))
      continue;
    Price total;
    bool possible = true;
    for (auto [k, operand, state] :
         llvm::enumerate(op->getOperands(), row.operands)) {
      std::optional<Price> p = price(operand, axis, state);
      possible = p && (p->conversions == 0 || !plan.keepsOperand(op, k, axis));
      if (!possible)
        break;
      total += *p;
      if (best && !(total < best->first))
        break; // prices only grow
    }
    if (possible && (!best || total < best->first))
      best = {total, row.operands};
    if (best && !(Price() < best->first))
      break; // nothing is cheaper than no conversion
  }
  if (!best)
    return refuse(op, axis);
  return best->second;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Placement::propagateActive(Operation *op) {
  if (!isa<nn::DifferentiableOpInterface>(op))
    return;
  bool differentiated = llvm::any_of(
      op->getOperands(), [&](Value v) { return active.contains(v); });
  if (differentiated)
    active.insert(op->result_begin(), op->result_end());
}

/// The innermost slices are gathered first. A step of few rows uses parameters
/// in the same way on all ranks of `cp`.
Value Placement::gathered(OpBuilder &builder, Value parameter) {
  const SmallVector<StringAttr> axes = plan.zeroAxes();
  for (StringAttr axis : llvm::reverse(axes))
    if (stateOf(parameter.getType(), axis).isSharded()) {
      bool isSame = axis == kContextAxis && plan.sharesPlaces;
      parameter =
          convert(builder, parameter, axis, {isSame ? State::I : State::R});
    }
  return parameter;
}

LogicalResult Placement::place(Operation *op) {
  if (plan.mesh) {
    OpBuilder builder(op);
    if (plan.walksRing && plan.mesh.getSize(kContextAxis) > 1 &&
        hasTag(op, nn::Tag::Attention))
      op->setAttr(DistDialect::kRingAttr, builder.getStringAttr(kContextAxis));
    // The gather is at the stage that reads the parameter, so that gradients
    // are scattered before stages add.
    std::optional<State> stage = plan.stageOf(op);
    for (OpOperand &operand : op->getOpOperands())
      if (plan.isGathered(operand.get())) {
        if (stage)
          operand.set(convert(builder, operand.get(), kPipelineAxis, *stage));
        // So are replicas' sums: they add slices.
        if (plan.mesh.getSize(kReplicaAxis) > 1)
          operand.set(
              convert(builder, operand.get(), kReplicaAxis, {State::R}));
        operand.set(gathered(builder, operand.get()));
      }
    for (StringAttr axis : plan.axes()) {
      FailureOr<SmallVector<State>> states = choose(op, axis);
      if (failed(states))
        return failure();
      for (auto [operand, state] : llvm::zip(op->getOpOperands(), *states))
        operand.set(convert(builder, operand.get(), axis, state));
    }
  }
  if (failed(setResultTypes(op)))
    return failure();
  propagateActive(op);
  return success();
}
