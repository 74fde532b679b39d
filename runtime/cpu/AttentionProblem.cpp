//===- AttentionProblem.cpp - Decodes and checks attention's arguments ----===//

#include "runtime/cpu/AttentionProblem.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <cmath>

using namespace tessera;

static std::string checkSizes(const AttentionArguments &p) {
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
  if (p.window < 0 || (p.window > 0 && !p.causal))
    return "attention: a window of " + text(p.window) + " keys" +
           (p.window < 0 ? "; it must be at least 1, or 0 for none"
                         : " without a causal mask");
  const int64_t exact = p.buckets / (p.causal ? 2 : 4);
  if (p.buckets != 0 && (exact < 1 || p.maxDistance <= exact))
    return "attention: " + text(p.buckets) + " buckets to distance " +
           text(p.maxDistance) + " are not enough buckets or too near";
  return "";
}

static std::string checkSlice(const AttentionArguments &p) {
  const auto text = [](int64_t x) { return std::to_string(x); };
  if (p.keyStart < 0 || p.keyStart + p.seqK > p.keysTotal)
    return "attention: keys " + text(p.keyStart) + " to " +
           text(p.keyStart + p.seqK) + " are no slice of " + text(p.keysTotal);
  if (p.segments && p.queryStart + p.seqQ > p.queriesTotal)
    return "attention: queries " + text(p.queryStart) + " to " +
           text(p.queryStart + p.seqQ) + " have no segments in " +
           text(p.queriesTotal);
  if (p.buckets != 0)
    return "attention: a slice of the keys with biases by distance; give all "
           "keys";
  return "";
}

AttentionProblem tessera::attentionProblem(const AttentionArguments &given) {
  AttentionProblem p{};
  static_cast<AttentionArguments &>(p) = given;
  p.window = given.activeWindow();
  p.dropoutRule = {
      p.dropout > 0, static_cast<uint64_t>(std::ceil(p.dropout * 4294967296.0)),
      1 / (1 - p.dropout), tsr_abi_stream(p.seed, p.step, p.stream)};
  return p;
}

int32_t tessera::decodeAttention(const int64_t *args, AttentionProblem *out,
                                 std::string *error) {
  const AttentionArguments given = attentionArguments(args);
  if (given.dtype < TSR_DTYPE_F32 || given.dtype > TSR_DTYPE_F64) {
    *error = "attention: dtype " + std::to_string(given.dtype) +
             " is not one of f32 (0), bf16 (1), f64 (2)";
    return TSR_UNSUPPORTED;
  }
  if (!(given.dropout >= 0 && given.dropout < 1)) {
    *error = "attention: dropout " + std::to_string(given.dropout) +
             " is not in [0, 1)";
    return TSR_INVALID_ARGUMENT;
  }
  std::string message = checkSizes(given);
  if (given.isSlice() && message.empty())
    message = checkSlice(given);
  if (!message.empty()) {
    *error = std::move(message);
    return TSR_INVALID_ARGUMENT;
  }
  *out = attentionProblem(given);
  return 0;
}
