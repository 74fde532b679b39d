//===- TypeInference.cpp - result types and the verifier of every op ------===//
// Shapes follow from the factors, distributions from the rule, axis by axis.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/Dist/Dist.h"
#include <array>

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

/// Paddings stay stated of dimensions that are still sharded.
static RankedTensorType withStates(RankedTensorType type,
                                   SmallVector<AxisState> states) {
  llvm::erase_if(states, [](auto &s) { return s.state.kind == State::I; });
  llvm::sort(states, [](const AxisState &a, const AxisState &b) {
    return a.axis.getValue() < b.axis.getValue();
  });
  Attribute encoding;
  if (!states.empty())
    encoding = ShardingAttr::get(type.getContext(), states);
  auto result =
      RankedTensorType::get(type.getShape(), type.getElementType(), encoding);
  ArrayRef<DimPadding> paddings = paddingsOf(type);
  return paddings.empty() ? result : withPaddings(result, paddings);
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

namespace {

/// Sizes of the factors; 0 of those that no operand has.
struct FactorSizes {
  int64_t &operator[](char factor) {
    return sizes[static_cast<unsigned char>(factor)];
  }
  std::array<int64_t, 256> sizes = {};
};

} // namespace

/// Returns the sizes of the factors, which follow from the operands.
static FailureOr<FactorSizes> factorSizes(Operation *op, const Signature &sig) {
  FactorSizes sizes;
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
      int64_t &known = sizes[f];
      if (known != 0 && known != size)
        return op->emitOpError() << "sizes " << known << " and " << size
                                 << " of factor '" << f << "' differ";
      known = size;
    }
  }
  return sizes;
}

/// Returns all axes on which an operand is not invariant.
static SmallVector<StringAttr> axesIn(Operation *op) {
  SmallVector<StringAttr> axes;
  for (Value operand : op->getOperands())
    for (const AxisState &s : statesOf(operand.getType()))
      if (!llvm::is_contained(axes, s.axis))
        axes.push_back(s.axis);
  return axes;
}

/// Returns the result's state on one axis.
static FailureOr<State> inferState(Operation *op, const Signature &sig,
                                   StringAttr axis) {
  SmallVector<State> states;
  for (Value operand : op->getOperands())
    states.push_back(stateOf(operand.getType(), axis));
  std::string why;
  if (std::optional<State> state = infer(sig, states, why))
    return *state;
  InFlightDiagnostic diag = op->emitOpError() << "refuses ";
  llvm::interleaveComma(states, diag, [&](State s) { diag << s.str(); });
  diag << " on axis '" << axis.getValue() << "'";
  diag.attachNote() << why;
  return diag;
}

/// Returns the type of a result with what its padding holds.
static FailureOr<RankedTensorType> inferPadding(Operation *op, unsigned result,
                                                RankedTensorType type) {
  SmallVector<ArrayRef<DimPadding>> operands;
  for (Value operand : op->getOperands())
    operands.push_back(paddingsOf(operand.getType()));
  std::string why;
  std::optional<DimPaddings> paddings =
      inferPaddings(op, result, operands, meshOf(op), why);
  if (!paddings)
    return op->emitOpError() << why;
  return withPaddings(type, *paddings);
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
    int64_t size = (*sizes)[f] ? (*sizes)[f] : iface.getNewFactorSize(f);
    if (size < 0)
      return op->emitOpError() << "factor '" << f << "' of the result is in no "
                               << "operand";
    shape.push_back(size);
  }
  SmallVector<StringAttr> axes = axesIn(op);
  if (!axes.empty() && chunksOf(op))
    sig = sig.exact();
  SmallVector<AxisState> states;
  for (StringAttr axis : axes) {
    bool isAlike = sig.ring.empty() || sig.ringAxis == axis.getValue();
    auto state = inferState(op, isAlike ? sig : sig.on(axis), axis);
    if (failed(state))
      return failure();
    states.push_back({axis, *state});
  }
  auto type = withStates(
      RankedTensorType::get(shape, iface.getResultElementType(result)),
      std::move(states));
  if (std::string why = checkLevels(type); !why.empty())
    return op->emitOpError() << why;
  return axes.empty() || !isMasked(op) ? type : inferPadding(op, result, type);
}

FailureOr<SmallVector<RankedTensorType>>
tessera::dist::inferResultTypes(Operation *op) {
  SmallVector<RankedTensorType> types;
  if (!isa<DistributableOpInterface>(op))
    return op->emitOpError() << "has no factors from which types follow";
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
  ArrayRef<AxisState> states = statesOf(type);
  MeshAttr mesh = states.empty() ? MeshAttr() : meshOf(op);
  for (const AxisState &s : states) {
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
    if (!isWithin(type, result.getType()))
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
