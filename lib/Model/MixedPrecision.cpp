//===- MixedPrecision.cpp - matrix products in bf16 -----------------------===//
// The values that become bf16 are the largest set that is closed under two
// rules: all readers may read the value rounded, and its op can make it
// rounded.
//===----------------------------------------------------------------------===//

#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/TokenScores.h"
#include "tessera/Dialect/NN/Trained.h"
#include "tessera/Model/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_MIXEDPRECISIONPASS
#include "tessera/Model/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;
using nn::PrecisionOpInterface;

namespace {

bool isF32(Value value) {
  return getElementTypeOrSelf(value.getType()).isF32();
}

bool isProduct(Operation *op) {
  auto precision = dyn_cast<PrecisionOpInterface>(op);
  return precision && precision.mayRoundOperands(/*resultIsRounded=*/false);
}

/// Puts a cast between the logits and the cross-entropy, which then reads them
/// in f32 whatever type they have. Null if the function has no cross-entropy,
/// or logits that no op makes.
nn::CastOp widenLogits(func::FuncOp func) {
  nn::PickOp pick = findPick(func);
  Operation *head = pick ? pick.getLogits().getDefiningOp() : nullptr;
  if (!head || !isF32(pick.getLogits()))
    return {};
  Value logits = pick.getLogits();
  OpBuilder builder(func.getContext());
  builder.setInsertionPointAfter(head);
  auto widened = nn::create<nn::CastOp>(builder, head->getLoc(), logits,
                                        TypeAttr::get(builder.getF32Type()));
  logits.replaceAllUsesExcept(widened.getResult(), widened);
  return widened;
}

/// The values of a function that are stored in bf16. A cast has the type that
/// it names, whatever it reads.
class RoundedValues {
public:
  explicit RoundedValues(func::FuncOp func);

  bool contains(Value value) const { return values.contains(value); }

private:
  bool resultsAreRounded(Operation *op) const;
  bool mayReadRounded(Operation *reader) const;
  bool canMakeRounded(Operation *op) const;

  DenseSet<Value> values;
};

RoundedValues::RoundedValues(func::FuncOp func) {
  SmallVector<OpResult> candidates;
  func.walk([&](Operation *op) {
    for (OpResult result : op->getResults())
      if (isF32(result) && !result.use_empty())
        candidates.push_back(result);
  });
  values.insert(candidates.begin(), candidates.end());
  for (bool changed = true; changed;) {
    size_t before = candidates.size();
    // Readers come later: in this order a rule that breaks at the end of a
    // chain of ops breaks all of it at once.
    for (OpResult value : llvm::reverse(candidates))
      if (!canMakeRounded(value.getOwner()) ||
          !llvm::all_of(value.getUsers(),
                        [&](Operation *op) { return mayReadRounded(op); }))
        values.erase(value);
    llvm::erase_if(candidates, [&](Value v) { return !values.contains(v); });
    changed = candidates.size() != before;
  }
}

bool RoundedValues::resultsAreRounded(Operation *op) const {
  bool isRead = false;
  for (Value result : op->getResults())
    if (!result.use_empty()) {
      isRead = true;
      if (!values.contains(result))
        return false;
    }
  return isRead;
}

bool RoundedValues::mayReadRounded(Operation *reader) const {
  if (isa<nn::CastOp>(reader))
    return true;
  if (auto precision = dyn_cast<PrecisionOpInterface>(reader))
    return precision.mayRoundOperands(resultsAreRounded(reader));
  return resultsAreRounded(reader);
}

/// An op without a choice has the type of its first operand; its other operands
/// that are no parameters follow.
bool RoundedValues::canMakeRounded(Operation *op) const {
  if (isa<PrecisionOpInterface>(op))
    return true;
  if (isa<nn::CastOp>(op))
    return false;
  bool isFirst = true;
  for (Value operand : op->getOperands()) {
    if (!isF32(operand))
      continue;
    bool isParameter = isa<BlockArgument>(operand);
    if (!values.contains(operand) && (isFirst || !isParameter))
      return false;
    isFirst = false;
  }
  return !isFirst;
}

struct MixedPrecisionPass
    : tessera::impl::MixedPrecisionPassBase<MixedPrecisionPass> {
  using MixedPrecisionPassBase::MixedPrecisionPassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> found = nn::findSerialLoss(getOperation());
    if (failed(found))
      return signalPassFailure();
    func::FuncOp func = *found;
    if (failed(checkParameters(func)))
      return signalPassFailure();
    nn::CastOp widening = trains ? widenLogits(func) : nn::CastOp();
    RoundedValues rounded(func);
    if (widening && !rounded.contains(widening.getInput())) {
      widening.replaceAllUsesWith(widening.getInput());
      widening.erase();
    }
    for (Operation &op : func.getBody().front().without_terminator())
      if (failed(assign(&op, rounded)))
        return signalPassFailure();
    roundConstant(func);
  }

  LogicalResult checkParameters(func::FuncOp func);
  LogicalResult assign(Operation *op, const RoundedValues &rounded);
  bool mayRound(func::FuncOp func, BlockArgument argument);
  void roundConstant(func::FuncOp func);
};

LogicalResult MixedPrecisionPass::checkParameters(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments()) {
    auto name = func.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                  nn::NNDialect::kParamAttr);
    if (name && !isF32(argument))
      return func.emitError()
             << "parameter " << name << " has elements of "
             << getElementTypeOrSelf(argument.getType())
             << ", mixed precision needs f32; import the model in f32";
  }
  return success();
}

LogicalResult MixedPrecisionPass::assign(Operation *op,
                                         const RoundedValues &rounded) {
  auto iface = dyn_cast<dist::DistributableOpInterface>(op);
  if (!iface)
    return op->emitOpError() << "is no op of a serial program";
  Builder builder(op);
  if (auto precision = dyn_cast<PrecisionOpInterface>(op)) {
    bool isRounded = rounded.contains(op->getResult(0));
    if (isProduct(op))
      precision.setOperandRounding(builder.getBF16Type());
    if (isRounded || isProduct(op))
      precision.setResultElementType(isRounded ? Type(builder.getBF16Type())
                                               : Type(builder.getF32Type()));
  }
  return dist::setResultTypes(op);
}

/// Returns whether a parameter may be stored rounded. If no update changes it,
/// it need not be more precise than its readers: products would round it in
/// every step, so that none of their bits changes. A table of an embedding
/// keeps its bits in training's checkpoints, so only one that is never trained
/// is rounded.
bool MixedPrecisionPass::mayRound(func::FuncOp func, BlockArgument argument) {
  const unsigned number = argument.getArgNumber();
  const bool isParameter = !!func.getArgAttr(number, nn::NNDialect::kParamAttr);
  if (trains)
    return nn::isFrozen(func, number) &&
           llvm::all_of(argument.getUsers(), isProduct);
  return isParameter && llvm::all_of(argument.getUsers(), [](Operation *user) {
           return isProduct(user) || isa<nn::EmbeddingOp>(user);
         });
}

/// Rows of a rounded table become f32 again.
void widenRows(nn::EmbeddingOp rows) {
  Value result = rows.getResult();
  auto wide = cast<RankedTensorType>(result.getType());
  result.setType(wide.clone(BFloat16Type::get(rows.getContext())));
  OpBuilder builder(rows.getContext());
  builder.setInsertionPointAfter(rows);
  auto widened = nn::create<nn::CastOp>(builder, rows.getLoc(), result,
                                        TypeAttr::get(wide.getElementType()));
  result.replaceAllUsesExcept(widened.getResult(), widened);
}

void MixedPrecisionPass::roundConstant(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments()) {
    if (!mayRound(func, argument))
      continue;
    argument.setType(cast<RankedTensorType>(argument.getType())
                         .clone(BFloat16Type::get(&getContext())));
    for (Operation *user : llvm::make_early_inc_range(argument.getUsers()))
      if (auto rows = dyn_cast<nn::EmbeddingOp>(user))
        widenRows(rows);
  }
  func.setType(FunctionType::get(&getContext(),
                                 func.getBody().front().getArgumentTypes(),
                                 func.getResultTypes()));
}

} // namespace
