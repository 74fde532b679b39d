//===- AttentionCall.cpp - attention as one call of the runtime -----------===//
// Keys are all or, in a ring, those of a slice.
//===----------------------------------------------------------------------===//

#include "lib/Codegen/Calls/EntryCalls.h"
#include "tessera/abi.h"

using namespace mlir;
using namespace tessera;

static int64_t bits(APFloat value) {
  bool losesInfo = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.bitcastToAPInt().getSExtValue();
}

namespace {

using Call = FailureOr<RuntimeCall>;

/// Heads of [batch, sequence, heads.., head size], in groups or not.
int64_t headsOf(RankedTensorType type) {
  int64_t heads = 1;
  for (int64_t size : type.getShape().drop_front(2).drop_back())
    heads *= size;
  return heads;
}

/// A step of a ring; else attention to all keys.
template <typename OpTy>
constexpr bool isStep =
    llvm::is_one_of<OpTy, rt::RingAttentionOp, rt::RingAttentionGradOp>::value;

/// Adds the arguments that only steps of a ring have.
template <typename OpTy>
void sliceArguments(OpTy op, SmallVectorImpl<CallArgument> &args) {
  args[TSR_ATTENTION_KEY_START] = CallArgument::of(op.getKeyStart());
  args[TSR_ATTENTION_KEYS_TOTAL] = op.getKeysTotal();
  args[TSR_ATTENTION_EARLIER] = op.getTiedOperand(0) != nullptr;
  args[TSR_ATTENTION_EARLIER_KEYS] =
      op->getNumResults() > 2 && op.getTiedOperand(2) != nullptr;
}

/// Adds the arguments that only attention to all keys has.
template <typename OpTy>
void biasArguments(OpTy op, SmallVectorImpl<CallArgument> &args) {
  if (Value table = op.getBiasTable())
    args[TSR_ATTENTION_BUCKETS] = typeOf(table).getDimSize(0);
}

/// Adds the arguments that forward and backward of attention share.
template <typename OpTy>
LogicalResult attentionArguments(OpTy op, RuntimeCall &call) {
  RankedTensorType q = typeOf(op.getQuery()), k = typeOf(op.getKey());
  FailureOr<int64_t> dtype = dtypeOf(op, op.getQuery());
  if (failed(dtype))
    return failure();
  auto &args = call.arguments;
  args[TSR_ATTENTION_BATCH] = q.getDimSize(0);
  args[TSR_ATTENTION_HEADS] = headsOf(q);
  args[TSR_ATTENTION_KV_HEADS] = headsOf(k);
  args[TSR_ATTENTION_SEQ_Q] = q.getDimSize(1);
  args[TSR_ATTENTION_SEQ_K] = k.getDimSize(1);
  args[TSR_ATTENTION_HEAD_DIM] = q.getShape().back();
  args[TSR_ATTENTION_ROW_Q] = op.getRowQ();
  args[TSR_ATTENTION_ROW_K] = op.getRowK();
  args[TSR_ATTENTION_ROW_V] = op.getRowV();
  args[TSR_ATTENTION_ROW_O] = headsOf(q) * q.getShape().back();
  addModelArguments(op.getAttention(), call);
  args[TSR_ATTENTION_DTYPE] = *dtype;
  args[TSR_ATTENTION_DROPOUT_BITS] = bits(op.getDropout());
  args[TSR_ATTENTION_STREAM] = op.getStream();
  args[TSR_ATTENTION_BATCH_START] = CallArgument::of(op.getBatchStart());
  args[TSR_ATTENTION_HEAD_START] = CallArgument::of(op.getHeadStart());
  args[TSR_ATTENTION_HEADS_TOTAL] = op.getHeadsTotal();
  if (op.getQueryStart())
    args[TSR_ATTENTION_QUERY_START] = CallArgument::of(op.getQueryStart());
  int64_t total = op.getQueriesTotal();
  args[TSR_ATTENTION_QUERIES_TOTAL] = total ? total : q.getDimSize(1);
  if (!op.getDropout().isZero()) {
    args[TSR_ATTENTION_SEED].source = CallArgument::Seed;
    args[TSR_ATTENTION_STEP].source = CallArgument::Step;
  }
  if constexpr (isStep<OpTy>)
    sliceArguments(op, args);
  else
    biasArguments(op, args);
  return success();
}

/// The last buffers of the call, if there are segments.
template <typename OpTy> void addSegments(OpTy op, RuntimeCall &call) {
  if (!op.getQuerySegments())
    return;
  call.arguments[TSR_ATTENTION_SEGMENTS] = 1;
  call.buffers.append({op.getQuerySegments(), op.getKeySegments()});
}

template <typename OpTy> Call attention(OpTy op) {
  RuntimeCall call(TSR_ENTRY_ATTENTION);
  call.buffers = {op.getQuery(), op.getKey(), op.getValue(), op.getOutput(),
                  op.getLse()};
  if constexpr (!isStep<OpTy>)
    if (Value table = op.getBiasTable())
      call.buffers.push_back(table);
  if (failed(attentionArguments(op, call)))
    return failure();
  addSegments(op, call);
  return call;
}

template <typename OpTy> Call attentionGrad(OpTy op) {
  RuntimeCall call(TSR_ENTRY_ATTENTION_BACKWARD);
  call.buffers = {op.getGrad(),      op.getQuery(),   op.getKey(),
                  op.getValue(),     op.getOutput(),  op.getLse(),
                  op.getGradQuery(), op.getGradKey(), op.getGradValue()};
  if constexpr (!isStep<OpTy>)
    if (Value table = op.getBiasTable())
      call.buffers.append({table, op.getGradBiasTable()});
  if (failed(attentionArguments(op, call)))
    return failure();
  addSegments(op, call);
  auto &args = call.arguments;
  args[TSR_ATTENTION_ROW_DO] = args[TSR_ATTENTION_ROW_O];
  if constexpr (!isStep<OpTy>) {
    args[TSR_ATTENTION_ROW_DQ] = op.getRowDq();
    args[TSR_ATTENTION_ROW_DK] = op.getRowDk();
    args[TSR_ATTENTION_ROW_DV] = op.getRowDv();
  } else {
    RankedTensorType key = typeOf(op.getKey());
    args[TSR_ATTENTION_ROW_DQ] = args[TSR_ATTENTION_ROW_O];
    args[TSR_ATTENTION_ROW_DK] = headsOf(key) * key.getShape().back();
    args[TSR_ATTENTION_ROW_DV] = args[TSR_ATTENTION_ROW_DK];
  }
  return call;
}

} // namespace

void tessera::addModelArguments(nn::AttentionAttr attention,
                                RuntimeCall &call) {
  auto &args = call.arguments;
  const int64_t scale = bits(attention.getScale());
  if (call.entry == TSR_ENTRY_CACHED_ATTENTION) {
    args[TSR_CACHED_ATTENTION_SCALE_BITS] = scale;
    args[TSR_CACHED_ATTENTION_WINDOW] = attention.getWindow();
    args[TSR_CACHED_ATTENTION_MAX_DISTANCE] = attention.getMaxDistance();
    return; // Rows see no later keys: causality is no argument.
  }
  args[TSR_ATTENTION_CAUSAL] = attention.getCausal();
  args[TSR_ATTENTION_SCALE_BITS] = scale;
  args[TSR_ATTENTION_WINDOW] = attention.getWindow();
  args[TSR_ATTENTION_MAX_DISTANCE] = attention.getMaxDistance();
}

void tessera::attachAttentionCalls(MLIRContext &context) {
  attachCall<rt::AttentionOp, attention<rt::AttentionOp>>(context);
  attachCall<rt::AttentionGradOp, attentionGrad<rt::AttentionGradOp>>(context);
  attachCall<rt::RingAttentionOp, attention<rt::RingAttentionOp>>(context);
  attachCall<rt::RingAttentionGradOp, attentionGrad<rt::RingAttentionGradOp>>(
      context);
}
