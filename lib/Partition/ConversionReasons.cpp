//===- ConversionReasons.cpp - why a program communicates -----------------===//

#include "tessera/Partition/ConversionReasons.h"
#include "lib/Partition/StageBuilder.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Options/MeshAxis.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

SmallVector<Operation *> tessera::readersOfGradients(func::FuncOp func) {
  SmallVector<Operation *> readers;
  func.walk([&](Operation *op) {
    if (op->hasAttr(nn::NNDialect::kGradientOfAttr))
      readers.push_back(op);
  });
  return readers;
}

Value tessera::gatesOfReaders(Value value) {
  Value gates;
  for (OpOperand &use : value.getUses()) {
    auto reader = dyn_cast<nn::RoutedOpInterface>(use.getOwner());
    if (!reader || !reader.readsRoutedRows(use.getOperandNumber()) ||
        (gates && gates != reader.getGates()))
      return {};
    gates = reader.getGates();
  }
  return gates;
}

namespace {

bool isMessage(Operation *op, StringRef reason) {
  auto known = op ? op->getAttrOfType<StringAttr>("reason") : StringAttr();
  return known && known.getValue() == reason;
}

/// Returns the conversions on the way from the products that make gradients of
/// parameters to the optimizer, or to another stage.
llvm::DenseSet<Operation *> conversionsOfGradients(func::FuncOp func) {
  SmallVector<Value> todo;
  for (Operation *op : readersOfGradients(func))
    todo.push_back(op->getOperand(0));
  func.walk([&](rt::SendOp send) {
    if (isMessage(send, kGradientMessage))
      todo.push_back(send.getInput());
  });
  llvm::DenseSet<Operation *> conversions;
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (auto convert = dyn_cast_or_null<ConvertOp>(op)) {
      if (conversions.insert(convert).second)
        todo.push_back(convert.getInput());
    } else if (auto loop = dyn_cast_or_null<nn::MicroBatchesOp>(op)) {
      todo.push_back(loop.getBody().front().getTerminator()->getOperand(
          cast<OpResult>(value).getResultNumber()));
    } else if (op && nn::isGradientSum(op)) {
      llvm::append_range(todo, op->getOperands());
    }
  }
  return conversions;
}

/// Describes the tensor that is gathered.
std::string reasonOfGather(Operation *source, bool ofGradient) {
  if (ofGradient)
    return "slices of a gradient";
  bool isParameter = !source || (isa<rt::ReceiveOp>(source) &&
                                 isMessage(source, kParameterMessage));
  return isParameter ? "shards of a parameter" : "slices of an activation";
}

/// Describes the gradient of which each rank of an axis has a part.
std::string reasonOfSum(StringRef axis) {
  return axis == kTensorAxis ? "gradient summed over what shares the parameter"
                             : "gradient summed over tokens";
}

} // namespace

ConversionReasons::ConversionReasons(func::FuncOp func)
    : ofGradients(conversionsOfGradients(func)) {}

std::string ConversionReasons::of(ConvertOp op) const {
  bool ofGradient = ofGradients.contains(op);
  Operation *source = op.getInput().getDefiningOp();
  while (auto convert = dyn_cast_or_null<ConvertOp>(source))
    source = convert.getInput().getDefiningOp();
  if (op.getKind() == ConversionKind::AllReduceMax)
    return "largest logit over the split vocabulary";
  if (op.getFrom().kind == State::L)
    return "means of attention over split places";
  if (op.getFrom().kind == State::C)
    return "best candidates of the split vocabulary";
  if (op.getKind() == ConversionKind::AllToAll &&
      gatesOfReaders(op.getResult()))
    return "tokens of experts, where these share them evenly";
  if (op.getKind() == ConversionKind::AllToAll)
    return "another dimension split";
  if (op.getKind() == ConversionKind::AllGather && !ofGradient &&
      nn::phaseOf(op) == nn::Phase::Optimizer)
    return "slices of an update";
  if (op.getKind() == ConversionKind::AllGather)
    return reasonOfGather(source, ofGradient);
  if (ofGradient)
    return reasonOfSum(op.getAxis());
  if (isa_and_nonnull<nn::EmbeddingOp>(source))
    return "lookup in a split vocabulary";
  if (cast<RankedTensorType>(op.getType()).getRank() == 0)
    return "sum of scalars";
  if (auto einsum = dyn_cast_or_null<nn::EinsumOp>(source))
    if (einsum.getInputs().size() == 1)
      return "sum over a split dimension";
  return "partial sums of a product over a split dimension";
}
