//===- TypeInference.cpp - result types and the verifier of every op ------===//
// Shapes follow from the factors, distributions from the rule, axis by axis.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/Dist/Dist.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tessera::dist;

static ArrayRef<AxisState> statesOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    if (auto sharding = dyn_cast_or_null<ShardingAttr>(tensor.getEncoding()))
      return sharding.getStates();
  return {};
}

State tessera::dist::stateOf(Type type, StringRef axis) {
  for (const AxisState &s : statesOf(type))
    if (s.axis.getValue() == axis)
      return s.state;
  return {State::I};
}

RankedTensorType tessera::dist::erased(RankedTensorType type) {
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

static RankedTensorType withStates(RankedTensorType type,
                                   SmallVector<AxisState> states) {
  llvm::erase_if(states, [](auto &s) { return s.state.kind == State::I; });
  llvm::sort(states, [](const AxisState &a, const AxisState &b) {
    return a.axis.getValue() < b.axis.getValue();
  });
  Attribute encoding;
  if (!states.empty())
    encoding = ShardingAttr::get(type.getContext(), states);
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               encoding);
}

RankedTensorType tessera::dist::withState(RankedTensorType type, StringRef axis,
                                          State state) {
  SmallVector<AxisState> states(statesOf(type));
  llvm::erase_if(states, [&](auto &s) { return s.axis.getValue() == axis; });
  states.push_back({StringAttr::get(type.getContext(), axis), state});
  return withStates(type, std::move(states));
}

RankedTensorType tessera::dist::dualType(RankedTensorType type) {
  SmallVector<AxisState> states(statesOf(type));
  for (AxisState &s : states)
    s.state = dual(s.state);
  return withStates(type, std::move(states));
}

SmallVector<StringAttr> tessera::dist::axesOf(RankedTensorType type,
                                              int64_t dim) {
  SmallVector<AxisState> found;
  for (const AxisState &s : statesOf(type))
    if (s.state.isSharded() && s.state.where == dim)
      found.push_back(s);
  llvm::stable_sort(found, [](const AxisState &a, const AxisState &b) {
    return a.state.level < b.state.level;
  });
  return llvm::map_to_vector(found, [](const AxisState &s) { return s.axis; });
}

std::string tessera::dist::checkLevels(RankedTensorType type) {
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    for (auto [k, axis] : llvm::enumerate(axesOf(type, dim)))
      if (stateOf(type, axis).level != static_cast<int64_t>(k))
        return "dimension " + std::to_string(dim) +
               " is not sharded at levels 0, 1, ...: convert the innermost "
               "axis first";
  return "";
}

int64_t tessera::dist::chunksOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto chunks =
      module ? module->getAttrOfType<IntegerAttr>(DistDialect::kInvariantAttr)
             : IntegerAttr();
  return chunks ? chunks.getInt() : 0;
}

Signature tessera::dist::signatureOn(Operation *op, unsigned result,
                                     StringRef axis) {
  Signature sig =
      cast<DistributableOpInterface>(op).getSignature(result).on(axis);
  return chunksOf(op) ? sig.exact() : sig;
}

/// Sizes of the factors, from the operands.
static FailureOr<llvm::MapVector<char, int64_t>>
factorSizes(Operation *op, const Signature &sig) {
  llvm::MapVector<char, int64_t> sizes;
  assert(sig.ins.size() == op->getNumOperands() && "the op's verifier counts");
  for (auto [k, letters] : llvm::enumerate(sig.ins)) {
    auto type = cast<RankedTensorType>(op->getOperand(k).getType());
    if (type.getRank() != static_cast<int64_t>(letters.size()))
      return op->emitOpError()
             << "operand " << k << " has rank " << type.getRank()
             << ", but its factors are '" << letters << "'";
    if (llvm::any_of(type.getShape(), [](int64_t size) { return size < 1; }))
      return op->emitOpError() << "operand " << k << " has type " << type
                               << "; all sizes must be static and above 0";
    for (auto [f, size] : llvm::zip(letters, type.getShape())) {
      auto [it, isNew] = sizes.insert({f, size});
      if (!isNew && it->second != size)
        return op->emitOpError() << "sizes " << it->second << " and " << size
                                 << " of factor '" << f << "' differ";
    }
  }
  return sizes;
}

/// All axes on which an operand is not invariant.
static SmallVector<StringAttr> axesIn(Operation *op) {
  SmallVector<StringAttr> axes;
  for (Value operand : op->getOperands())
    for (const AxisState &s : statesOf(operand.getType()))
      if (!llvm::is_contained(axes, s.axis))
        axes.push_back(s.axis);
  return axes;
}

static FailureOr<RankedTensorType> inferResultType(Operation *op,
                                                   unsigned result) {
  auto iface = cast<DistributableOpInterface>(op);
  Signature sig = iface.getSignature(result);
  auto sizes = factorSizes(op, sig);
  if (failed(sizes))
    return failure();
  SmallVector<int64_t> shape;
  for (char f : sig.out) {
    auto it = sizes->find(f);
    int64_t size = it == sizes->end() ? iface.getNewFactorSize(f) : it->second;
    if (size < 0)
      return op->emitOpError() << "factor '" << f << "' of the result is in no "
                               << "operand";
    shape.push_back(size);
  }
  auto type = RankedTensorType::get(shape, iface.getResultElementType(result));
  for (StringAttr axis : axesIn(op)) {
    SmallVector<State> states;
    for (Value operand : op->getOperands())
      states.push_back(stateOf(operand.getType(), axis));
    std::string why;
    std::optional<State> state =
        infer(signatureOn(op, result, axis), states, why);
    if (!state) {
      InFlightDiagnostic diag = op->emitOpError() << "refuses ";
      llvm::interleaveComma(states, diag, [&](State s) { diag << s.str(); });
      diag << " on axis '" << axis.getValue() << "'";
      diag.attachNote() << why;
      return diag;
    }
    type = withState(type, axis, *state);
  }
  if (std::string why = checkLevels(type); !why.empty())
    return op->emitOpError() << why;
  return type;
}

FailureOr<SmallVector<RankedTensorType>>
tessera::dist::inferResultTypes(Operation *op) {
  SmallVector<RankedTensorType> types;
  for (unsigned k = 0; k < op->getNumResults(); ++k) {
    FailureOr<RankedTensorType> type = inferResultType(op, k);
    if (failed(type))
      return failure();
    types.push_back(*type);
  }
  return types;
}

LogicalResult tessera::dist::setResultTypes(Operation *op) {
  FailureOr<SmallVector<RankedTensorType>> types = inferResultTypes(op);
  if (failed(types))
    return failure();
  for (auto [result, type] : llvm::zip(op->getResults(), *types))
    result.setType(type);
  return success();
}

LogicalResult tessera::dist::verifyAxes(Operation *op, Type type) {
  MeshAttr mesh = meshOf(op);
  for (const AxisState &s : statesOf(type)) {
    StringRef axis = s.axis.getValue();
    if (!mesh || mesh.getIndex(axis) < 0)
      return op->emitOpError()
             << "is distributed over axis '" << axis
             << "', which the module's dist.mesh does not have";
    if (s.state.kind == State::A && s.state.where >= mesh.getSize(axis))
      return op->emitOpError()
             << "is at stage " << s.state.where << " of axis '" << axis
             << "', which has " << mesh.getSize(axis) << " stages, from 0";
  }
  return success();
}

LogicalResult tessera::dist::verifyDistributable(Operation *op) {
  FailureOr<SmallVector<RankedTensorType>> types = inferResultTypes(op);
  if (failed(types))
    return failure();
  for (auto [result, type] : llvm::zip(op->getResults(), *types)) {
    if (result.getType() != type)
      return op->emitOpError() << "has result type " << result.getType()
                               << ", but its operands give " << type;
    if (failed(verifyAxes(op, type)))
      return failure();
  }
  return success();
}

MeshAttr tessera::dist::meshOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  return module ? module->getAttrOfType<MeshAttr>(DistDialect::kMeshAttr)
                : MeshAttr();
}
