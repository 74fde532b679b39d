//===- RowGroups.cpp - values with rows of the same tokens ----------------===//

#include "lib/Lower/RowGroups.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using rt::RoutedKind;

/// The dimension of gates, which are batch x sequence x experts.
constexpr uint64_t kSequenceDim = 1;

static RankedTensorType rowsTypeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Gates
//===----------------------------------------------------------------------===//

namespace {
/// Compares two values, which are equal if the ops that make them are, down to
/// common operands: backward may make gates again.
class Equality {
public:
  bool operator()(Value a, Value b) { return areEqual(a, b, kDeepest); }

private:
  bool areEqual(Value a, Value b, int depth);

  static constexpr int kDeepest = 256;
  DenseMap<std::pair<Value, Value>, bool> known;
};
} // namespace

bool Equality::areEqual(Value a, Value b, int depth) {
  if (a == b)
    return true;
  auto first = dyn_cast<OpResult>(a), second = dyn_cast<OpResult>(b);
  if (!first || !second || depth == 0 ||
      first.getResultNumber() != second.getResultNumber() ||
      !isMemoryEffectFree(first.getOwner()))
    return false;
  if (auto it = known.find({a, b}); it != known.end())
    return it->second;
  auto flags = static_cast<OperationEquivalence::Flags>(
      OperationEquivalence::IgnoreLocations |
      OperationEquivalence::IgnoreDiscardableAttrs);
  bool same = OperationEquivalence::isEquivalentTo(
      first.getOwner(), second.getOwner(),
      [&](Value x, Value y) { return success(areEqual(x, y, depth - 1)); },
      nullptr, flags);
  return known[{a, b}] = same;
}

static bool haveEqualMakers(Value a, Value b) { return Equality()(a, b); }

/// Experts of a token: the op that made the gates, before they were moved. Null
/// where anything else made them.
static rt::RoutedOp sourceOf(Value gates) {
  while (Operation *op = gates.getDefiningOp()) {
    auto routed = dyn_cast<rt::RoutedOp>(op);
    if (routed && routed.getKind() == RoutedKind::TopK)
      return routed;
    if (!isa<rt::AllToAllOp, rt::AllGatherOp, rt::SliceOp>(op))
      break;
    gates = op->getOperand(0);
  }
  return {};
}

/// Returns whether `whole`, of all ranks' tokens and some experts, is exchanged
/// for `part`, of the rank's tokens and all experts: the same bits, for both
/// sides count their rows by them. Both may be gathered along the sequence,
/// which is the same before the exchange and after it.
static bool isExchanged(Value part, Value whole, ArrayAttr axes) {
  auto gather = whole.getDefiningOp<rt::AllGatherOp>();
  auto gatherOfPart = part.getDefiningOp<rt::AllGatherOp>();
  if (gather && gatherOfPart && gather.getAxes() == gatherOfPart.getAxes() &&
      gather.getDim() == kSequenceDim && gatherOfPart.getDim() == kSequenceDim)
    return isExchanged(gatherOfPart.getInput(), gather.getInput(), axes);
  auto exchange = whole.getDefiningOp<rt::AllToAllOp>();
  return exchange && exchange.getAxes() == axes &&
         exchange.getGathered() == 0 &&
         static_cast<int64_t>(exchange.getScattered()) ==
             rowsTypeOf(whole).getRank() - 1 &&
         exchange.getInput() == part;
}

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

static SmallVector<unsigned> rowOperands(rt::RoutedOp op) {
  switch (op.getKind()) {
  case RoutedKind::TopK:
  case RoutedKind::Dispatch:
    return {};
  case RoutedKind::CollectGradGates:
    return {1};
  case RoutedKind::Collect:
  case RoutedKind::Product:
    return {0};
  case RoutedKind::ProductGradWeight:
    return {0, 1};
  }
  return {};
}

static bool makesRows(rt::RoutedOp op) {
  return op.getKind() == RoutedKind::Dispatch ||
         op.getKind() == RoutedKind::Product;
}

/// Returns whether each element of the result is made of those at its place.
static bool worksPerElement(Operation *op) {
  if (!isa<nn::MapOp, nn::MapGradOp, nn::CastOp, nn::EinsumOp, nn::AddOp>(op))
    return false;
  auto iface = cast<dist::DistributableOpInterface>(op);
  dist::Signature sig = iface.getSignature(0);
  return llvm::all_of(sig.ins,
                      [&](StringRef letters) { return letters == sig.out; });
}

namespace {
/// Finds the values of a group, from one of them on.
struct Collector {
  RowGroup &group;
  SmallVector<Value> found; ///< and not seen yet
  SmallVector<Value> gates;
  DenseSet<Value> known;

  void add(Value value) {
    if (known.insert(value).second)
      found.push_back(value);
  }
  void addRouted(rt::RoutedOp op);
  void addElementwise(Operation *op);
  void visitMaker(Value value);
  void visit(OpOperand &use);
  void chooseGates();
};
} // namespace

void Collector::addRouted(rt::RoutedOp op) {
  gates.push_back(op.getInputs().back());
  for (unsigned operand : rowOperands(op))
    add(op.getInputs()[operand]);
  if (makesRows(op))
    add(op.getResult());
}

void Collector::addElementwise(Operation *op) {
  for (Value value : op->getOperands())
    add(value);
  add(op->getResult(0));
}

void Collector::visitMaker(Value value) {
  Operation *op = value.getDefiningOp();
  auto routed = dyn_cast_or_null<rt::RoutedOp>(op);
  auto exchange = dyn_cast_or_null<rt::AllToAllOp>(op);
  if (routed && makesRows(routed))
    addRouted(routed);
  else if (exchange)
    group.exchangesIn.push_back(exchange);
  else if (op && worksPerElement(op))
    addElementwise(op);
  else
    group.isCompact = false;
}

void Collector::visit(OpOperand &use) {
  Operation *op = use.getOwner();
  auto routed = dyn_cast<rt::RoutedOp>(op);
  auto exchange = dyn_cast<rt::AllToAllOp>(op);
  if (routed && llvm::is_contained(rowOperands(routed), use.getOperandNumber()))
    addRouted(routed);
  else if (exchange && use.getOperandNumber() == 0)
    group.exchangesOut.push_back(exchange);
  else if (worksPerElement(op))
    addElementwise(op);
  else
    group.isCompact = false;
}

/// All gates must be equal, and in sight of everything that the group makes.
void Collector::chooseGates() {
  if (gates.empty()) {
    group.isCompact = false;
    return;
  }
  Block *block = group.values.front().getParentBlock();
  for (Value other : gates) {
    Operation *op = other.getDefiningOp();
    if (!op || op->getBlock() != block ||
        !haveEqualMakers(other, gates.front())) {
      group.isCompact = false;
      return;
    }
    if (!group.gates || op->isBeforeInBlock(group.gates.getDefiningOp()))
      group.gates = other;
  }
  for (Value value : group.values) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != block ||
        op->isBeforeInBlock(group.gates.getDefiningOp()))
      group.isCompact = false;
  }
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

RowGroups::RowGroups(ModuleOp module) {
  module.walk([&](rt::RoutedOp op) {
    for (unsigned operand : rowOperands(op))
      collect(op.getInputs()[operand]);
    if (makesRows(op))
      collect(op.getResult());
  });
  spread();
}

void RowGroups::collect(Value first) {
  if (numbers.contains(first))
    return;
  RowGroup &group = groups.emplace_back();
  Collector collector{group, {}, {}, {}};
  collector.add(first);
  while (!collector.found.empty()) {
    Value value = collector.found.pop_back_val();
    group.values.push_back(value);
    numbers[value] = groups.size() - 1;
    collector.visitMaker(value);
    for (OpOperand &use : value.getUses())
      collector.visit(use);
    group.isCompact &= rowsTypeOf(value).getRank() == 4;
  }
  collector.chooseGates();
  rt::RoutedOp source = group.gates ? sourceOf(group.gates) : rt::RoutedOp();
  if (!source || !group.isCompact) {
    group.isCompact = false;
    return;
  }
  ArrayRef<int64_t> shape = rowsTypeOf(group.gates).getShape();
  group.rows = llvm::product_of(shape.drop_back()) *
               std::min<int64_t>(source.getK(), shape.back());
}

/// Exchanges join groups, of the tokens of one rank and of all of them.
void RowGroups::spread() {
  auto mayBeCompact = [&](rt::AllToAllOp exchange) {
    auto from = numbers.find(exchange.getInput());
    auto to = numbers.find(exchange.getResult());
    if (from == numbers.end() || to == numbers.end())
      return false;
    const RowGroup &source = groups[from->second], &target = groups[to->second];
    if (!source.isCompact || !target.isCompact)
      return false;
    uint64_t gathered = exchange.getGathered();
    if (gathered > 1 || exchange.getScattered() != 1 - gathered)
      return false;
    return gathered == 1
               ? isExchanged(source.gates, target.gates, exchange.getAxes())
               : isExchanged(target.gates, source.gates, exchange.getAxes());
  };
  bool changed = true;
  while (changed) {
    changed = false;
    for (RowGroup &group : groups) {
      bool may = group.isCompact &&
                 llvm::all_of(group.exchangesIn, mayBeCompact) &&
                 llvm::all_of(group.exchangesOut, mayBeCompact);
      changed |= group.isCompact && !may;
      group.isCompact = may;
    }
  }
}
