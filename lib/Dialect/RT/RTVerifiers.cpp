//===- RTVerifiers.cpp - what ODS cannot say ------------------------------===//

#include "mlir/IR/TypeUtilities.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/RowLayout.h"

using namespace mlir;
using namespace tessera::rt;

/// Queries, keys and values are [batch, sequence, heads, head size]; what
/// queries have may be grouped by key heads.
static LogicalResult verifyHeads(Operation *op, ValueRange tensors) {
  for (Value tensor : tensors) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (type.getRank() != 4 && type.getRank() != 5)
      return op->emitOpError()
             << "has an operand or result of rank " << type.getRank()
             << "; it must be 4: batch, sequence, heads, head size, or 5 with "
                "groups of heads";
  }
  return success();
}

/// The runtime reads and adds biases in the type of the scores.
static LogicalResult verifyBias(Operation *op, Value table, Value lse) {
  if (!table || getElementTypeOrSelf(table.getType()) ==
                    getElementTypeOrSelf(lse.getType()))
    return success();
  return op->emitOpError() << "has biases of type " << table.getType()
                           << "; their elements must be those of lse, "
                           << getElementTypeOrSelf(lse.getType());
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyBias(*this, getBiasTable(), getLse())))
    return failure();
  return verifyHeads(*this, {getQuery(), getKey(), getValue(), getOutput()});
}

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyBias(*this, getBiasTable(), getLse())) ||
      failed(verifyBias(*this, getGradBiasTable(), getLse())))
    return failure();
  return verifyHeads(*this, {getQuery(), getKey(), getValue(), getOutput(),
                             getGradQuery(), getGradKey(), getGradValue()});
}

/// A part lies inside of the whole; rows with gaps only make it longer.
static LogicalResult verifyPart(Operation *op, Value part, int64_t offset,
                                Value whole) {
  auto type = cast<RankedTensorType>(part.getType());
  auto outer = cast<RankedTensorType>(whole.getType());
  if (type.getElementType() != outer.getElementType())
    return op->emitOpError() << "has a part of type " << type << " in " << outer
                             << "; element types must be the same";
  if (!type.hasStaticShape() || !outer.hasStaticShape())
    return success(); // refused by the memory plan
  int64_t elements = type.getNumElements();
  if (offset >= 0 && offset + elements <= outer.getNumElements())
    return success();
  return op->emitOpError() << "has a part of " << elements
                           << " elements at offset " << offset
                           << ", which is not inside of the "
                           << outer.getNumElements() << " elements of "
                           << outer;
}

LogicalResult WaitOp::verify() {
  auto start = getPending().getDefiningOp<AsyncOpInterface>();
  if (!start || !start.getAsync())
    return emitOpError() << "waits for a value that is not pending; only an "
                            "asynchronous call makes such a value";
  if (start->getBlock() != (*this)->getBlock())
    return emitOpError() << "waits in another block than the one in which the "
                            "call is started";
  return success();
}

static RankedTensorType tokenType(MLIRContext *context) {
  return RankedTensorType::get({1}, IntegerType::get(context, 8));
}

bool tessera::rt::isToken(Type type) {
  return type == tokenType(type.getContext());
}

void SendOp::build(OpBuilder &builder, OperationState &state, Value input,
                   IntegerAttr peer, StringAttr axis, bool async) {
  build(builder, state, async ? tokenType(builder.getContext()) : Type(), input,
        peer, axis, async ? builder.getUnitAttr() : UnitAttr());
}

LogicalResult SendOp::verify() {
  if (getAsync() == bool(getToken()))
    return success();
  return emitOpError() << (getAsync() ? "is asynchronous, but makes no token "
                                        "to wait for; give it a tensor<1xi8>"
                                      : "makes a token, but is not "
                                        "asynchronous");
}

LogicalResult tessera::rt::verifyAsync(Operation *op) {
  if (!cast<AsyncOpInterface>(op).getAsync())
    return success();
  for (Value result : op->getResults()) {
    for (Operation *user : result.getUsers())
      if (!isa<WaitOp>(user))
        return op->emitOpError() << "is pending, but '" << user->getName()
                                 << "' reads its result; only rt.wait may";
    if (!result.hasOneUse())
      return op->emitOpError()
             << "is started, but "
             << (result.use_empty() ? "never" : "more than once")
             << " waited for; give it one rt.wait";
  }
  return success();
}

LogicalResult ViewOp::verify() {
  return verifyPart(*this, getResult(), getOffset(), getSource());
}

LogicalResult JoinOp::verify() {
  size_t offsets = getPartOffsets().size();
  if (offsets != getParts().size())
    return emitOpError() << "has " << getParts().size() << " parts and "
                         << offsets << " offsets; give every part one";
  for (auto [part, offset] : llvm::zip(getParts(), getPartOffsets()))
    if (failed(verifyPart(*this, part, offset, getResult())))
      return failure();
  return success();
}

/// Two types that differ in the size of dimension `dim` only.
static LogicalResult verifyAlong(Operation *op, RankedTensorType from,
                                 RankedTensorType to, uint64_t dim) {
  if (dim >= static_cast<uint64_t>(from.getRank()))
    return op->emitOpError() << "works along dimension " << dim << " of "
                             << from << ", which has rank " << from.getRank();
  SmallVector<int64_t> shape(from.getShape());
  if (to.getRank() == from.getRank())
    shape[dim] = to.getDimSize(dim);
  if (from.clone(shape) == to)
    return success();
  return op->emitOpError() << "makes " << to << " of " << from
                           << "; only dimension " << dim << " may differ";
}

/// The whole has a chunk per rank.
static LogicalResult verifyChunks(Operation *op, RankedTensorType whole,
                                  RankedTensorType chunk, uint64_t dim) {
  if (failed(verifyAlong(op, chunk, whole, dim)))
    return failure();
  int64_t size = whole.getDimSize(dim), part = chunk.getDimSize(dim);
  if (part > 0 && size % part == 0)
    return success();
  return op->emitOpError() << "has chunks of " << part << " in dimension "
                           << dim << " of size " << size
                           << "; it must be a multiple";
}

LogicalResult AllGatherOp::verify() {
  return verifyChunks(*this, cast<RankedTensorType>(getType()),
                      cast<RankedTensorType>(getInput().getType()), getDim());
}

LogicalResult ReduceScatterOp::verify() {
  return verifyChunks(*this, cast<RankedTensorType>(getInput().getType()),
                      cast<RankedTensorType>(getType()), getDim());
}

/// Gates are [.., experts]; rows [experts, .., columns].
static LogicalResult verifyGates(Operation *op, Value rows, Value gates) {
  auto type = cast<RankedTensorType>(rows.getType());
  auto routes = cast<RankedTensorType>(gates.getType());
  ArrayRef<int64_t> shape = type.getShape(), by = routes.getShape();
  if (shape.size() == by.size() + 1 && !by.empty() &&
      shape.front() == by.back() &&
      shape.drop_front().drop_back() == by.drop_back())
    return success();
  return op->emitOpError() << "routes rows " << type << " by gates " << routes
                           << "; these must be the rows' [.., experts], those "
                              "[experts, .., columns]";
}

LogicalResult AllToAllOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType());
  auto to = cast<RankedTensorType>(getType());
  int64_t rank = from.getRank(), in = getGathered(), out = getScattered();
  if (in >= rank || out >= rank || in == out)
    return emitOpError() << "works from dimension " << in << " to " << out
                         << " of " << from << "; they must be two of its "
                         << rank;
  SmallVector<int64_t> shape(from.getShape());
  int64_t ranks = to.getRank() == rank ? to.getDimSize(in) / shape[in] : 0;
  shape[in] *= ranks;
  if (ranks > 0 && shape[out] % ranks == 0) {
    shape[out] /= ranks;
    if (from.clone(shape) == to)
      return getGates() ? verifyGates(*this, getResult(), getGates())
                        : success();
  }
  return emitOpError() << "makes " << to << " of " << from
                       << "; what dimension " << in << " gains, dimension "
                       << out << " must lose";
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
    if (failed(verifyGates(op, in[1], in[2])))
      return failure();
    return verifyGates(op, in[0], in[2]);
  case RoutedKind::Collect:
    return verifyGates(op, in[0], in[1]);
  }
  return success();
}

LogicalResult RoutedOp::verify() {
  bool isTopK = getKind() == RoutedKind::TopK;
  bool isMove =
      getKind() == RoutedKind::Dispatch || getKind() == RoutedKind::Collect;
  size_t wanted = isTopK ? 1 : isMove ? 2 : 3;
  if (getInputs().size() != wanted)
    return emitOpError() << "has " << getInputs().size() << " inputs; '"
                         << stringifyRoutedKind(getKind()) << "' has "
                         << wanted;
  if (cast<RankedTensorType>(getInputs().back().getType()).getRank() == 0)
    return emitOpError() << "has gates of rank 0; they are [.., experts]";
  return verifyRouted(*this);
}

LogicalResult SliceOp::verify() {
  return verifyAlong(*this, cast<RankedTensorType>(getInput().getType()),
                     cast<RankedTensorType>(getType()), getDim());
}

LogicalResult PadOp::verify() {
  return verifyAlong(*this, cast<RankedTensorType>(getInput().getType()),
                     cast<RankedTensorType>(getType()), getDim());
}

LogicalResult LoopOp::verify() {
  Block &body = getBody().front();
  TypeRange carried = getInits().getTypes();
  if (body.getNumArguments() == 0 ||
      !body.getArgument(0).getType().isInteger(64))
    return emitOpError() << "has no iteration number (i64) as first argument";
  SmallVector<Type> arguments(llvm::drop_begin(body.getArgumentTypes()));
  auto check = [&](TypeRange types, StringRef what) -> LogicalResult {
    if (types == carried)
      return success();
    return emitOpError() << "carries (" << carried << ") but " << what << " ("
                         << types << ")";
  };
  if (failed(check(arguments, "its body has")) ||
      failed(check(body.getTerminator()->getOperandTypes(), "yields")))
    return failure();
  return check(getResultTypes(), "returns");
}
