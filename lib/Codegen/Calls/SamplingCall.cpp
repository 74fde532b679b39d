//===- SamplingCall.cpp - penalties and candidates as calls ---------------===//

#include "lib/Codegen/Calls/EntryCalls.h"
#include "tessera/abi.h"

using namespace mlir;
using namespace tessera;

static FailureOr<RuntimeCall> penalizeCall(rt::PenalizeOp op) {
  FailureOr<int64_t> dtype = dtypeOf(op, op.getLogits());
  if (failed(dtype))
    return failure();
  ArrayRef<int64_t> logits = typeOf(op.getLogits()).getShape();
  RuntimeCall call(TSR_ENTRY_PENALIZE);
  call.buffers = {op.getResult(), op.getTokens(), op.getPenalties()};
  call.arguments[TSR_PENALIZE_ROWS] = llvm::product_of(logits.drop_back());
  call.arguments[TSR_PENALIZE_COLUMNS] = logits.back();
  call.arguments[TSR_PENALIZE_START] = CallArgument::of(op.getStart());
  call.arguments[TSR_PENALIZE_VALID] = CallArgument::of(op.getValid());
  call.arguments[TSR_PENALIZE_TOKENS] =
      typeOf(op.getTokens()).getShape().back();
  call.arguments[TSR_PENALIZE_DTYPE] = *dtype;
  return call;
}

static FailureOr<RuntimeCall> topCall(rt::TopOp op) {
  FailureOr<int64_t> dtype = dtypeOf(op, op.getLogits());
  if (failed(dtype))
    return failure();
  ArrayRef<int64_t> logits = typeOf(op.getLogits()).getShape();
  ArrayRef<int64_t> lists = typeOf(op.getResult()).getShape();
  RuntimeCall call(TSR_ENTRY_TOP);
  call.buffers = {op.getLogits(), op.getResult()};
  if (op.getDraws())
    call.buffers.append({op.getSharpness(), op.getDraws()});
  call.arguments[TSR_TOP_ROWS] = llvm::product_of(logits.drop_back());
  call.arguments[TSR_TOP_COLUMNS] = logits.back();
  call.arguments[TSR_TOP_START] = CallArgument::of(op.getStart());
  call.arguments[TSR_TOP_VALID] = CallArgument::of(op.getValid());
  call.arguments[TSR_TOP_TOTAL] = static_cast<int64_t>(op.getTotal());
  call.arguments[TSR_TOP_COUNT] = lists[lists.size() - 2];
  call.arguments[TSR_TOP_DRAWN] = op.getDraws() != nullptr;
  call.arguments[TSR_TOP_DTYPE] = *dtype;
  return call;
}

static FailureOr<RuntimeCall> mergeTopCall(rt::MergeTopOp op) {
  FailureOr<int64_t> dtype = dtypeOf(op, op.getParts());
  if (failed(dtype))
    return failure();
  ArrayRef<int64_t> parts = typeOf(op.getParts()).getShape();
  ArrayRef<int64_t> whole = typeOf(op.getResult()).getShape();
  RuntimeCall call(TSR_ENTRY_MERGE_TOP);
  call.buffers = {op.getParts(), op.getResult()};
  call.arguments[TSR_MERGE_TOP_RANKS] = parts.front() / whole.front();
  call.arguments[TSR_MERGE_TOP_ROWS] = llvm::product_of(whole.drop_back(2));
  call.arguments[TSR_MERGE_TOP_COUNT] = whole[whole.size() - 2];
  call.arguments[TSR_MERGE_TOP_NUMBERS] = whole.back();
  call.arguments[TSR_MERGE_TOP_DTYPE] = *dtype;
  return call;
}

void tessera::attachSamplingCalls(MLIRContext &context) {
  attachCall<rt::PenalizeOp, penalizeCall>(context);
  attachCall<rt::TopOp, topCall>(context);
  attachCall<rt::MergeTopOp, mergeTopCall>(context);
}
