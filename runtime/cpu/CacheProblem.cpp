//===- CacheProblem.cpp - The arguments of entries of caches --------------===//

#include "runtime/cpu/CacheProblem.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <algorithm>

using namespace tessera;

static constexpr int64_t kCacheBytes[] = {4, 2, 8}; // f32, bf16, f64

static std::string checkCacheType(const char *entry, int64_t dtype) {
  if (dtype >= TSR_DTYPE_F32 && dtype <= TSR_DTYPE_F64)
    return "";
  return std::string(entry) + ": dtype " + std::to_string(dtype) +
         " is not supported; use f32 (0), bf16 (1) or f64 (2)";
}

static std::string checkDeal(const char *entry, int64_t deal, int64_t places,
                             int64_t start) {
  if (deal >= 1 && places >= 1 && start >= 0 && start % places == 0 &&
      start / places < deal)
    return "";
  return std::string(entry) + ": place " + std::to_string(start) +
         " does not begin the " + std::to_string(places) +
         " places of one of " + std::to_string(deal) + " ranks";
}

int64_t AppendProblem::elementBytes() const { return kCacheBytes[dtype]; }
int64_t CacheProblem::sumBytes() const {
  return dtype == TSR_DTYPE_F64 ? 8 : 4;
}

int32_t tessera::decodeAppend(const int64_t *args, void *const *buffers,
                              AppendProblem *out, std::string *error) {
  const int64_t places = args[TSR_APPEND_PLACES];
  *error = checkCacheType("append", args[TSR_APPEND_DTYPE]);
  if (error->empty())
    *error = checkDeal("append", args[TSR_APPEND_DEAL], places,
                       args[TSR_APPEND_START]);
  if (!error->empty())
    return TSR_INVALID_ARGUMENT;
  *out = {args[TSR_APPEND_LANES],
          args[TSR_APPEND_ROWS],
          args[TSR_APPEND_SLOTS],
          places,
          args[TSR_APPEND_COLUMNS],
          args[TSR_APPEND_ROW],
          args[TSR_APPEND_DTYPE],
          args[TSR_APPEND_DEAL],
          args[TSR_APPEND_START] / places,
          buffers[0],
          buffers[1],
          static_cast<const int32_t *>(buffers[2]),
          static_cast<const int32_t *>(buffers[3])};
  return 0;
}

static CacheProblem decodeCache(void *const *buffers, const int64_t *args) {
  CacheProblem p{};
  static_cast<CachedAttentionArguments &>(p) = cachedAttentionArguments(args);
  p.ordinal = p.start / std::max<int64_t>(p.places, 1);
  p.q = buffers[0];
  p.keys = buffers[1];
  p.values = buffers[2];
  p.slotOf = static_cast<const int32_t *>(buffers[3]);
  p.positionOf = static_cast<const int32_t *>(buffers[4]);
  p.o = buffers[5];
  if (p.buckets > 0)
    p.biasTable = buffers[6];
  return p;
}

static std::string checkBuckets(const CacheProblem &p) {
  if (p.buckets == 0 ||
      (p.buckets >= 2 && p.maxDistance > p.buckets / 2 && p.heads == p.kvHeads))
    return "";
  return "cached_attention: " + std::to_string(p.buckets) +
         " buckets to distance " + std::to_string(p.maxDistance) + " for " +
         std::to_string(p.heads) + " heads and " + std::to_string(p.kvHeads) +
         " key heads; it needs at least 2, a distance above half of them, and "
         "as many heads";
}

int32_t tessera::decodeCachedAttention(const int64_t *args,
                                       void *const *buffers, CacheProblem *out,
                                       std::string *error) {
  *out = decodeCache(buffers, args);
  *error = checkCacheType("cached_attention", out->dtype);
  if (error->empty())
    *error = checkBuckets(*out);
  if (error->empty())
    *error = checkDeal("cached_attention", out->deal, out->places, out->start);
  return error->empty() ? 0 : TSR_INVALID_ARGUMENT;
}

static bool isMergeable(const MeansProblem &p) {
  if (p.dtypeIn == TSR_DTYPE_F32 && p.dtypeOut == TSR_DTYPE_BF16)
    return !p.weighted;
  return p.dtypeIn == p.dtypeOut &&
         (p.dtypeIn == TSR_DTYPE_F32 || p.dtypeIn == TSR_DTYPE_F64);
}

int32_t tessera::decodeMergeMeans(const int64_t *args, void *const *buffers,
                                  MeansProblem *out, std::string *error) {
  *out = {args[TSR_MERGE_MEANS_RANKS],
          args[TSR_MERGE_MEANS_ROWS],
          args[TSR_MERGE_MEANS_COLUMNS],
          args[TSR_MERGE_MEANS_WEIGHTED] != 0,
          args[TSR_MERGE_MEANS_DTYPE_IN],
          args[TSR_MERGE_MEANS_DTYPE_OUT],
          buffers[0],
          buffers[1]};
  if (out->ranks < 1 || out->rows < 0 || out->columns < 1)
    *error = "merge_means: " + std::to_string(out->ranks) + " ranks, " +
             std::to_string(out->rows) + " rows and " +
             std::to_string(out->columns) + " columns; there must be some";
  else if (!isMergeable(*out))
    *error = "merge_means: from dtype " + std::to_string(out->dtypeIn) +
             " to " + std::to_string(out->dtypeOut) +
             " is not supported; use f32 (0) or f64 (2), or means in bf16 (1) "
             "of f32";
  else
    return 0;
  return TSR_INVALID_ARGUMENT;
}
