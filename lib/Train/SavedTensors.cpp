//===- SavedTensors.cpp - what forward leaves for backward ----------------===//

#include "tessera/Train/SavedTensors.h"
#include "tessera/Dialect/Dist/Chunks.h"
#include "tessera/Dialect/Dist/LocalShape.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NamedLayers.h"
#include "tessera/Dialect/NN/Trained.h"
#include "tessera/Options/MeshAxis.h"
#include "tessera/Program/PartName.h"
#include "tessera/Train/KeptValues.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tessera;

namespace {

int64_t elementsOf(RankedTensorType type, dist::MeshAttr mesh) {
  int64_t elements = 1;
  for (int64_t size : mesh ? dist::localShape(type, mesh)
                           : SmallVector<int64_t>(type.getShape()))
    elements *= size;
  return elements;
}

/// Returns the elements of a parameter on a rank that has gathered it, under
/// ZeRO.
int64_t gatheredElements(RankedTensorType type, dist::MeshAttr mesh) {
  int64_t elements = 1;
  for (auto [dim, whole] : llvm::enumerate(type.getShape())) {
    int64_t size = whole;
    for (StringAttr axis : dist::axesOf(type, dim))
      if (!llvm::is_contained(kZeroAxes, axis))
        size = llvm::divideCeil(size, mesh.getSize(axis));
    elements *= size;
  }
  return elements;
}

class Collector {
public:
  explicit Collector(func::FuncOp step)
      : step(step), mesh(dist::meshOf(step)) {}

  std::vector<SavedTensor> run() {
    findDataDependent();
    findRecomputed();
    step.walk([&](Operation *op) {
      if (!nn::isForward(op))
        addReads(op);
      else if (!recomputed.contains(layerOf(op)))
        addUnstored(op);
    });
    std::vector<SavedTensor> all;
    for (auto &[where, tensor] : read)
      all.push_back(std::move(tensor));
    llvm::append_range(all, unstored);
    return all;
  }

private:
  void findDataDependent();
  void findRecomputed();
  void addReads(Operation *op);
  void addUnstored(Operation *op);
  void addScores(nn::AttentionOp attention);
  Value storageOf(Value value) const;
  SavedTensor of(SavedTensor::Kind kind, Operation *made,
                 Operation *reader) const;
  int64_t elements(Value value) const {
    return elementsOf(cast<RankedTensorType>(value.getType()), mesh);
  }

  func::FuncOp step;
  dist::MeshAttr mesh;
  llvm::DenseSet<Value> dependent;      ///< On data: others are parameters'.
  llvm::DenseSet<StringRef> recomputed; ///< Layers that backward runs again.
  /// Keyed by storage and chunk: two stages hold copies.
  llvm::MapVector<std::pair<Value, int64_t>, SavedTensor> read;
  std::vector<SavedTensor> unstored;
};

} // namespace

void Collector::findDataDependent() {
  for (BlockArgument argument : step.getArguments())
    if (step.getArgAttr(argument.getArgNumber(), nn::NNDialect::kDataAttr))
      dependent.insert(argument);
  step.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto loop = dyn_cast<nn::MicroBatchesOp>(op))
      dependent.insert_range(loop.getBody().getArguments());
    if (llvm::any_of(op->getOperands(),
                     [&](Value v) { return dependent.contains(v); }))
      dependent.insert(op->result_begin(), op->result_end());
  });
}

/// A layer of which more than gathers is done again.
void Collector::findRecomputed() {
  step.walk([&](Operation *op) {
    if (nn::isRecomputed(op) && !isa<dist::ConvertOp>(op))
      recomputed.insert(layerOf(op));
  });
}

/// A conversion that moves nothing gives a value another type.
Value Collector::storageOf(Value value) const {
  while (auto convert = value.getDefiningOp<dist::ConvertOp>()) {
    Value input = convert.getInput();
    bool moves =
        dist::findConversion(convert.getFrom(), convert.getTo())->collective !=
        dist::Collective::None;
    if (moves || elements(input) != elements(value))
      break;
    value = input;
  }
  return value;
}

SavedTensor Collector::of(SavedTensor::Kind kind, Operation *made,
                          Operation *reader) const {
  SavedTensor tensor;
  tensor.kind = kind;
  tensor.op = made->getName().getStringRef().str();
  tensor.part = nn::partOf(reader->getLoc()).str();
  tensor.isOfLoss = nn::partOf(made->getLoc()) == program::kLossPart;
  tensor.chunk = chunkOf(reader).value_or(chunkOf(made).value_or(0));
  return tensor;
}

/// Backward runs in the order of layers reversed, so that the last reader is
/// the one that follows the value in forward.
void Collector::addReads(Operation *op) {
  if (nn::phaseOf(op) != nn::Phase::Backward && !nn::isRecomputed(op))
    return;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!dependent.contains(operand.get()) || !readsElements(operand))
      continue;
    Value value = storageOf(operand.get());
    Operation *made = value.getDefiningOp();
    if (!made || !nn::isForward(made) || isa<nn::MicroBatchesOp>(made))
      continue;
    auto attention = dyn_cast<nn::AttentionOp>(made);
    bool isLogSumExp = attention && value == attention.getLse();
    SavedTensor tensor =
        of(isLogSumExp ? SavedTensor::LogSumExp : SavedTensor::Activation, made,
           op);
    auto type = cast<RankedTensorType>(value.getType());
    tensor.elements = elements(value);
    tensor.bytesOfElement = dist::bytesOf(type.getElementType(), 1);
    read[{value, tensor.chunk}] = std::move(tensor);
  }
}

/// Adds values that Tessera generates again or never stores.
void Collector::addUnstored(Operation *op) {
  if (auto attention = dyn_cast<nn::AttentionOp>(op))
    addScores(attention);
  auto dropout = dyn_cast<nn::DropoutOp>(op);
  if (!dropout || !dependent.contains(dropout.getInput()))
    return;
  SavedTensor mask = of(SavedTensor::Mask, op, op);
  mask.elements = elements(dropout.getOutput());
  unstored.push_back(std::move(mask));
}

void Collector::addScores(nn::AttentionOp attention) {
  auto keys = cast<RankedTensorType>(attention.getKey().getType());
  SavedTensor scores = of(SavedTensor::Softmax, attention, attention);
  scores.elements = elements(attention.getLse()) * keys.getDimSize(1);
  unstored.push_back(scores);
  if (attention.getDropout().isZero())
    return;
  for (SavedTensor::Kind kind :
       {SavedTensor::SoftmaxMask, SavedTensor::DroppedSoftmax}) {
    scores.kind = kind;
    unstored.push_back(scores);
  }
}

const char *tessera::nameOf(SavedTensor::Kind kind) {
  switch (kind) {
  case SavedTensor::Activation:
    return "activation";
  case SavedTensor::Mask:
    return "dropout mask";
  case SavedTensor::LogSumExp:
    return "log-sum-exp";
  case SavedTensor::Softmax:
    return "softmax";
  case SavedTensor::SoftmaxMask:
    return "softmax mask";
  case SavedTensor::DroppedSoftmax:
    return "dropped softmax";
  }
  llvm_unreachable("every kind is a case");
}

std::vector<SavedTensor> tessera::savedTensors(func::FuncOp step) {
  return Collector(step).run();
}

/// Stages to which a parameter is at rest or sent. A stage that another one
/// sends a tied parameter to has a copy.
static std::set<int64_t> stagesOf(BlockArgument parameter) {
  std::set<int64_t> stages;
  SmallVector<Value> values{parameter};
  for (size_t next = 0; next < values.size(); ++next) {
    dist::State state = dist::stateOf(values[next].getType(), kPipelineAxis);
    if (state.kind == dist::State::A)
      stages.insert(state.where);
    for (Operation *user : values[next].getUsers())
      if (auto convert = dyn_cast<dist::ConvertOp>(user);
          convert && nn::isForward(user))
        values.push_back(convert.getOutput());
  }
  return stages;
}

std::vector<HeldParameter> tessera::heldParameters(func::FuncOp step) {
  dist::MeshAttr mesh = dist::meshOf(step);
  std::vector<HeldParameter> parameters;
  for (BlockArgument argument : step.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto name =
        step.getArgAttrOfType<StringAttr>(number, nn::NNDialect::kParamAttr);
    if (!name)
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    HeldParameter held{name.str(), stagesOf(argument), elementsOf(type, mesh),
                       0, nn::isTrained(step, number)};
    held.whole = gatheredElements(type, mesh);
    parameters.push_back(std::move(held));
  }
  return parameters;
}
