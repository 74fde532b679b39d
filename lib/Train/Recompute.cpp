//===- Recompute.cpp - computes forward values again in backward ----------===//

#include "mlir/IR/IRMapping.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/NamedLayers.h"
#include "tessera/Options/Counted.h"
#include "tessera/Train/KeptValues.h"
#include "tessera/Train/Passes.h"
#include "llvm/ADT/StringSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_RECOMPUTEPASS
#include "tessera/Train/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

struct RecomputePass : tessera::impl::RecomputePassBase<RecomputePass> {
  using RecomputePassBase::RecomputePassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> func = nn::findProgram(getOperation(), "gradients");
    if (failed(func))
      return signalPassFailure();
    FailureOr<Repetition> repetition = readOptions(*func);
    if (failed(repetition))
      return signalPassFailure();
    if (mode == "none" && ranges.empty())
      return;
    again = valuesToRecompute(*func, std::move(*repetition));
    for (Operation &op : llvm::make_early_inc_range(func->getBody().front()))
      if (nn::phaseOf(&op) == nn::Phase::Backward)
        for (OpOperand &operand : op.getOpOperands())
          if (again.contains(operand.get()) && readsElements(operand))
            operand.set(cloneFor(operand));
  }

  FailureOr<Repetition> readOptions(func::FuncOp func);
  LogicalResult readRange(func::FuncOp func, StringRef range,
                          ArrayRef<StringRef> all, Repetition &repetition);
  Value cloneFor(OpOperand &operand);
  Operation *placeFor(OpOperand &operand, ArrayRef<Operation *> ops);

  llvm::DenseSet<StringRef> given; ///< Layers of `ranges`.
  llvm::DenseSet<Value> again;
  IRMapping clones;
};

std::optional<Repetition::Kind> kindOf(StringRef mode) {
  return llvm::StringSwitch<std::optional<Repetition::Kind>>(mode)
      .Case("none", Repetition::Nothing)
      .Case("gathers", Repetition::Gathers)
      .Case("selective", Repetition::Cheap)
      .Case("full", Repetition::Any)
      .Default(std::nullopt);
}

InFlightDiagnostic refuseMode(func::FuncOp func, StringRef mode) {
  return func.emitError() << "cannot recompute '" << mode
                          << "'; use none, gathers, selective or full";
}

/// Reads a range such as "0-3=full".
LogicalResult RecomputePass::readRange(func::FuncOp func, StringRef range,
                                       ArrayRef<StringRef> all,
                                       Repetition &repetition) {
  auto [numbers, name] = range.split('=');
  std::optional<Repetition::Kind> kind = kindOf(name);
  if (!kind)
    return refuseMode(func, name);
  FailureOr<ArrayRef<StringRef>> named =
      layersNumbered(func, numbers, all, "are to recompute '" + name + "'");
  if (failed(named))
    return failure();
  for (StringRef layer : *named) {
    if (!given.insert(layer).second)
      return func.emitError() << "layer '" << layer
                              << "' is in two ranges; give each layer once";
    repetition.layers[layer] = *kind;
  }
  return success();
}

/// Reads the options of the layers. Ops outside of layers are cheap or kept.
FailureOr<Repetition> RecomputePass::readOptions(func::FuncOp func) {
  std::optional<Repetition::Kind> kind = kindOf(mode.getValue());
  if (!kind)
    return refuseMode(func, mode.getValue());
  Repetition repetition;
  repetition.kind = std::min(*kind, Repetition::Cheap);
  SmallVector<StringRef> all = layersOf(func);
  if (all.empty() && (mode == "full" || !ranges.empty()))
    return func.emitError() << "has no layers to recompute: no location names "
                               "one; use mode=selective";
  if (mode == "full") {
    size_t count = layers < 0 ? all.size() : static_cast<size_t>(layers);
    if (count > all.size())
      return func.emitError()
             << "has " << all.size() << " layers, but the first " << count
             << " are to be recomputed; use at most --recompute-layers "
             << all.size();
    for (StringRef layer : ArrayRef(all).take_front(count))
      repetition.layers[layer] = Repetition::Any;
  }
  for (const std::string &range : ranges)
    if (failed(readRange(func, range, all, repetition)))
      return failure();
  return repetition;
}

/// Returns where the clones of `ops` stand, the last of which makes what the
/// operand's owner reads. A gather is made as soon as its reader's other
/// operands are, so that it runs beside the product for the gradient of the
/// input. Others are made right before the reader.
Operation *RecomputePass::placeFor(OpOperand &operand,
                                   ArrayRef<Operation *> ops) {
  Operation *reader = operand.getOwner(), *last = nullptr;
  auto gather = dyn_cast_or_null<dist::ConvertOp>(ops.back());
  if (!gather || gather.getKind() != dist::ConversionKind::AllGather)
    return reader;
  auto follow = [&](Value value) {
    Operation *made = value ? value.getDefiningOp() : nullptr;
    if (made && !nn::isForward(made) && (!last || last->isBeforeInBlock(made)))
      last = made;
  };
  for (Value other : reader->getOperands())
    follow(other);
  for (Operation *op : ops)
    for (Value source : op->getOperands())
      follow(clones.lookupOrNull(source));
  return last ? last->getNextNode() : reader;
}

/// The clone of a value and of all that it is computed from, each made once, in
/// the order of the forward program.
Value RecomputePass::cloneFor(OpOperand &operand) {
  Value value = operand.get();
  if (Value known = clones.lookupOrNull(value))
    return known;
  SetVector<Operation *> ops;
  ops.insert(value.getDefiningOp());
  for (size_t next = 0; next < ops.size(); ++next)
    for (OpOperand &source : ops[next]->getOpOperands())
      if (again.contains(source.get()) && !clones.contains(source.get()))
        ops.insert(source.get().getDefiningOp());
  SmallVector<Operation *> ordered = ops.takeVector();
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  OpBuilder builder(placeFor(operand, ordered));
  for (Operation *op : ordered) {
    Operation *clone = builder.clone(*op, clones);
    nn::setPhase(clone, nn::Phase::Recompute);
  }
  return clones.lookup(value);
}

} // namespace
