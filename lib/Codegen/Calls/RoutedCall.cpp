//===- RoutedCall.cpp - work on routed rows as a call of the runtime ------===//

#include "lib/Codegen/Calls/EntryCalls.h"
#include "lib/Dialect/RT/ShapeChecks.h"
#include "tessera/abi.h"

using namespace mlir;
using namespace tessera;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static int64_t tokensOf(Value gates) {
  return llvm::product_of(shapeOf(gates).drop_back());
}

/// The number of compact rows; 0 where rows are [experts, .., columns].
static int64_t compactRows(rt::RoutedOp op) {
  Value rows = op.getInputs().front();
  if (op.getKind() == rt::RoutedKind::TopK)
    return 0;
  if (op.getKind() == rt::RoutedKind::Dispatch)
    rows = op.getResult();
  if (op.getKind() == rt::RoutedKind::CollectGradGates)
    rows = op.getInputs()[1];
  return rt::areCompact(rows, op.getInputs().back()) ? shapeOf(rows).front()
                                                     : 0;
}

/// Sizes are those of the tensors: gates or logits [.., experts], rows with
/// their columns last, of products also the other matrix's.
static FailureOr<RuntimeCall> routedCall(rt::RoutedOp op) {
  Value first = op.getInputs().front(), gates = op.getInputs().back();
  FailureOr<int64_t> in = dtypeOf(op, first), out = dtypeOf(op, op.getResult());
  if (failed(in) || failed(out))
    return failure();
  int64_t experts = shapeOf(gates).back();
  RuntimeCall call(TSR_ENTRY_ROUTED);
  OpOperand *tied = op.getTiedOperand(0);
  for (OpOperand &input : op->getOpOperands())
    if (&input != tied)
      call.buffers.push_back(input.get());
  call.buffers.push_back(op.getResult());
  call.arguments[TSR_ROUTED_KIND] = static_cast<int64_t>(op.getKind());
  call.arguments[TSR_ROUTED_TOKENS] = tokensOf(gates);
  call.arguments[TSR_ROUTED_EXPERTS] = experts;
  bool isProduct = op.getKind() == rt::RoutedKind::Product;
  bool isGrad = op.getKind() == rt::RoutedKind::ProductGradWeight;
  Value columns = isProduct ? op.getResult() : first;
  Value inner = isGrad ? op.getInputs()[1] : first;
  call.arguments[TSR_ROUTED_COLUMNS] = shapeOf(columns).back();
  call.arguments[TSR_ROUTED_INNER] = shapeOf(inner).back();
  call.arguments[TSR_ROUTED_K] = op.getK();
  call.arguments[TSR_ROUTED_WEIGHTED] = op.getWeighted();
  call.arguments[TSR_ROUTED_TRANSPOSED] = op.getTransposed();
  call.arguments[TSR_ROUTED_DTYPE_IN] = *in;
  call.arguments[TSR_ROUTED_DTYPE_OUT] = *out;
  call.arguments[TSR_ROUTED_ROWS] = compactRows(op);
  call.arguments[TSR_ROUTED_ROUND] = static_cast<int64_t>(op.getRound());
  call.arguments[TSR_ROUTED_INT8] =
      isProduct && getElementTypeOrSelf(op.getInputs()[1]).isInteger(8);
  return call;
}

static FailureOr<RuntimeCall> expandCall(rt::ExpandRowsOp op) {
  FailureOr<int64_t> dtype = dtypeOf(op, op.getRows());
  if (failed(dtype))
    return failure();
  RuntimeCall call(TSR_ENTRY_ROUTED);
  call.buffers = {op.getRows(), op.getGates(), op.getResult()};
  call.arguments[TSR_ROUTED_KIND] = TSR_ROUTED_EXPAND;
  call.arguments[TSR_ROUTED_TOKENS] = tokensOf(op.getGates());
  call.arguments[TSR_ROUTED_EXPERTS] = shapeOf(op.getGates()).back();
  call.arguments[TSR_ROUTED_COLUMNS] = shapeOf(op.getRows()).back();
  call.arguments[TSR_ROUTED_DTYPE_IN] = *dtype;
  call.arguments[TSR_ROUTED_DTYPE_OUT] = *dtype;
  call.arguments[TSR_ROUTED_ROWS] = shapeOf(op.getRows()).front();
  call.arguments[TSR_ROUTED_ROUND] = static_cast<int64_t>(op.getRound());
  return call;
}

static FailureOr<RuntimeCall> roundsCall(rt::RowRoundsOp op) {
  FailureOr<int64_t> dtype = dtypeOf(op, op.getGates());
  if (failed(dtype))
    return failure();
  RuntimeCall call(TSR_ENTRY_ROUTED);
  call.buffers = {op.getGates(), op.getResult()};
  call.arguments[TSR_ROUTED_KIND] = TSR_ROUTED_ROUNDS;
  call.arguments[TSR_ROUTED_TOKENS] = tokensOf(op.getGates());
  call.arguments[TSR_ROUTED_EXPERTS] = shapeOf(op.getGates()).back();
  call.arguments[TSR_ROUTED_DTYPE_IN] = *dtype;
  call.arguments[TSR_ROUTED_DTYPE_OUT] = *dtype;
  call.arguments[TSR_ROUTED_ROWS] = static_cast<int64_t>(op.getRows());
  call.arguments[TSR_ROUTED_MEMBERS] = static_cast<int64_t>(op.getMembers());
  return call;
}

/// Rows go from compact rows to messages or back: from `first` to the result.
template <typename OpTy>
static FailureOr<RuntimeCall> messagesCall(OpTy op, int64_t kind, Value first,
                                           Value rows, Value messages) {
  FailureOr<int64_t> dtype = dtypeOf(op, rows);
  if (failed(dtype))
    return failure();
  auto members = static_cast<int64_t>(op.getMembers());
  RuntimeCall call(TSR_ENTRY_ROUTED);
  call.buffers = {first, op.getGates(), op.getResult()};
  call.arguments[TSR_ROUTED_KIND] = kind;
  call.arguments[TSR_ROUTED_TOKENS] = tokensOf(op.getGates());
  call.arguments[TSR_ROUTED_EXPERTS] = shapeOf(op.getGates()).back();
  call.arguments[TSR_ROUTED_COLUMNS] = shapeOf(rows).back();
  call.arguments[TSR_ROUTED_K] = static_cast<int64_t>(op.getK());
  call.arguments[TSR_ROUTED_DTYPE_IN] = *dtype;
  call.arguments[TSR_ROUTED_DTYPE_OUT] = *dtype;
  call.arguments[TSR_ROUTED_ROWS] = shapeOf(rows).front();
  call.arguments[TSR_ROUTED_ROUND] = static_cast<int64_t>(op.getRound());
  call.arguments[TSR_ROUTED_MEMBERS] = members;
  call.arguments[TSR_ROUTED_MESSAGE] =
      llvm::product_of(shapeOf(messages).drop_back()) / members;
  call.arguments[TSR_ROUTED_SENT] = static_cast<int64_t>(op.getSent());
  call.arguments[TSR_ROUTED_OWN] = op.getOwn();
  return call;
}

static FailureOr<RuntimeCall> packCall(rt::PackRowsOp op) {
  return messagesCall(op, TSR_ROUTED_PACK, op.getRows(), op.getRows(),
                      op.getResult());
}

static FailureOr<RuntimeCall> unpackCall(rt::UnpackRowsOp op) {
  return messagesCall(op, TSR_ROUTED_UNPACK, op.getMessages(), op.getResult(),
                      op.getMessages());
}

void tessera::attachRoutedCalls(MLIRContext &context) {
  attachCall<rt::RoutedOp, routedCall>(context);
  attachCall<rt::ExpandRowsOp, expandCall>(context);
  attachCall<rt::RowRoundsOp, roundsCall>(context);
  attachCall<rt::PackRowsOp, packCall>(context);
  attachCall<rt::UnpackRowsOp, unpackCall>(context);
}
