#include "runtime/generate/StepCandidates.h"

#include <algorithm>

namespace tessera {

SamplingInputs::SamplingInputs(const Generation &sizes)
    : slots(sizes.slots), places(sizes.places),
      penalties(sizes.lanes * sizes.slots, 1), sharpness(penalties) {
  for (size_t k = 0; k < penalties.size(); ++k)
    draws.insert(draws.end(), {0, 0, -1});
}

void SamplingInputs::set(int64_t lane, int64_t slot, const Sampling &sampling,
                         const std::vector<int32_t> &text) {
  const size_t at = lane * slots + slot;
  const bool isDrawn = !sampling.isGreedy() && !sampling.isRestricted();
  const auto seed = static_cast<uint64_t>(sampling.seed);
  sharpness[at] = sampling.temperature > 0 ? 1 / sampling.temperature : 1;
  draws[3 * at] = static_cast<int32_t>(static_cast<uint32_t>(seed));
  draws[3 * at + 1] = static_cast<int32_t>(static_cast<uint32_t>(seed >> 32));
  draws[3 * at + 2] = isDrawn ? static_cast<int32_t>(text.size()) : -1;
  penalties[at] = sampling.repetitionPenalty;
  if (sampling.repetitionPenalty == 1)
    return;
  if (tokens.empty())
    tokens.assign(penalties.size() * places, -1);
  const auto own = tokens.begin() + at * places;
  std::fill(std::copy(text.begin(), text.end(), own), own + places, -1);
}

void SamplingInputs::write(const Rank &rank, const std::string &program) const {
  auto find = [&](const char *name) {
    const TensorInfo *tensor = rank.metadata->find(Role::Input, program + name);
    return tensor && rank.holds(*tensor) ? tensor : nullptr;
  };
  auto numbers = [&](const char *name, const std::vector<double> &values) {
    if (const TensorInfo *tensor = find(name))
      writeShard(rank, *tensor, [&](int64_t first, int64_t count, double *out) {
        std::copy_n(values.data() + first, count, out);
      });
  };
  auto integers = [&](const char *name, const std::vector<int32_t> &values) {
    if (const TensorInfo *tensor = find(name))
      writeTokens(rank, *tensor,
                  [&](int64_t first, int64_t count, int32_t *out) {
                    std::copy_n(values.data() + first, count, out);
                  });
  };
  numbers("_penalties", penalties);
  numbers("_sharpness", sharpness);
  integers("_draws", draws);
  if (!tokens.empty())
    integers("_tokens", tokens);
}

StepCandidates::StepCandidates(const Session &session,
                               const std::string &program) {
  const Generation &sizes = *session.metadata().model.generation;
  slots = sizes.slots;
  count = sizes.candidates;
  auto read = [&](const char *name, std::vector<double> &values) {
    const TensorInfo *tensor =
        session.metadata().find(Role::Output, program + name);
    values.resize(tensor->elements());
    session.read(*tensor, values.data());
  };
  read("_candidates", best);
  read("_drawn", drawn);
  read("_totals", totals);
}

BestLogits StepCandidates::at(int64_t lane, int64_t slot) const {
  const size_t row = lane * slots + slot;
  return {&best[row * count * 2], count,
          static_cast<int32_t>(drawn[3 * row + 1]), drawn[3 * row + 2],
          totals[row]};
}

} // namespace tessera
