//===- OrderSums.cpp - sums of gradients without their order --------------===//

#include "lib/Distribute/OrderSums.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/NN/Phase.h"

using namespace mlir;
using namespace tessera;

namespace {

/// Only another such sum reads it.
bool isTerm(Operation *op) {
  return op->hasOneUse() && nn::isGradientSum(*op->user_begin()) &&
         (*op->user_begin())->getBlock() == op->getBlock();
}

/// Terms of a sum, and the sums that it is made of, itself last.
void collect(nn::AddOp sum, SmallVector<Value> &terms,
             SmallVector<Operation *> &sums) {
  SmallVector<std::pair<nn::AddOp, unsigned>> path = {{sum, 0}};
  while (!path.empty()) {
    auto &[op, next] = path.back();
    if (next == op->getNumOperands()) {
      sums.push_back(op);
      path.pop_back();
      continue;
    }
    Value term = op->getOperand(next++);
    Operation *made = term.getDefiningOp();
    if (nn::isGradientSum(made) && isTerm(made))
      path.push_back({cast<nn::AddOp>(made), 0});
    else
      terms.push_back(term);
  }
}

/// Arguments of the block first, and what is from outside of it.
bool isMadeBefore(Value a, Value b, Block *block) {
  auto here = [&](Value v) {
    return v.getDefiningOp() && v.getParentBlock() == block;
  };
  if (!here(a) || !here(b))
    return !here(a) && here(b);
  return a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
}

void order(nn::AddOp sum) {
  SmallVector<Value> terms;
  SmallVector<Operation *> sums;
  collect(sum, terms, sums);
  Block *block = sum->getBlock();
  llvm::stable_sort(
      terms, [&](Value a, Value b) { return isMadeBefore(a, b, block); });
  Operation *last = terms.back().getDefiningOp();
  OpBuilder builder(sum);
  if (last && last->getBlock() == block)
    builder.setInsertionPointAfter(last);
  std::string out = dist::Signature::parse(sum.getSpec()).out, spec = out;
  for (size_t k = 1; k < terms.size(); ++k)
    spec += "," + out;
  auto ordered = nn::create<nn::AddOp>(builder, sum.getLoc(),
                                       builder.getStringAttr(spec + "->" + out),
                                       terms, DenseF64ArrayAttr());
  ordered->setDiscardableAttrs(sum->getDiscardableAttrDictionary());
  sum.getOutput().replaceAllUsesWith(ordered.getOutput());
  for (Operation *op : llvm::reverse(sums))
    op->erase();
}

} // namespace

void tessera::orderSums(func::FuncOp func) {
  SmallVector<nn::AddOp> sums;
  func.walk([&](nn::AddOp op) {
    if (nn::isGradientSum(op) && !isTerm(op))
      sums.push_back(op);
  });
  for (nn::AddOp sum : sums)
    order(sum);
}
