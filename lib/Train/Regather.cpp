//===- Regather.cpp - gathers parameters where they are used again --------===//

#include "lib/Distribute/Placement.h"
#include "mlir/IR/IRMapping.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Train/Passes.h"

namespace tessera {
#define GEN_PASS_DEF_REGATHERPASS
#include "tessera/Train/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

bool isGather(Operation *op) {
  auto convert = dyn_cast_or_null<dist::ConvertOp>(op);
  return convert && convert.getKind() == dist::ConversionKind::AllGather &&
         isParameter(convert.getInput());
}

/// Ops between a gather of a parameter at rest and a value that is derived from
/// it alone, by conversions or as its prefix: the gather first. Empty for other
/// values. Where several axes split the parameter, gathers follow each other.
SmallVector<Operation *> pathTo(Value value) {
  SmallVector<Operation *> path;
  size_t upToFirst = 0;
  Operation *op = value.getDefiningOp();
  for (; isa_and_nonnull<dist::ConvertOp, nn::PrefixOp>(op);
       op = op->getOperand(0).getDefiningOp()) {
    path.push_back(op);
    if (isGather(op))
      upToFirst = path.size();
  }
  path.truncate(upToFirst);
  std::reverse(path.begin(), path.end());
  return path;
}

/// Operands that lend the op only their shape need no elements.
bool isRead(OpOperand &operand) {
  auto iface = dyn_cast<dist::DistributableOpInterface>(operand.getOwner());
  return !iface || !llvm::is_contained(iface.getSignature(0).shapeOnly,
                                       operand.getOperandNumber());
}

/// The gather that replaces another at the place that the pass has come to.
struct Copy {
  IRMapping values;
  int64_t lastUse = -1; ///< Gathers made until then.
};

struct RegatherPass : tessera::impl::RegatherPassBase<RegatherPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> found =
        nn::findProgram(getOperation(), "gradients");
    if (failed(found))
      return signalPassFailure();
    SmallVector<Operation *> ops, replaced;
    for (Operation &op : found->getBody().front())
      ops.push_back(&op);
    for (Operation *op : ops) {
      if (isa<dist::ConvertOp, nn::PrefixOp>(op) &&
          !pathTo(op->getResult(0)).empty()) {
        replaced.push_back(op);
        continue;
      }
      SmallVector<Operation *> read;
      for (OpOperand &operand : op->getOpOperands())
        if (Operation *gather = replace(operand); gather && isRead(operand))
          read.push_back(gather);
      for (Operation *gather : read)
        copies[gather].lastUse = gathers;
    }
    for (Operation *op : llvm::reverse(replaced))
      if (op->use_empty()) // an op within another may still read it
        op->erase();
  }

  Operation *replace(OpOperand &operand);

  /// Keyed by the gather that they replace.
  DenseMap<Operation *, Copy> copies;
  int64_t gathers = 0;
};

/// Returns the gather that the operand came from; null for other values.
Operation *RegatherPass::replace(OpOperand &operand) {
  SmallVector<Operation *> path = pathTo(operand.get());
  if (path.empty())
    return nullptr;
  Operation *user = operand.getOwner();
  Copy &copy = copies[path.front()];
  bool isNew = copy.values.getValueMap().empty();
  if (isNew || (isRead(operand) && copy.lastUse != gathers)) {
    copy.values.clear();
    ++gathers;
    copy.lastUse = gathers;
  }
  OpBuilder builder(user);
  for (Operation *op : path) {
    if (copy.values.contains(op->getResult(0)))
      continue;
    Operation *clone = builder.clone(*op, copy.values);
    nn::inheritPhase(clone, user);
    if (Attribute chunk = user->getAttr(dist::DistDialect::kChunkAttr))
      clone->setAttr(dist::DistDialect::kChunkAttr, chunk);
  }
  operand.set(copy.values.lookup(operand.get()));
  return path.front();
}

} // namespace
