//===- CompactRows.cpp - buffers of the routed rows alone -----------------===//
// Values that hold rows of the same tokens are a group: what reads one of them
// and makes another knows both by the same order of rows. A group is compact or
// stays as it is; exchanges join the groups of the two sides.
//===----------------------------------------------------------------------===//

#include "lib/Lower/RowGroups.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Dialect/RT/ResultMarks.h"
#include "tessera/Lower/Passes.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera {
#define GEN_PASS_DEF_COMPACTROWSPASS
#include "tessera/Lower/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

namespace {

/// Verify compares the rows of all experts and tokens at their places.
void expandKept(Value value, RankedTensorType type, Value gates) {
  Operation *op = value.getDefiningOp();
  DictionaryAttr kept =
      getResultEntry(cast<OpResult>(value), rt::RTDialect::kKeepAttr);
  op->removeAttr(rt::RTDialect::kKeepAttr);
  if (!kept || kept.empty())
    return;
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  auto whole = rt::ExpandRowsOp::create(b, op->getLoc(), type, value, gates,
                                        /*others=*/Value());
  inheritPhase(whole, op);
  setResultEntry(cast<OpResult>(whole.getResult()), rt::RTDialect::kKeepAttr,
                 kept);
}

/// Rewrites "xbsf,xbsf->xbsf" as "xf,xf->xf".
StringAttr withoutTokens(StringAttr spec) {
  dist::Signature sig = dist::Signature::parse(spec.getValue());
  std::string letters = {sig.out.front(), sig.out.back()};
  SmallVector<std::string> operands(sig.ins.size(), letters);
  return StringAttr::get(spec.getContext(),
                         llvm::join(operands, ",") + "->" + letters);
}

/// An exchange between two groups, and the gates of either.
struct Crossing {
  rt::AllToAllOp op;
  Value source, target;

  void replace();
};

struct CompactRowsPass : tessera::impl::CompactRowsPassBase<CompactRowsPass> {
  void runOnOperation() override {
    RowGroups groups(getOperation());
    SmallVector<Crossing> crossings;
    bool changed = false;
    for (RowGroup &group : groups) {
      if (!group.isCompact)
        continue;
      changed = true;
      for (rt::AllToAllOp op : group.exchangesIn)
        crossings.push_back({op, groups.of(op.getInput()).gates, group.gates});
      compact(group);
    }
    for (Crossing &crossing : crossings)
      crossing.replace();
    if (!changed)
      markAllAnalysesPreserved();
  }

  void compact(RowGroup &group);
};

/// Makes all readers and makers of rows find them by the same gates. Gates that
/// backward makes again may differ by rounding where other kernels make them,
/// and one token with another expert would move the rows of all others.
void shareGates(const RowGroup &group) {
  for (Value value : group.values) {
    SmallVector<Operation *> ops(value.getUsers());
    ops.push_back(value.getDefiningOp());
    for (Operation *op : ops)
      if (isa<rt::RoutedOp>(op))
        op->setOperand(op->getNumOperands() - 1, group.gates);
  }
}

void CompactRowsPass::compact(RowGroup &group) {
  shareGates(group);
  for (Value value : group.values) {
    Operation *op = value.getDefiningOp();
    auto type = cast<RankedTensorType>(value.getType());
    value.setType(RankedTensorType::get({group.rows, type.getShape().back()},
                                        type.getElementType()));
    op->removeAttr(rt::RTDialect::kFactorsAttr);
    if (auto einsum = dyn_cast<nn::EinsumOp>(op))
      einsum.setSpecAttr(withoutTokens(einsum.getSpecAttr()));
    if (auto add = dyn_cast<nn::AddOp>(op))
      add.setSpecAttr(withoutTokens(add.getSpecAttr()));
    expandKept(value, type, group.gates);
  }
}

void Crossing::replace() {
  OpBuilder b(op);
  auto exchange = rt::ExchangeRowsOp::create(
      b, op.getLoc(), op.getType(), op.getInput(), source, target,
      /*others=*/Value(), op.getAxes(), op.getAsync());
  inheritMarks(exchange, op);
  if (Attribute reason = op->getAttr("reason"))
    exchange->setAttr("reason", reason);
  op.replaceAllUsesWith(exchange.getResult());
  op.erase();
}

} // namespace
