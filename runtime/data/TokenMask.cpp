#include "runtime/data/TokenMask.h"

#include "runtime/support/Philox.h"
#include "tessera/abi.h"

#include <algorithm>

namespace tessera {

// Parameters and dropout have the streams from 0 on.
static constexpr int64_t maskStream = -1;
static constexpr int32_t ignored = -100;
static constexpr double predictedShare = 0.15, maskedShare = 0.8,
                        randomShare = 0.1;

/// Returns a random word as a number in [0, 1).
static double fraction(uint32_t word) { return word / 4294967296.0; }

TokenMask::TokenMask(const Model &model, int64_t seed, int64_t step,
                     const int32_t *tokens)
    : model(model), key(tsr_abi_stream(seed, step, maskStream)) {
  for (int64_t row = 0; row < model.batch; ++row)
    chosen.push_back(choose(row, tokens + row * model.columns()));
}

bool TokenMask::mayBePredicted(int32_t token) const {
  const std::vector<int64_t> &special = model.special;
  return !(model.padding && token == *model.padding) &&
         !std::binary_search(special.begin(), special.end(), token);
}

/// Returns the column of a sequence that is predicted in any case; -1: none may
/// be. Words 3i to 3i + 2 belong to position i, those after them to sequences.
int64_t TokenMask::choose(int64_t row, const int32_t *tokens) const {
  auto isLegal = [&](int32_t token) { return mayBePredicted(token); };
  const int32_t *end = tokens + model.sequence;
  int64_t count = std::count_if(tokens, end, isLegal);
  if (count == 0)
    return -1;
  uint64_t positions = 3 * static_cast<uint64_t>(model.batch * model.sequence);
  uint32_t word = philox(positions + static_cast<uint64_t>(row), key);
  int64_t left = static_cast<int64_t>(word) % count;
  const int32_t *at = std::find_if(tokens, end, isLegal);
  for (; left > 0; --left)
    at = std::find_if(at + 1, end, isLegal);
  return at - tokens;
}

bool TokenMask::isPredicted(int64_t index, int32_t token) const {
  if (!mayBePredicted(token))
    return false;
  if (index % model.sequence == chosen[size_t(index / model.sequence)])
    return true;
  return fraction(philox(3 * static_cast<uint64_t>(index), key)) <
         predictedShare;
}

int32_t TokenMask::id(int64_t index, int32_t token) const {
  if (!isPredicted(index, token))
    return token;
  uint64_t word = 3 * static_cast<uint64_t>(index);
  double choice = fraction(philox(word + 1, key));
  if (choice < maskedShare)
    return static_cast<int32_t>(*model.maskToken);
  if (choice >= maskedShare + randomShare)
    return token;
  return static_cast<int32_t>(philox(word + 2, key) % model.vocabulary);
}

int32_t TokenMask::label(int64_t index, int32_t token) const {
  return isPredicted(index, token) ? token : ignored;
}

} // namespace tessera
