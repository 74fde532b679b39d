//===- AttentionProblem.cpp - Decodes and checks attention's arguments ----===//

#include "runtime/cpu/AttentionProblem.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <cmath>
#include <cstring>

using namespace tessera;

static double asDouble(int64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

static std::string checkSizes(const AttentionProblem &p) {
  const auto text = [](int64_t x) { return std::to_string(x); };
  if (p.batch < 0 || p.seqQ < 0)
    return "attention: negative size: batch " + text(p.batch) + ", seq_q " +
           text(p.seqQ);
  if (p.heads < 1 || p.kvHeads < 1 || p.heads % p.kvHeads != 0)
    return "attention: " + text(p.heads) + " heads cannot share " +
           text(p.kvHeads) + " key/value heads";
  if (p.seqK < 1 || p.headDim < 1)
    return "attention: needs at least 1 key and head_dim 1, got " +
           text(p.seqK) + " and " + text(p.headDim);
  if (p.queryStart < 0)
    return "attention: queries start at position " + text(p.queryStart) +
           "; it must be at least 0";
  const int64_t q = p.heads * p.headDim, kv = p.kvHeads * p.headDim;
  if (p.rowQ < q || p.rowO < q)
    return "attention: row strides of q and o are " + text(p.rowQ) + " and " +
           text(p.rowO) + ", at least " + text(q) + " is needed";
  if (p.rowK < kv || p.rowV < kv)
    return "attention: row strides of k and v are " + text(p.rowK) + " and " +
           text(p.rowV) + ", at least " + text(kv) + " is needed";
  const int64_t exact = p.buckets / (p.causal ? 2 : 4);
  if (p.buckets != 0 && (exact < 1 || p.maxDistance <= exact))
    return "attention: " + text(p.buckets) + " buckets to distance " +
           text(p.maxDistance) + " are not enough buckets or too near";
  return "";
}

/// Of a slice of the keys.
static std::string checkSlice(const AttentionProblem &p, const int64_t *args) {
  const int64_t start = args[TSR_ATTENTION_KEY_START];
  const int64_t total = args[TSR_ATTENTION_KEYS_TOTAL];
  const auto text = [](int64_t x) { return std::to_string(x); };
  if (start < 0 || start + p.seqK > total)
    return "attention: keys " + text(start) + " to " + text(start + p.seqK) +
           " are no slice of " + text(total);
  if (p.buckets != 0)
    return "attention: a slice of the keys with biases by distance; give all "
           "keys";
  return "";
}

static Dropout decodeDropout(const int64_t *args, double p) {
  return {p > 0,
          static_cast<uint64_t>(std::ceil(p * 4294967296.0)),
          1 / (1 - p),
          tsr_abi_stream(args[TSR_ATTENTION_SEED], args[TSR_ATTENTION_STEP],
                         args[TSR_ATTENTION_STREAM]),
          args[TSR_ATTENTION_BATCH_START],
          args[TSR_ATTENTION_HEAD_START],
          args[TSR_ATTENTION_HEADS_TOTAL],
          args[TSR_ATTENTION_QUERY_START],
          args[TSR_ATTENTION_QUERIES_TOTAL],
          args[TSR_ATTENTION_KEY_START],
          args[TSR_ATTENTION_KEYS_TOTAL] ? args[TSR_ATTENTION_KEYS_TOTAL]
                                         : args[TSR_ATTENTION_SEQ_K]};
}

int32_t tessera::decodeAttention(const int64_t *args, AttentionProblem *out,
                                 std::string *error) {
  AttentionProblem p{};
  p.batch = args[TSR_ATTENTION_BATCH];
  p.heads = args[TSR_ATTENTION_HEADS];
  p.kvHeads = args[TSR_ATTENTION_KV_HEADS];
  p.seqQ = args[TSR_ATTENTION_SEQ_Q];
  p.seqK = args[TSR_ATTENTION_SEQ_K];
  p.headDim = args[TSR_ATTENTION_HEAD_DIM];
  p.rowQ = args[TSR_ATTENTION_ROW_Q];
  p.rowK = args[TSR_ATTENTION_ROW_K];
  p.rowV = args[TSR_ATTENTION_ROW_V];
  p.rowO = args[TSR_ATTENTION_ROW_O];
  p.rowDQ = args[TSR_ATTENTION_ROW_DQ];
  p.rowDK = args[TSR_ATTENTION_ROW_DK];
  p.rowDV = args[TSR_ATTENTION_ROW_DV];
  p.rowDO = args[TSR_ATTENTION_ROW_DO];
  p.causal = args[TSR_ATTENTION_CAUSAL] != 0;
  p.buckets = args[TSR_ATTENTION_BUCKETS];
  p.maxDistance = args[TSR_ATTENTION_MAX_DISTANCE];
  p.queryStart = args[TSR_ATTENTION_QUERY_START];
  p.scale = asDouble(args[TSR_ATTENTION_SCALE_BITS]);
  p.dtype = args[TSR_ATTENTION_DTYPE];
  const double dropped = asDouble(args[TSR_ATTENTION_DROPOUT_BITS]);

  if (p.dtype < TSR_DTYPE_F32 || p.dtype > TSR_DTYPE_F64) {
    *error = "attention: dtype " + std::to_string(p.dtype) +
             " is not one of f32 (0), bf16 (1), f64 (2)";
    return TSR_UNSUPPORTED;
  }
  if (!(dropped >= 0 && dropped < 1)) {
    *error =
        "attention: dropout " + std::to_string(dropped) + " is not in [0, 1)";
    return TSR_INVALID_ARGUMENT;
  }
  std::string message = checkSizes(p);
  p.slice = args[TSR_ATTENTION_KEYS_TOTAL] != 0;
  if (p.slice && message.empty())
    message = checkSlice(p, args);
  p.queryStart -= args[TSR_ATTENTION_KEY_START];
  p.earlier = args[TSR_ATTENTION_EARLIER] != 0;
  p.earlierKeys = args[TSR_ATTENTION_EARLIER_KEYS] != 0;
  if (!message.empty()) {
    *error = std::move(message);
    return TSR_INVALID_ARGUMENT;
  }
  p.dropout = decodeDropout(args, dropped);
  *out = p;
  return 0;
}
