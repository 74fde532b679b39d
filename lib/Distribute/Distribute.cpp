//===- Distribute.cpp - distributes a serial program over a mesh ----------===//

#include "lib/Distribute/Placement.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/NamedLayers.h"
#include "tessera/Dialect/NN/Trained.h"
#include "tessera/Distribute/Passes.h"
#include "tessera/Options/PlanRules.h"

namespace tessera {
#define GEN_PASS_DEF_DISTRIBUTEPASS
#include "tessera/Distribute/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

namespace {

/// Returns "dp=2,tp=4" as an attribute; null and an error if it is malformed.
MeshAttr parseMesh(ModuleOp module, const std::string &text) {
  MeshShape shape;
  if (std::string why = shape.parse(text); !why.empty()) {
    module.emitError() << why;
    return {};
  }
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  for (const MeshShape::Axis &axis : shape.axes) {
    axes.push_back(StringAttr::get(module.getContext(), nameOf(axis.axis)));
    sizes.push_back(axis.size);
  }
  return MeshAttr::get(module.getContext(), axes, sizes);
}

struct DistributePass : tessera::impl::DistributePassBase<DistributePass> {
  using DistributePassBase::DistributePassBase;

  void runOnOperation() override {
    MeshAttr parsed = parseMesh(getOperation(), mesh);
    if (!parsed)
      return signalPassFailure();
    getOperation()->setAttr(DistDialect::kMeshAttr, parsed);
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (failed(nn::checkProgram(func)))
        return signalPassFailure();
    if (failed(findReplicated()))
      return signalPassFailure();
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (failed(distribute(func, planOf(func, parsed))))
        return signalPassFailure();
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (nn::isBeside(func) && failed(checkSameParameters(func)))
        return signalPassFailure();
  }

  LogicalResult checkSameParameters(func::FuncOp other);

  LogicalResult findReplicated();
  ShardingPlan planOf(func::FuncOp func, MeshAttr parsed);
  LogicalResult distribute(func::FuncOp func, const ShardingPlan &plan);
  LogicalResult placeArguments(func::FuncOp func, const ShardingPlan &plan,
                               Placement &place);
  /// Results are `I`, or rest as their `nn.dims` say. Caches and logits stay at
  /// their stage, where the host reads logits.
  LogicalResult returnAtRest(func::FuncOp func, const ShardingPlan &plan,
                             Placement &place);

  llvm::DenseSet<StringRef> replicated; ///< Names of `replicatedLayers`.
};

/// Emits the error of an axis that divides neither the key heads nor the query
/// heads of each.
LogicalResult emitUnevenGroups(func::FuncOp func, StringRef name,
                               StringRef dims, RankedTensorType type,
                               std::pair<StringAttr, int64_t> axis) {
  int64_t groups = type.getDimSize(dims.find('g'));
  int64_t queries = type.getDimSize(dims.find('r'));
  int64_t largest = 1;
  for (int64_t n = 2; n < axis.second; ++n)
    if (groups % n == 0 || queries % n == 0)
      largest = n;
  return func.emitError()
         << "'" << name << "': " << groups << " key heads with " << queries
         << " query heads each cannot be split over mesh axis '"
         << axis.first.getValue() << "' of size " << axis.second
         << "; use a size of '" << axis.first.getValue() << "' that divides "
         << groups << " or " << queries << ", the largest below is " << largest;
}

/// The units that a letter of `nn.dims` counts; empty if any rank may have any
/// part of the dimension.
struct Unit {
  StringRef what, of;
  StringRef container, pieces; ///< "a batch with a multiple of 2 sequences"
};
Unit unitOf(char letter) {
  switch (letter) {
  case 'n':
    return {"", "heads", "", ""};
  case 'b':
    return {"the batch", "sequences of a micro-batch", "a batch",
            "sequences per micro-batch"};
  case 's':
    return {"a sequence", "tokens", "sequences", "tokens"};
  case 'x':
    return {"", "experts", "", ""};
  default:
    return {};
  }
}

/// Returns whether ranks may hold padding of units. Chunks of sums, of a ring
/// and of an exchange are equal on all ranks; ranks without a head or an expert
/// would only wait.
bool mayBePadded(func::FuncOp func, char letter, const ShardingPlan &plan) {
  if (chunksOf(func))
    return false;
  if (letter == 's')
    return !plan.exchangesHeads && !plan.walksRing;
  return letter == 'b' && plan.mesh.getSize(kExpertAxis) == 1;
}

/// Emits an error where units cannot be split over the ranks of an axis.
LogicalResult checkUnits(func::FuncOp func, StringRef name, StringRef dims,
                         RankedTensorType type, const ShardingPlan &plan) {
  MeshAttr mesh = plan.mesh;
  for (auto [dim, letter] : llvm::enumerate(dims)) {
    int64_t size = type.getDimSize(dim), all = 1;
    for (StringAttr axis : axesOf(type, dim)) {
      Unit unit = unitOf(letter);
      int64_t ranks = mesh.getSize(axis);
      all *= ranks;
      if (letter == 'r' && chunksOf(func))
        return func.emitError()
               << "'" << name << "': " << type.getDimSize(dims.find('g'))
               << " key heads cannot be split over mesh axis '"
               << axis.getValue() << "' of size " << ranks
               << ", and --layout-invariant does not split the queries of one; "
                  "use a size of '"
               << axis.getValue() << "' that divides "
               << type.getDimSize(dims.find('g'));
      if (letter == 'r' && size % ranks != 0)
        return emitUnevenGroups(func, name, dims, type, {axis, ranks});
      if (unit.of.empty() || mayBePadded(func, letter, plan)) {
        size = llvm::divideCeil(size, ranks);
        continue;
      }
      if (size % ranks == 0) {
        size /= ranks;
        continue;
      }
      auto diag = func.emitError();
      if (unit.what.empty())
        diag << "'" << name << "'";
      else
        diag << unit.what;
      diag << ": " << size << " " << unit.of
           << " cannot be split over mesh axis '" << axis.getValue()
           << "' of size " << ranks << "; use a size of '" << axis.getValue()
           << "' that divides " << size;
      if (!unit.container.empty())
        diag << ", or " << unit.container << " with a multiple of " << all
             << " " << unit.pieces;
      return diag;
    }
  }
  return success();
}

LogicalResult checkDims(func::FuncOp func, unsigned argument, StringRef dims) {
  auto type = cast<RankedTensorType>(func.getArgument(argument).getType());
  if (type.getRank() == static_cast<int64_t>(dims.size()))
    return success();
  return func.emitError() << "argument #" << argument << " has rank "
                          << type.getRank() << ", but its nn.dims '" << dims
                          << "' name " << dims.size() << " dimensions";
}

/// Checks that a program beside another reads the parameters where that one
/// leaves them.
LogicalResult DistributePass::checkSameParameters(func::FuncOp other) {
  auto first = getOperation().lookupSymbol<func::FuncOp>("loss");
  if (!first)
    return success(); // @mixed beside @decode: both have the same arguments
  llvm::DenseMap<Attribute, Type> types;
  for (BlockArgument argument : first.getArguments())
    if (Attribute name = first.getArgAttr(argument.getArgNumber(),
                                          nn::NNDialect::kParamAttr))
      types[name] = argument.getType();
  for (BlockArgument argument : other.getArguments()) {
    Attribute name =
        other.getArgAttr(argument.getArgNumber(), nn::NNDialect::kParamAttr);
    if (name && argument.getType() != types.lookup(name))
      return other.emitError()
             << "has parameter " << name << " as " << argument.getType()
             << ", but @loss as " << types.lookup(name);
  }
  return success();
}

bool isCache(StringAttr role) {
  return role && (role == nn::kKeyCache || role == nn::kValueCache);
}

bool hasCaches(func::FuncOp func) {
  return llvm::any_of(llvm::seq(func.getNumArguments()), [&](unsigned k) {
    return isCache(
        func.getArgAttrOfType<StringAttr>(k, nn::NNDialect::kRoleAttr));
  });
}

/// Programs beside another may lack layers, as an encoder lacks a decoder's.
LogicalResult DistributePass::findReplicated() {
  llvm::SetVector<StringRef> all;
  for (auto func : getOperation().getOps<func::FuncOp>())
    all.insert_range(layersOf(func));
  for (const std::string &range : replicatedLayers) {
    FailureOr<ArrayRef<StringRef>> named = layersNumbered(
        getOperation(), range, all.getArrayRef(), "are to be replicated");
    if (failed(named))
      return failure();
    replicated.insert(named->begin(), named->end());
  }
  return success();
}

ShardingPlan DistributePass::planOf(func::FuncOp func, MeshAttr parsed) {
  ShardingPlan plan;
  plan.mesh = parsed;
  // Rows of a step are few: only training splits a stream of them.
  plan.sequenceParallel = sequenceParallel && !nn::isGeneration(func);
  plan.replicatedLayers = replicated;
  plan.sharesPlaces = hasCaches(func);
  plan.shardsParameters = zero;
  plan.shardsFrozen = splitsFrozen;
  plan.exchangesHeads = contextParallel == nameOf(ContextParallel::Ulysses);
  plan.walksRing = contextParallel == nameOf(ContextParallel::Ring);
  plan.findStream(func.getBody());
  return plan;
}

LogicalResult DistributePass::placeArguments(func::FuncOp func,
                                             const ShardingPlan &plan,
                                             Placement &place) {
  for (BlockArgument argument : func.getArguments()) {
    unsigned k = argument.getArgNumber();
    auto dims = func.getArgAttrOfType<StringAttr>(k, nn::NNDialect::kDimsAttr);
    auto param =
        func.getArgAttrOfType<StringAttr>(k, nn::NNDialect::kParamAttr);
    if (!dims)
      continue;
    if (failed(checkDims(func, k, dims)))
      return failure();
    auto type = cast<RankedTensorType>(argument.getType());
    // Caches are split whatever the parameters are: ranks share their places.
    bool isWhole = param && plan.isReplicated(argument);
    auto role = func.getArgAttrOfType<StringAttr>(k, nn::NNDialect::kRoleAttr);
    StringRef name = param  ? param.getValue()
                     : role ? role.getValue()
                            : StringRef("data");
    if (failed(checkUnits(func, name, dims, plan.resting(type, dims, isWhole),
                          plan)))
      return failure();
    bool isFrozen = nn::isFrozen(func, k);
    bool isShard =
        param && plan.shardsParameters && (plan.shardsFrozen || !isFrozen);
    argument.setType(isShard ? plan.restingShard(type, dims, isWhole)
                             : plan.resting(type, dims, isWhole));
    if (param || isCache(role))
      argument.setType(plan.atStage(argument));
    if (param && !isFrozen)
      place.markActive(argument);
  }
  return success();
}

LogicalResult DistributePass::returnAtRest(func::FuncOp func,
                                           const ShardingPlan &plan,
                                           Placement &place) {
  Operation *ret = func.getBody().front().getTerminator();
  OpBuilder builder(ret);
  for (OpOperand &operand : ret->getOpOperands()) {
    auto dims = func.getResultAttrOfType<StringAttr>(operand.getOperandNumber(),
                                                     nn::NNDialect::kDimsAttr);
    auto type = cast<RankedTensorType>(operand.get().getType());
    RankedTensorType rest =
        plan.resting(erased(type), dims ? dims.getValue() : StringRef());
    for (StringAttr axis : plan.axes())
      if (axis != kPipelineAxis || !nn::isGeneration(func))
        operand.set(
            place.convert(builder, operand.get(), axis, stateOf(rest, axis)));
  }
  func.setType(FunctionType::get(&getContext(),
                                 func.getBody().front().getArgumentTypes(),
                                 ret->getOperandTypes()));
  return success();
}

/// Refuses `ep` without experts, where it would only be another `dp`.
LogicalResult checkExperts(func::FuncOp func, MeshAttr mesh) {
  if (mesh.getSize(kExpertAxis) == 1)
    return success();
  WalkResult found =
      func.walk([](nn::RoutedOpInterface) { return WalkResult::interrupt(); });
  if (found.wasInterrupted())
    return success();
  return func.emitError() << "mesh axis 'ep' splits experts, but the model has "
                             "none; use 'dp' instead";
}

/// Refuses other axes: only these cut sums of a fixed order into chunks.
LogicalResult checkInvariance(func::FuncOp func, MeshAttr mesh) {
  if (!chunksOf(func))
    return success();
  MeshShape shape;
  for (StringAttr axis : mesh.getAxes())
    if (std::optional<MeshAxis> known = fromName<MeshAxis>(axis.str()))
      shape.axes.push_back({*known, mesh.getSize(axis)});
  std::string why = checkInvariantMesh(shape);
  return why.empty() ? success() : func.emitError() << why;
}

LogicalResult DistributePass::distribute(func::FuncOp func,
                                         const ShardingPlan &plan) {
  if (failed(checkExperts(func, plan.mesh)) ||
      failed(checkInvariance(func, plan.mesh)))
    return failure();
  Placement place(plan);
  if (failed(placeArguments(func, plan, place)))
    return failure();
  SmallVector<Operation *> ops;
  for (Operation &op : func.getBody().front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : ops) {
    if (!isa<DistributableOpInterface>(op))
      return op->emitOpError()
             << "cannot be distributed; only nn ops of a serial program can";
    if (plan.stages() > 1 && !plan.stageOf(op))
      return op->emitOpError()
             << "has no chunk, but the mesh has " << plan.stages()
             << " stages; run dist-assign-stages first";
    if (failed(place.place(op)))
      return failure();
  }
  return returnAtRest(func, plan, place);
}

} // namespace
