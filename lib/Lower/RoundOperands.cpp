//===- RoundOperands.cpp - operands of products in lower precision --------===//

#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/ResultMarks.h"
#include "tessera/Lower/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_ROUNDOPERANDSPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// Right after the value, so that the kernel that makes it can round it too.
/// An argument is rounded before its first use: then it is still in the cache.
/// So is what another stage sends: the task of a message computes nothing, or
/// the stage would wait for it long before it is needed.
void setPlace(OpBuilder &builder, Value value, Operation *user) {
  Operation *made = value.getDefiningOp();
  if (made && !isa<rt::ReceiveOp>(made))
    return builder.setInsertionPointAfter(made);
  builder.setInsertionPoint(
      value.getParentBlock()->findAncestorOpInBlock(*user));
}

/// Returns the type that an op rounds operands to; null if it has none. Only
/// what is declared for the op is verified to be a type of numbers.
TypeAttr computeOf(Operation *op) {
  if (!isa_and_nonnull<nn::NNDialect>(op->getDialect()))
    return nullptr;
  std::optional<Attribute> compute = op->getInherentAttr("compute");
  return compute ? dyn_cast_or_null<TypeAttr>(*compute) : TypeAttr();
}

struct RoundOperandsPass
    : tessera::impl::RoundOperandsPassBase<RoundOperandsPass> {
  void runOnOperation() override {
    bool isUnchanged = true;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      TypeAttr compute = computeOf(op);
      if (!compute)
        return;
      isUnchanged = false;
      auto routed = dyn_cast<nn::RoutedOpInterface>(op);
      auto experts = dyn_cast<nn::ExpertLinearOp>(op);
      for (OpOperand &operand : op->getOpOperands()) {
        bool stays = (routed && operand.get() == routed.getGates()) ||
                     (experts && operand.get() == experts.getScales());
        if (!stays)
          operand.set(rounded(operand.get(), compute.getValue(), op));
      }
      op->removeAttr("compute");
    });
    getOperation().walk([&](nn::CastOp cast) {
      isUnchanged = false;
      roundBeforeGather(cast);
    });
    if (isUnchanged)
      markAllAnalysesPreserved();
  }

  Value rounded(Value value, Type type, Operation *user);
  void roundBeforeGather(nn::CastOp cast);
  Value roundedShard(rt::AllGatherOp gather, nn::CastOp cast);

  DenseMap<std::pair<Value, Type>, Value> known;
};

Value RoundOperandsPass::rounded(Value value, Type type, Operation *user) {
  Type element = getElementTypeOrSelf(value.getType());
  if (element == type || element.isInteger(8))
    return value; // a product widens integers itself
  Value &cast = known[{value, type}];
  if (cast)
    return cast;
  OpBuilder builder(user);
  setPlace(builder, value, user);
  auto op = nn::create<nn::CastOp>(builder, value.getLoc(), value,
                                   TypeAttr::get(type));
  Operation *like = value.getDefiningOp() ? value.getDefiningOp() : user;
  inheritPhase(op, like);
  return cast = op;
}

/// Returns whether a value is an argument that one axis or several gather.
static bool isGatheredArgument(Value value) {
  while (auto gather = value.getDefiningOp<rt::AllGatherOp>())
    value = gather.getInput();
  return isa<BlockArgument>(value);
}

/// cast(all_gather(x)) -> all_gather(cast(x)): the same bits, and half the
/// bytes sent and stored.
void RoundOperandsPass::roundBeforeGather(nn::CastOp cast) {
  auto gather = cast.getInput().getDefiningOp<rt::AllGatherOp>();
  bool isNarrower =
      getElementTypeOrSelf(cast.getType()).getIntOrFloatBitWidth() <
      getElementTypeOrSelf(cast.getInput().getType()).getIntOrFloatBitWidth();
  if (!gather || !gather->hasOneUse() || !isNarrower)
    return;
  Value shard = roundedShard(gather, cast);
  gather.getInputMutable().assign(shard);
  gather.getResult().setType(cast.getType());
  cast.replaceAllUsesWith(gather.getResult());
  cast.erase();
  if (auto inner = shard.getDefiningOp<nn::CastOp>();
      inner && isGatheredArgument(inner.getInput()))
    roundBeforeGather(inner);
}

/// An activation is rounded where it is made, once for all its gathers: what
/// backward gathers again is kept in the narrow type. A parameter is rounded
/// for each, as a rounded copy would live all the time.
Value RoundOperandsPass::roundedShard(rt::AllGatherOp gather, nn::CastOp cast) {
  Value shard = gather.getInput();
  if (!isGatheredArgument(shard))
    return rounded(shard, cast.getTo(), gather);
  OpBuilder builder(gather);
  auto narrow =
      nn::create<nn::CastOp>(builder, cast.getLoc(), shard, cast.getToAttr());
  inheritPhase(narrow, gather);
  return narrow;
}

} // namespace
