//===- RTExperts.cpp - routed rows ----------------------------------------===//

#include "lib/Dialect/RT/ShapeChecks.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

static RankedTensorType tensorTypeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Counts the products of routed rows alone, where each expert gets the same
/// number of tokens. The first round does them all.
int64_t RoutedOp::getFlops() {
  bool isProduct = getKind() == RoutedKind::Product ||
                   getKind() == RoutedKind::ProductGradWeight;
  if (!isProduct || getRound() > 1)
    return 0;
  Value other = getKind() == RoutedKind::Product ? getResult() : getInputs()[1];
  int64_t perRow = 2 * tensorTypeOf(getInputs()[0]).getShape().back() *
                   tensorTypeOf(other).getShape().back();
  return perRow * tensorTypeOf(getInputs().back()).getNumElements() /
         getTotal() * getK();
}

/// A sum over rounds is made in place, from the second on.
static bool addsToOthers(RoutedOp op) {
  return op.getKind() == RoutedKind::ProductGradWeight && op.getRound() > 1;
}

OpOperand *RoutedOp::getTiedOperand(unsigned) {
  return addsToOthers(*this) ? &getInputsMutable()[2] : nullptr;
}

/// Gates are numbers of rounds where rows of one round are all there is.
static LogicalResult verifyRound(RoutedOp op) {
  if (op.getRound() == 0)
    return success();
  bool isProduct = op.getKind() == RoutedKind::Product ||
                   op.getKind() == RoutedKind::ProductGradWeight;
  if (!isProduct || !areCompact(op.getInputs()[0], op.getInputs().back()))
    return op.emitOpError() << "is of round " << op.getRound()
                            << "; only products of compact rows are";
  if (addsToOthers(op) && op.getInputs()[2].getType() != op.getType())
    return op.emitOpError()
           << "adds " << op.getType() << " to " << op.getInputs()[2].getType();
  return success();
}

static LogicalResult verifyRouted(RoutedOp op) {
  ValueRange in = op.getInputs();
  switch (op.getKind()) {
  case RoutedKind::TopK:
    if (in[0].getType() == op.getType())
      return success();
    return op.emitOpError()
           << "makes gates " << op.getType() << " of logits " << in[0].getType()
           << "; the types must be the same";
  case RoutedKind::Dispatch:
    return verifyGates(op, op.getResult(), in[1]);
  case RoutedKind::CollectGradGates:
    return verifyGates(op, in[1], in[2]);
  case RoutedKind::Product:
    if (failed(verifyGates(op, op.getResult(), in[2])))
      return failure();
    return verifyGates(op, in[0], in[2]);
  case RoutedKind::ProductGradWeight:
    if (failed(verifyGates(op, in[1], in.back())))
      return failure();
    return verifyGates(op, in[0], in.back());
  case RoutedKind::Collect:
    return verifyGates(op, in[0], in[1]);
  }
  return success();
}

LogicalResult RoutedOp::verify() {
  bool isTopK = getKind() == RoutedKind::TopK;
  bool isMove =
      getKind() == RoutedKind::Dispatch || getKind() == RoutedKind::Collect;
  size_t wanted = isTopK ? 1 : isMove ? 2 : addsToOthers(*this) ? 4 : 3;
  if (getInputs().size() != wanted)
    return emitOpError() << "has " << getInputs().size() << " inputs; '"
                         << stringifyRoutedKind(getKind()) << "' has "
                         << wanted;
  if (cast<RankedTensorType>(getInputs().back().getType()).getRank() == 0)
    return emitOpError() << "has gates of rank 0; they are [.., experts]";
  if (failed(verifyRound(*this)))
    return failure();
  return verifyRouted(*this);
}

//===----------------------------------------------------------------------===//
// Compact rows
//===----------------------------------------------------------------------===//

bool ExchangeRowsOp::goesToExperts() {
  return tensorTypeOf(getSourceGates()).getShape().back() >
         tensorTypeOf(getTargetGates()).getShape().back();
}

dist::Collective ExchangeRowsOp::getCollective() {
  return dist::Collective::AllToAll;
}

static OpOperand *tiedTo(MutableOperandRange others) {
  return others.empty() ? nullptr : &others[0];
}

OpOperand *ExchangeRowsOp::getTiedOperand(unsigned) {
  return tiedTo(getOthersMutable());
}

OpOperand *ExpandRowsOp::getTiedOperand(unsigned) {
  return tiedTo(getOthersMutable());
}

/// Emits an error unless the rows of other rounds are there when a later one
/// comes, and only then.
template <typename OpTy>
static LogicalResult verifyOthers(OpTy op, bool leavesOthers) {
  bool wanted = op.getRound() > 1 && leavesOthers;
  if (!op.getOthers() && !wanted)
    return success();
  if (op.getOthers() && wanted && op.getOthers().getType() == op.getType())
    return success();
  return op->emitOpError() << "of round " << op.getRound()
                           << (wanted ? " needs" : " has no use for")
                           << " the rows of other rounds, " << op.getType();
}

/// Of a rank's own tokens there are as many rows on average as room for them;
/// the first round takes them all there.
ValueRange ExchangeRowsOp::getWholes() {
  return goesToExperts() ? ValueRange((*this)->getOperands().take_front())
                         : ValueRange(getOperation()->getResults());
}

LogicalResult ExchangeRowsOp::verify() {
  RankedTensorType from = tensorTypeOf(getInput()),
                   to = tensorTypeOf(getResult());
  if (from.getRank() != 2 || to.getRank() != 2 ||
      from.getElementType() != to.getElementType() ||
      from.getDimSize(1) != to.getDimSize(1))
    return emitOpError() << "makes " << to << " of " << from
                         << "; both must be [rows, columns], of the same "
                            "columns";
  RankedTensorType source = tensorTypeOf(getSourceGates());
  RankedTensorType target = tensorTypeOf(getTargetGates());
  bool forth = goesToExperts();
  RankedTensorType own = forth ? source : target, all = forth ? target : source;
  int64_t experts = own.getRank() > 1 && all.getRank() == own.getRank()
                        ? all.getShape().back()
                        : 0;
  int64_t ranks = experts > 0 ? own.getShape().back() / experts : 0;
  if (ranks > 1 && ranks * experts == own.getShape().back() &&
      own.getElementType() == all.getElementType() &&
      own.getDimSize(0) * ranks == all.getDimSize(0) &&
      own.getShape().drop_front().drop_back() ==
          all.getShape().drop_front().drop_back())
    return verifyOthers(*this, !forth);
  return emitOpError() << "goes from gates " << source << " to " << target
                       << "; one side must have the tokens of as many ranks as "
                          "the other has their experts";
}

LogicalResult ExpandRowsOp::verify() {
  RankedTensorType rows = tensorTypeOf(getRows()),
                   result = tensorTypeOf(getResult());
  if (!areCompact(getRows(), getGates()) ||
      areCompact(getResult(), getGates()) ||
      rows.getElementType() != result.getElementType() ||
      rows.getShape().back() != result.getShape().back())
    return emitOpError() << "makes " << result << " of " << rows
                         << "; it makes [experts, .., columns] of [rows, "
                            "columns]";
  if (failed(verifyOthers(*this, true)))
    return failure();
  return verifyGates(*this, getResult(), getGates());
}
