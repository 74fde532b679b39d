//===- SamplingCall.cpp - Checks calls and makes their parameters ---------===//

#include "runtime/cuda/sampling/SamplingCall.h"
#include "tessera/abi.h"

#include <initializer_list>
#include <utility>

using namespace tessera;
using namespace tessera::cuda;

/// Sizes are ints in the kernels, with room for the last block.
static constexpr int64_t kMostElements = (int64_t(1) << 31) - (1 << 17);

static std::string
checkElements(const char *entry, int64_t dtype,
              std::initializer_list<std::pair<const char *, int64_t>> sizes) {
  if (dtype == TSR_DTYPE_F64)
    return std::string(entry) +
           ": f64 is not supported on device 'cuda'; use f32 or bf16";
  for (auto [what, size] : sizes)
    if (size > kMostElements)
      return std::string(entry) + ": " + std::to_string(size) + " " + what +
             " are too many for device 'cuda'; at most " +
             std::to_string(kMostElements);
  return "";
}

std::string tessera::cuda::checkPenalize(const PenalizeProblem &p) {
  return checkElements("penalize", p.dtype,
                       {{"rows", p.rows},
                        {"columns", p.start + p.columns},
                        {"tokens", p.tokens}});
}

std::string tessera::cuda::checkTop(const TopProblem &p) {
  return checkElements("top", p.dtype,
                       {{"rows", p.rows},
                        {"columns", p.start + p.columns},
                        {"candidates", p.count}});
}

std::string tessera::cuda::checkMergeTop(const MergeTopProblem &p) {
  return checkElements("merge_top", p.dtype,
                       {{"rows", p.rows}, {"candidates", p.ranks * p.count}});
}

PenalizeParams tessera::cuda::makePenalizeParams(const PenalizeProblem &p) {
  return {static_cast<float *>(p.logits),
          p.seen,
          static_cast<const float *>(p.penalties),
          int(p.rows),
          int(p.columns),
          int(p.start),
          int(p.valid),
          int(p.tokens)};
}

TopParams tessera::cuda::makeTopParams(const TopProblem &p) {
  return {static_cast<const float *>(p.logits),
          static_cast<float *>(p.lists),
          static_cast<const float *>(p.sharpness),
          p.draws,
          int(p.rows),
          int(p.columns),
          int(p.start),
          int(p.valid),
          int(p.total),
          int(p.count)};
}

MergeTopParams tessera::cuda::makeMergeTopParams(const MergeTopProblem &p) {
  return {static_cast<const float *>(p.parts),
          static_cast<float *>(p.lists),
          int(p.ranks),
          int(p.rows),
          int(p.count),
          int(p.numbers)};
}
