//===- Sampler.h - the next token of a row ----------------------*- C++ -*-===//
// A function of logits, request and position alone: noise is keyed by (seed,
// position, vocabulary index), so no mesh, slot or other request is in it.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_GENERATE_SAMPLER_H
#define TESSERA_RUNTIME_GENERATE_SAMPLER_H

#include "runtime/generate/Request.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera {

struct Choice {
  int32_t token = -1; ///< -1: logits are not numbers.
  /// The token's log probability, with penalties applied, before anything is
  /// left out, at the request's temperature (at 1 if that is 0).
  double logProbability = 0;
  /// Most probable first, of equal ones the first of the vocabulary.
  std::vector<tsr_alternative> alternatives;
};

/// The logits that are left of a row, penalties applied.
struct BestLogits {
  /// The largest, each with its token, [count, 2], largest first; after the
  /// last one (-inf, size of the vocabulary).
  const double *pairs;
  int64_t count;
  int32_t drawn; ///< A sample of the whole vocabulary, and its logit.
  double drawnLogit;
  /// Sum of exp((logit - largest) / T), over the whole vocabulary.
  double total;
};

class Sampler {
public:
  /// Returns the token that follows `text`. The largest logit, of equal ones
  /// the first; or, with a temperature T, the largest of logit / T plus Gumbel
  /// noise, a sample of the softmax, among those that `sampling` keeps.
  template <class Logit>
  Choice choose(const Logit *logits, int64_t count, const Sampling &sampling,
                const std::vector<int32_t> &text);
  /// Chooses from the candidates that are left of logits. Tokens that
  /// `sampling` would keep but that are not among them are left out: `leftOut`
  /// is at least their probability, 0 where there are none.
  Choice choose(const BestLogits &best, int64_t vocabulary,
                const Sampling &sampling, int64_t position, double *leftOut);

private:
  template <class Logit>
  Choice choosePenalized(const Logit *logits, int64_t count,
                         const Sampling &sampling, int64_t position);
  template <class Logit>
  int32_t sampleAll(const Logit *logits, int64_t count,
                    const Sampling &sampling, int64_t position) const;
  template <class Logit>
  int32_t sampleKept(const Logit *logits, int64_t count,
                     const Sampling &sampling, int64_t position, double total);
  template <class Logit> void sortBest(const Logit *logits, std::size_t best);

  std::vector<int32_t> order;
  std::vector<double> penalized;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GENERATE_SAMPLER_H
