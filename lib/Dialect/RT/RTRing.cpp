//===- RTRing.cpp - attention over keys that come by ----------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

dist::Collective ShiftOp::getCollective() { return dist::Collective::Shift; }
Value ShiftOp::getWhole() { return getResult(); }

dist::Collective ZigzagOp::getCollective() { return dist::Collective::Zigzag; }
Value ZigzagOp::getWhole() {
  return makesWhole() ? Value(getOutputs()[0]) : getInputs()[0];
}

LogicalResult ZigzagOp::verify() {
  size_t from = getInputs().size(), to = getOutputs().size();
  if (from + to != 3 || from == 0 || to == 0)
    return emitOpError() << "has " << from << " operands and " << to
                         << " results; it must be 1 and 2, or 2 and 1";
  if (getAxes().size() != 1)
    return emitOpError() << "runs over " << getAxes().size()
                         << " axes; it must be one";
  auto whole = cast<RankedTensorType>(getWhole().getType());
  auto chunk = cast<RankedTensorType>(getEarly().getType());
  SmallVector<int64_t> wanted(chunk.getShape());
  if (getDim() < wanted.size())
    wanted[getDim()] *= 2;
  if (getDim() < wanted.size() && getLate().getType() == chunk &&
      whole == RankedTensorType::get(wanted, chunk.getElementType()))
    return success();
  return emitOpError() << "has chunks of " << chunk << " and "
                       << getLate().getType() << " in " << whole
                       << "; they must be its halves along dimension "
                       << getDim();
}

OpOperand *RingAttentionOp::getTiedOperand(unsigned result) {
  return getEarlier().empty() ? nullptr : &getEarlierMutable()[result];
}

/// Two sums are those of key and value.
OpOperand *RingAttentionGradOp::getTiedOperand(unsigned result) {
  unsigned first = getEarlier().size() == 2 ? 1 : 0;
  return result >= first && result - first < getEarlier().size()
             ? &getEarlierMutable()[result - first]
             : nullptr;
}

/// The stride of query, key or value, which come after `first` other operands.
template <typename OpTy>
static int64_t strideOf(OpTy op, unsigned operand, unsigned first) {
  const uint64_t rows[] = {op.getRowQ(), op.getRowK(), op.getRowV()};
  bool isStrided = operand >= first && operand < first + 3;
  return isStrided ? rows[operand - first] : 0;
}

int64_t RingAttentionOp::getOperandStride(unsigned operand) {
  return strideOf(*this, operand, 0);
}

int64_t RingAttentionGradOp::getOperandStride(unsigned operand) {
  return strideOf(*this, operand, 1);
}

/// `products` matrix products per pair of query and key. Of a slice, a causal
/// mask hides nothing to everything: half, on the average of ranks and slices.
template <typename OpTy> static int64_t flopsOf(OpTy op, int64_t products) {
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  int64_t keys = cast<RankedTensorType>(op.getKey().getType()).getDimSize(1);
  return products * 2 * query.getNumElements() * keys /
         (op.getCausal() ? 2 : 1);
}

int64_t RingAttentionOp::getFlops() { return flopsOf(*this, 2); }

int64_t RingAttentionGradOp::getFlops() { return flopsOf(*this, 5); }

/// Sums over slices are f32 where operands are bf16.
static LogicalResult verifySums(Operation *op, Value query, Value sum) {
  Type type = getElementTypeOrSelf(query.getType());
  Type wanted = type.isBF16() ? Float32Type::get(op->getContext()) : type;
  if (getElementTypeOrSelf(sum.getType()) == wanted)
    return success();
  return op->emitOpError() << "has queries of " << type << " and a result of "
                           << sum.getType() << "; it must be of " << wanted;
}

/// `earlier` has one of `counts` values, of the types of the results that take
/// their buffers.
static LogicalResult verifyEarlier(RuntimeCallOpInterface op,
                                   ValueRange earlier,
                                   ArrayRef<size_t> counts) {
  if (!llvm::is_contained(counts, earlier.size())) {
    InFlightDiagnostic diag = op->emitOpError()
                              << "has " << earlier.size()
                              << " results of earlier slices; it must be ";
    llvm::interleave(
        counts, diag, [&](size_t n) { diag << n; }, " or ");
    return diag;
  }
  for (OpResult result : op->getResults()) {
    OpOperand *tied = op.getTiedOperand(result.getResultNumber());
    if (tied && tied->get().getType() != result.getType())
      return op->emitOpError()
             << "adds " << result.getType() << " to " << tied->get().getType()
             << " of earlier slices; the types must be the same";
  }
  return success();
}

LogicalResult RingAttentionOp::verify() {
  if (failed(verifySums(*this, getQuery(), getOutput())))
    return failure();
  return verifyEarlier(*this, getEarlier(), {0, 2});
}

LogicalResult RingAttentionGradOp::verify() {
  for (Value sum : getResults())
    if (failed(verifySums(*this, getQuery(), sum)))
      return failure();
  return verifyEarlier(*this, getEarlier(), {0, 1, 2, 3});
}
