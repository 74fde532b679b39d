//===- KeptValues.cpp - what stays in memory from forward to backward -----===//

#include "tessera/Train/KeptValues.h"
#include "lib/Train/MinimumCut.h"
#include "tessera/Dialect/Dist/LocalShape.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NamedLayers.h"
#include "tessera/Options/MeshAxis.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tessera;

namespace {

/// An op is cheap if it computes no more than so many flops for each byte of
/// its results: elementwise ops have up to 1 (a product of bf16), matrix
/// products the size of the contracted dimension.
constexpr int64_t kCheapFlopsPerByte = 2;
/// A cheap op also reads no more than so many bytes for each byte of its
/// results, unlike a sum or maximum of rows.
constexpr int64_t kCheapReadsPerByte = 4;

/// A rank that keeps its shard gathers the whole again (Korthikanti et al.
/// 2022, section 4.2.2): no flops, and the bytes hide beside backward's
/// products.
bool isCheap(dist::Collective collective) {
  return collective == dist::Collective::None ||
         collective == dist::Collective::AllGather;
}

/// Returns whether an op makes a whole sequence of the parts that ranks of `tp`
/// keep.
bool gathersSequence(Operation *op) {
  auto convert = dyn_cast<dist::ConvertOp>(op);
  return convert && convert.getAxis() == kTensorAxis &&
         convert.getKind() == dist::ConversionKind::AllGather;
}

/// Returns whether an op gathers the gates of routed rows. They are small, and
/// what reads one value of gates, forward and backward, is seen to read rows of
/// the same tokens, of which none but the routed ones need a place.
bool gathersGates(Operation *op) {
  if (!gathersSequence(op))
    return false;
  Operation *made = op;
  while (isa_and_nonnull<dist::ConvertOp>(made))
    made = made->getOperand(0).getDefiningOp();
  return isa_and_nonnull<nn::TopKOp>(made);
}

class Selection {
public:
  Selection(func::FuncOp func, Repetition repetition)
      : func(func), mesh(dist::meshOf(func)),
        repetition(std::move(repetition)) {}
  llvm::DenseSet<Value> run();

private:
  void findDataDependent();
  void findNeeded();
  bool mayRepeat(Operation *op);
  Repetition::Kind kindOf(Operation *op) const;
  bool leavesLayer(Operation *op);
  bool isCheap(Operation *op);
  int64_t bytesOf(Value value);
  /// Returns whether the op reads a value that is computed from data.
  bool reads(OpOperand &operand) {
    return dependent.contains(operand.get()) && readsElements(operand);
  }

  func::FuncOp func;
  dist::MeshAttr mesh;
  Repetition repetition;
  llvm::DenseSet<Value> dependent; ///< On data, so different each time.
  llvm::SetVector<Value> values;   ///< Vertices: those that backward needs.
};

void Selection::findDataDependent() {
  for (BlockArgument argument : func.getArguments())
    if (func.getArgAttr(argument.getArgNumber(), nn::NNDialect::kDataAttr))
      dependent.insert(argument);
  for (Operation &op : func.getBody().front())
    if (llvm::any_of(op.getOperands(),
                     [&](Value v) { return dependent.contains(v); }))
      dependent.insert(op.result_begin(), op.result_end());
}

/// Returns the bytes of a value on one rank.
int64_t Selection::bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t elements = 1;
  for (int64_t size : mesh ? dist::localShape(type, mesh)
                           : SmallVector<int64_t>(type.getShape()))
    elements *= size;
  return dist::bytesOf(type.getElementType(), elements);
}

bool Selection::isCheap(Operation *op) {
  if (auto convert = dyn_cast<dist::ConvertOp>(op))
    return ::isCheap(
        dist::findConversion(convert.getFrom(), convert.getTo())->collective);
  int64_t made = 0, read = 0, flops = 0;
  for (Value result : op->getResults())
    made += bytesOf(result);
  for (OpOperand &operand : op->getOpOperands())
    if (reads(operand))
      read += bytesOf(operand.get());
  if (auto cost = dyn_cast<nn::CostOpInterface>(op))
    flops = cost.getFlops() / (mesh ? mesh.getRanks() : 1);
  return flops <= kCheapFlopsPerByte * made &&
         read <= kCheapReadsPerByte * made;
}

bool Selection::leavesLayer(Operation *op) {
  StringRef layer = layerOf(op);
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    return nn::isForward(user) && !user->hasTrait<OpTrait::IsTerminator>() &&
           layerOf(user) != layer;
  });
}

/// A value that another stage sent is kept: to send it again, that stage would
/// have to keep it.
bool isReceived(Operation *op) {
  auto convert = dyn_cast<dist::ConvertOp>(op);
  return convert && convert.getTo().kind == dist::State::A &&
         convert.getFrom().kind == dist::State::A;
}

/// Returns whether the op makes a total, which is summed over all micro-batches
/// before them.
bool isTotal(Operation *op) { return nn::hasTag(op, nn::Tag::BatchTotal); }

Repetition::Kind Selection::kindOf(Operation *op) const {
  auto found = repetition.layers.find(layerOf(op));
  return found == repetition.layers.end() ? repetition.kind : found->second;
}

bool Selection::mayRepeat(Operation *op) {
  if (!op || isReceived(op) || isTotal(op) || leavesLayer(op))
    return false;
  switch (kindOf(op)) {
  case Repetition::Nothing:
    return false;
  case Repetition::Gathers:
    return gathersSequence(op) && !gathersGates(op);
  case Repetition::Cheap:
    return isCheap(op) && !gathersGates(op);
  case Repetition::Any:
    return true;
  }
  llvm_unreachable("every kind is a case");
}

/// Finds the values that backward reads, and those that they could be computed
/// from.
void Selection::findNeeded() {
  for (Operation &op : func.getBody().front())
    for (OpOperand &operand : op.getOpOperands())
      if (Operation *made = operand.get().getDefiningOp();
          !nn::isForward(&op) && reads(operand) &&
          (!made || nn::isForward(made)))
        values.insert(operand.get());
  for (size_t next = 0; next < values.size(); ++next)
    if (Operation *op = values[next].getDefiningOp(); op && mayRepeat(op))
      for (OpOperand &operand : op->getOpOperands())
        if (reads(operand))
          values.insert(operand.get());
}

llvm::DenseSet<Value> Selection::run() {
  findDataDependent();
  findNeeded();
  SmallVector<int64_t> costs;
  llvm::DenseMap<Value, unsigned> vertex;
  for (Value value : values) {
    vertex[value] = costs.size();
    costs.push_back(bytesOf(value));
  }
  MinimumCut cut(costs);
  for (Value value : values) {
    Operation *op = value.getDefiningOp();
    if (mayRepeat(op)) {
      for (OpOperand &operand : op->getOpOperands())
        if (reads(operand))
          cut.addEdge(vertex[operand.get()], vertex[value]);
    } else {
      cut.addSource(vertex[value]);
    }
    if (llvm::any_of(value.getUses(), [](OpOperand &use) {
          return !nn::isForward(use.getOwner()) && readsElements(use);
        }))
      cut.addSink(vertex[value]);
  }
  cut.solve();
  llvm::DenseSet<Value> again;
  for (Value value : values)
    if (cut.isBehind(vertex[value]))
      again.insert(value);
  return again;
}

} // namespace

llvm::DenseSet<Value> tessera::valuesToRecompute(func::FuncOp func,
                                                 Repetition repetition) {
  return Selection(func, std::move(repetition)).run();
}

bool tessera::readsElements(OpOperand &operand) {
  auto op = dyn_cast<dist::DistributableOpInterface>(operand.getOwner());
  if (!op || op->getNumResults() == 0)
    return true;
  return !llvm::is_contained(op.getSignature(0).shapeOnly,
                             operand.getOperandNumber());
}
