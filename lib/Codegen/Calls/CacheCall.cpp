//===- CacheCall.cpp - append and cached attention as calls ---------------===//

#include "lib/Codegen/Calls/EntryCalls.h"
#include "tessera/abi.h"

using namespace mlir;
using namespace tessera;

/// Caches and rows of one element type, which is the call's.
static FailureOr<int64_t> cacheTypeOf(Operation *op, ValueRange tensors) {
  Type element = typeOf(tensors.front()).getElementType();
  for (Value tensor : tensors)
    if (typeOf(tensor).getElementType() != element)
      return op->emitError()
             << "has rows of " << tensor.getType() << " beside "
             << tensors.front().getType() << "; they must be of one type";
  return dtypeOf(op, tensors.front());
}

/// Returns where the rank's places begin; 0 if it has all.
static CallArgument startOf(Value start) {
  return start ? CallArgument::of(start) : CallArgument(0);
}

static FailureOr<RuntimeCall> appendCall(rt::AppendOp op) {
  FailureOr<int64_t> dtype = cacheTypeOf(op, {op.getCache(), op.getRows()});
  if (failed(dtype))
    return failure();
  ArrayRef<int64_t> cache = typeOf(op.getCache()).getShape();
  RuntimeCall call(TSR_ENTRY_APPEND);
  call.buffers = {op.getResult(), op.getRows(), op.getSlots(),
                  op.getPositions()};
  call.arguments[TSR_APPEND_LANES] = cache[0];
  call.arguments[TSR_APPEND_ROWS] = typeOf(op.getSlots()).getDimSize(1);
  call.arguments[TSR_APPEND_SLOTS] = cache[1];
  call.arguments[TSR_APPEND_PLACES] = cache[2];
  call.arguments[TSR_APPEND_COLUMNS] = llvm::product_of(cache.drop_front(3));
  call.arguments[TSR_APPEND_ROW] = static_cast<int64_t>(op.getRow());
  call.arguments[TSR_APPEND_DTYPE] = *dtype;
  call.arguments[TSR_APPEND_DEAL] = static_cast<int64_t>(op.getDeal());
  call.arguments[TSR_APPEND_START] = startOf(op.getStart());
  return call;
}

static FailureOr<RuntimeCall> cachedAttentionCall(rt::CachedAttentionOp op) {
  SmallVector<Value> alike = {op.getQuery(), op.getKeys(), op.getValues()};
  if (!op.getWeighted())
    alike.push_back(op.getResult());
  FailureOr<int64_t> dtype = cacheTypeOf(op, alike);
  if (failed(dtype))
    return failure();
  ArrayRef<int64_t> keys = typeOf(op.getKeys()).getShape();
  ArrayRef<int64_t> query = typeOf(op.getQuery()).getShape();
  RuntimeCall call(TSR_ENTRY_CACHED_ATTENTION);
  call.buffers = {op.getQuery(), op.getKeys(),      op.getValues(),
                  op.getSlots(), op.getPositions(), op.getResult()};
  auto &args = call.arguments;
  args[TSR_CACHED_ATTENTION_LANES] = keys[0];
  args[TSR_CACHED_ATTENTION_ROWS] = query[1];
  args[TSR_CACHED_ATTENTION_SLOTS] = keys[1];
  args[TSR_CACHED_ATTENTION_PLACES] = keys[2];
  args[TSR_CACHED_ATTENTION_HEADS] =
      llvm::product_of(query.drop_front(2).drop_back());
  args[TSR_CACHED_ATTENTION_KV_HEADS] = keys[3];
  args[TSR_CACHED_ATTENTION_HEAD_DIM] = keys[4];
  args[TSR_CACHED_ATTENTION_ROW] = static_cast<int64_t>(op.getRow());
  addModelArguments(op.getAttention(), call);
  args[TSR_CACHED_ATTENTION_DTYPE] = *dtype;
  args[TSR_CACHED_ATTENTION_DEAL] = static_cast<int64_t>(op.getDeal());
  args[TSR_CACHED_ATTENTION_START] = startOf(op.getStart());
  args[TSR_CACHED_ATTENTION_WEIGHTED] = op.getWeighted();
  if (Value table = op.getBiasTable()) {
    call.buffers.push_back(table);
    args[TSR_CACHED_ATTENTION_BUCKETS] = typeOf(table).getDimSize(0);
  }
  return call;
}

static FailureOr<RuntimeCall> mergeMeansCall(rt::MergeMeansOp op) {
  FailureOr<int64_t> from = dtypeOf(op, op.getParts());
  FailureOr<int64_t> to = dtypeOf(op, op.getResult());
  if (failed(from) || failed(to))
    return failure();
  ArrayRef<int64_t> whole = typeOf(op.getResult()).getShape();
  RuntimeCall call(TSR_ENTRY_MERGE_MEANS);
  call.buffers = {op.getParts(), op.getResult()};
  call.arguments[TSR_MERGE_MEANS_RANKS] = op.getRanks();
  call.arguments[TSR_MERGE_MEANS_ROWS] = llvm::product_of(whole.drop_back());
  call.arguments[TSR_MERGE_MEANS_COLUMNS] =
      typeOf(op.getParts()).getShape().back() - 1;
  call.arguments[TSR_MERGE_MEANS_WEIGHTED] = op.keepsWeights();
  call.arguments[TSR_MERGE_MEANS_DTYPE_IN] = *from;
  call.arguments[TSR_MERGE_MEANS_DTYPE_OUT] = *to;
  return call;
}

void tessera::attachCacheCalls(MLIRContext &context) {
  attachCall<rt::AppendOp, appendCall>(context);
  attachCall<rt::CachedAttentionOp, cachedAttentionCall>(context);
  attachCall<rt::MergeMeansOp, mergeMeansCall>(context);
}
