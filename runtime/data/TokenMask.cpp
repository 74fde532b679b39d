#include "runtime/data/TokenMask.h"

#include "runtime/support/Philox.h"
#include "tessera/abi.h"

namespace tessera {

// Of parameters and dropout are streams from 0 on.
static constexpr int64_t maskStream = -1;
static constexpr int32_t ignored = -100;
static constexpr double predictedShare = 0.15, maskedShare = 0.8,
                        randomShare = 0.1;

/// A random word as a number in [0, 1).
static double fraction(uint32_t word) { return word / 4294967296.0; }

TokenMask::TokenMask(const Model &model, int64_t seed, int64_t step,
                     std::vector<int64_t> lengths)
    : model(model), key(tsr_abi_stream(seed, step, maskStream)),
      lengths(std::move(lengths)) {}

/// Words 3i to 3i + 2 belong to position i, those after them to sequences.
/// Padding is not predicted.
bool TokenMask::isPredicted(int64_t index, int32_t token) const {
  if (model.padding && token == *model.padding)
    return false;
  uint64_t positions = 3 * static_cast<uint64_t>(model.batch * model.sequence);
  int64_t row = index / model.sequence, column = index % model.sequence;
  uint32_t word = philox(positions + static_cast<uint64_t>(row), key);
  int64_t length = lengths.empty() ? model.sequence : lengths[size_t(row)];
  if (column == static_cast<int64_t>(word) % length)
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
