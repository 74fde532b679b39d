//===- RTExperts.cpp - routed rows ----------------------------------------===//

#include "lib/Dialect/RT/DescribeCall.h"
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

/// The shape is that of the product of one expert, where each gets the same
/// number of rows.
void RoutedOp::describe(program::Call &call) {
  describeCall(*this, call);
  call.role = program::CallRole::Routing;
  if (call.flops == 0)
    return;
  bool isProduct = getKind() == RoutedKind::Product;
  ArrayRef<int64_t> gates = tensorTypeOf(getInputs().back()).getShape();
  Value other = isProduct ? getResult() : getInputs()[1];
  int64_t in = tensorTypeOf(getInputs()[0]).getShape().back();
  int64_t out = tensorTypeOf(other).getShape().back();
  int64_t tokens = llvm::product_of(gates.drop_back());
  int64_t rows = std::max<int64_t>(tokens * getK() / getTotal(), 1);
  call.kind = program::CallKind::Product;
  call.bytes = 0;
  call.experts = gates.back();
  if (isProduct)
    call.shape = {rows, out, in};
  else
    call.shape = {in, out, rows};
}

/// A sum over rounds is made in place, from the second on.
static bool addsToOthers(RoutedOp op) {
  return op.getKind() == RoutedKind::ProductGradWeight && op.getRound() > 1;
}

/// A product of integers has their scales, too.
static bool hasScales(RoutedOp op) {
  return op.getKind() == RoutedKind::Product && op.getInputs().size() > 1 &&
         tensorTypeOf(op.getInputs()[1]).getElementType().isInteger(8);
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

static LogicalResult verifyScales(RoutedOp op) {
  if (!hasScales(op))
    return success();
  RankedTensorType scales = tensorTypeOf(op.getInputs()[2]);
  int64_t experts = tensorTypeOf(op.getInputs().back()).getShape().back();
  int64_t columns = tensorTypeOf(op.getResult()).getShape().back();
  if (scales.getShape() == ArrayRef<int64_t>{experts, columns})
    return success();
  return op.emitOpError() << "scales the columns of " << experts
                          << " experts by " << scales << "; they are ["
                          << experts << ", " << columns << "]";
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
    if (failed(verifyGates(op, op.getResult(), in.back())) ||
        failed(verifyScales(op)))
      return failure();
    return verifyGates(op, in[0], in.back());
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
  bool hasMore = addsToOthers(*this) || hasScales(*this);
  size_t wanted = isTopK ? 1 : isMove ? 2 : hasMore ? 4 : 3;
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

int64_t ExchangeRowsOp::getRanks() {
  int64_t source = tensorTypeOf(getSourceGates()).getShape().back();
  int64_t target = tensorTypeOf(getTargetGates()).getShape().back();
  return std::max(source, target) / std::min(source, target);
}

/// An even share goes in the first round.
void ExchangeRowsOp::describe(program::Call &call) {
  describeCall(*this, call);
  if (getRound() > 1)
    call.elements = call.bytes = 0;
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

OpOperand *UnpackRowsOp::getTiedOperand(unsigned) {
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

/// Returns the operands or results that are whole. There are as many rows of a
/// rank's own tokens on average as room for them; the first round takes them
/// all there.
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

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Emits an error unless `size` of what is cut into parts is a multiple.
static LogicalResult verifyParts(Operation *op, int64_t size, StringRef what,
                                 uint64_t members) {
  if (size % static_cast<int64_t>(members) == 0)
    return success();
  return op->emitOpError() << "cuts " << size << " " << what << " into "
                           << members << " parts; it must be a multiple";
}

LogicalResult RowRoundsOp::verify() {
  ArrayRef<int64_t> shape = tensorTypeOf(getGates()).getShape();
  if (shape.size() > 1)
    return verifyParts(*this, shape.front(), "rows of gates", getMembers());
  return emitOpError() << "numbers rows by gates " << tensorTypeOf(getGates())
                       << "; they must be [.., experts]";
}

/// Messages are [members, rows, columns] before they are sent, and [1, rows of
/// all, columns] where they arrive.
template <typename OpTy>
static LogicalResult verifyMessages(OpTy op, Value rows, Value messages,
                                    bool arrived) {
  RankedTensorType from = tensorTypeOf(rows), to = tensorTypeOf(messages);
  auto members = static_cast<int64_t>(op.getMembers());
  bool fits = areCompact(rows, op.getGates()) && to.getRank() == 3 &&
              to.getDimSize(0) == (arrived ? 1 : members) &&
              to.getDimSize(1) % (arrived ? members : 1) == 0 &&
              to.getDimSize(2) == from.getDimSize(1) &&
              to.getElementType() == from.getElementType();
  if (!fits)
    return op.emitOpError()
           << "has messages " << to << " of rows " << from << "; they must be "
           << (arrived ? "[1, rows of " : "[") << members
           << (arrived ? " messages" : ", rows") << ", columns] of the same "
           << "columns";
  if (op.getOwn() ? op.getRound() > 0 : op.getSent() > 0)
    return op.emitOpError()
           << "is of round " << op.getRound() << " with " << op.getSent()
           << " rows sent before; own rows have the latter "
              "alone, others the former";
  ArrayRef<int64_t> gates = tensorTypeOf(op.getGates()).getShape();
  return op.getOwn() ? verifyParts(op, gates.back(), "experts", members)
                     : verifyParts(op, gates.front(), "rows of gates", members);
}

LogicalResult PackRowsOp::verify() {
  return verifyMessages(*this, getRows(), getResult(), /*arrived=*/false);
}

LogicalResult UnpackRowsOp::verify() {
  bool keeps = getSent() > 0;
  if (keeps != bool(getOthers()) ||
      (keeps && getOthers().getType() != getType()))
    return emitOpError() << "where " << getSent() << " rows were sent before "
                         << (keeps ? "needs" : "has no use for") << " those, "
                         << getType();
  return verifyMessages(*this, getResult(), getMessages(), /*arrived=*/true);
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
