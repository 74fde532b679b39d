//===- RTRing.cpp - attention over keys that come by ----------------------===//

#include "lib/Dialect/RT/AttentionShapes.h"
#include "lib/Dialect/RT/DescribeCall.h"
#include "lib/Dialect/RT/Segments.h"
#include "mlir/IR/TypeUtilities.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Dialect/NN/AttentionMask.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

void RingAttentionOp::describe(program::Call &call) {
  describeAttention(*this, getQuery(), getKey(), call);
}

void RingAttentionGradOp::describe(program::Call &call) {
  describeAttention(*this, getQuery(), getKey(), call);
  call.kind = program::CallKind::AttentionGradient;
}

dist::Collective ShiftOp::getCollective() { return dist::Collective::Shift; }
ValueRange ShiftOp::getWholes() { return getOperation()->getResults(); }

LogicalResult ShiftOp::verify() {
  dist::MeshAttr mesh = dist::meshOf(*this);
  int64_t distance = getDistance();
  if (!mesh || getAxes().size() != 1 || distance == 1)
    return success();
  auto axis = cast<StringAttr>(getAxes()[0]);
  int64_t ranks = mesh.getSize(axis);
  if (distance < ranks)
    return success();
  return emitOpError() << "passes tensors on to rank " << distance
                       << " after the own one, but mesh axis '"
                       << axis.getValue() << "' has " << ranks
                       << "; use a smaller distance";
}

dist::Collective ZigzagOp::getCollective() { return dist::Collective::Zigzag; }
ValueRange ZigzagOp::getWholes() {
  return makesWhole() ? ValueRange(getOutputs()) : ValueRange(getInputs());
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

/// Returns the stride of query, key or value, which come after `first` other
/// operands.
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

/// Returns the visible pairs of a slice, on the average of ranks and steps: a
/// mask hides nothing to everything of one. Each step of a ring with chunks has
/// three pairs of them.
static double visiblePairs(nn::AttentionMask mask, int64_t keys,
                           int64_t positions) {
  int64_t slices = positions / keys;
  bool chunks = mask.cutsChunks(positions);
  int64_t ranks = std::max<int64_t>(1, chunks ? slices / 2 : slices);
  int64_t perRank = chunks ? 3 * ranks : mask.ringSteps(keys, ranks);
  return mask.pairs(positions) / (static_cast<double>(ranks) * perRank);
}

/// Counts the operations of `products` matrix products per pair of query and
/// key. A causal mask alone leaves half of the pairs, on the average.
template <typename OpTy> static int64_t flopsOf(OpTy op, int64_t products) {
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  int64_t keys = cast<RankedTensorType>(op.getKey().getType()).getDimSize(1);
  nn::AttentionMask mask = op.getAttention().getMask();
  if (mask.window == 0 || keys == 0 || query.getDimSize(1) == 0)
    return products * 2 * query.getNumElements() * keys / (mask.causal ? 2 : 1);
  return static_cast<int64_t>(
      products * 2.0 * query.getNumElements() / query.getDimSize(1) *
      visiblePairs(mask, keys, static_cast<int64_t>(op.getKeysTotal())));
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

/// Checks that `earlier` has one of `counts` values, of the types of the
/// results that take their buffers.
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

template <typename OpTy> static LogicalResult verifySegments(OpTy op) {
  auto query = cast<RankedTensorType>(op.getQuery().getType());
  return verifySegments(op,
                        {query.getDimSize(0),
                         static_cast<int64_t>(op.getQueriesTotal()),
                         static_cast<int64_t>(op.getKeysTotal())},
                        op.getQuerySegments(), op.getKeySegments());
}

/// Emits an error unless a slice has at most all positions.
static LogicalResult verifySliceOf(Operation *op, const NamedTensor &slice,
                                   int64_t total) {
  int64_t own = slice.shape()[1];
  if (own <= total)
    return success();
  return op->emitOpError() << "has " << own << " " << slice.name << " of "
                           << total << "; a slice has no more than all";
}

/// Checks query, key and value, which every step of a ring has.
template <typename OpTy>
static LogicalResult verifySlices(OpTy op, const AttentionShapes &shapes) {
  NamedTensor query{"queries", op.getQuery()}, key{"keys", op.getKey()};
  if (failed(verifyAttention(op, shapes)) ||
      failed(nn::verifyBiasTable(op, op.getAttention(), op.getQuery(),
                                 shapes.biasTable)) ||
      failed(verifyStride(op, query, op.getRowQ())) ||
      failed(verifyStride(op, key, op.getRowK())) ||
      failed(verifyStride(op, {"values", op.getValue()}, op.getRowV())) ||
      failed(verifySliceOf(op, query, op.getQueriesTotal())))
    return failure();
  return verifySliceOf(op, key, op.getKeysTotal());
}

LogicalResult RingAttentionOp::verify() {
  AttentionShapes shapes = {getQuery(), getKey(), getValue(), getLse(),
                            Value()};
  shapes.likeQuery = {{"outputs", getOutput()}};
  if (failed(verifySlices(*this, shapes)) || failed(::verifySegments(*this)) ||
      failed(verifySums(*this, getQuery(), getOutput())))
    return failure();
  return verifyEarlier(*this, getEarlier(), {0, 2});
}

LogicalResult RingAttentionGradOp::verify() {
  AttentionShapes shapes = {getQuery(), getKey(), getValue(), getLse(),
                            Value()};
  shapes.likeQuery = {{"gradients of outputs", getGrad()},
                      {"outputs", getOutput()},
                      {"gradients of queries", getGradQuery()}};
  shapes.likeKey = {{"gradients of keys", getGradKey()},
                    {"gradients of values", getGradValue()}};
  if (failed(verifySlices(*this, shapes)))
    return failure();
  for (Value sum : getResults())
    if (failed(verifySums(*this, getQuery(), sum)))
      return failure();
  if (failed(::verifySegments(*this)))
    return failure();
  return verifyEarlier(*this, getEarlier(), {0, 1, 2, 3});
}
