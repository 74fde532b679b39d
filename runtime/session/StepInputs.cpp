//===- StepInputs.cpp - the tokens that one step reads --------------------===//
#include "runtime/session/StepInputs.h"

#include "runtime/data/TokenMask.h"
#include "runtime/session/SegmentInputs.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace tessera {

/// Columns [shift, shift + length) of rows of `columns` tokens.
static Tokens windowOf(const int32_t *tokens, int64_t columns, int64_t length,
                       int64_t shift) {
  return [=](int64_t first, int64_t count, int32_t *out) {
    while (count > 0) {
      int64_t row = first / length, column = first % length;
      int64_t part = std::min(count, length - column);
      std::copy_n(tokens + row * columns + column + shift, part, out);
      first += part;
      count -= part;
      out += part;
    }
  };
}

static Tokens from(const int32_t *values) {
  return [=](int64_t first, int64_t count, int32_t *out) {
    std::copy_n(values + first, count, out);
  };
}

static void fillZeros(int64_t, int64_t count, int32_t *out) {
  std::fill_n(out, count, 0);
}

/// Puts `change(index, token)` in the place of every token.
template <class Change>
static Tokens changed(const Tokens &tokens, const Change &change) {
  return [=](int64_t first, int64_t count, int32_t *out) {
    tokens(first, count, out);
    for (int64_t i = 0; i < count; ++i)
      out[i] = change(first + i, out[i]);
  };
}

/// The decoder predicts each label from those before it (Hugging Face's
/// _shift_right): after the start token, with padding for ignored ones.
static Tokens shiftedRight(const Decoder &decoder, const Tokens &labels) {
  auto start = static_cast<int32_t>(decoder.start);
  auto padding = static_cast<int32_t>(decoder.padding);
  return
      [=, target = decoder.target](int64_t first, int64_t count, int32_t *out) {
        int64_t skipped = first == 0; // no label is before it
        labels(first - 1 + skipped, count - skipped, out + skipped);
        for (int64_t i = 0; i < count; ++i) {
          bool starts = (first + i) % target == 0;
          out[i] = starts ? start : out[i] < 0 ? padding : out[i];
        }
      };
}

/// Returns the rows of a source and its target, whose padding is no label.
static StepInputs pairsOf(const Model &model, const int32_t *tokens) {
  constexpr int32_t ignored = -100;
  const Decoder &decoder = *model.decoder;
  int64_t columns = model.columns();
  StepInputs inputs;
  inputs.ids = windowOf(tokens, columns, model.sequence, 0);
  inputs.labels =
      changed(windowOf(tokens, columns, decoder.target, model.sequence),
              [padding = decoder.padding](int64_t, int32_t token) {
                return token == padding ? ignored : token;
              });
  inputs.decoderIds = shiftedRight(decoder, inputs.labels);
  addSegments(model, inputs.ids, &inputs);
  return inputs;
}

static StepInputs causalOf(const Model &model, const int32_t *tokens) {
  StepInputs inputs;
  inputs.ids = windowOf(tokens, model.sequence + 1, model.sequence, 0);
  inputs.labels =
      withinDocuments(model, inputs.ids,
                      windowOf(tokens, model.sequence + 1, model.sequence, 1));
  inputs.tokenTypes = fillZeros;
  addSegments(model, inputs.ids, &inputs);
  return inputs;
}

/// Masks tokens; `maskAt(index)` returns the mask of a position and its index
/// in that mask.
template <class MaskAt>
static StepInputs maskedOf(const Model &model, const int32_t *tokens,
                           const MaskAt &maskAt) {
  const Tokens given = windowOf(tokens, model.sequence + 1, model.sequence, 0);
  StepInputs inputs;
  inputs.tokenTypes = fillZeros;
  inputs.ids = changed(given, [=](int64_t index, int32_t token) {
    const auto [mask, place] = maskAt(index);
    return mask->id(place, token);
  });
  inputs.labels = changed(given, [=](int64_t index, int32_t token) {
    const auto [mask, place] = maskAt(index);
    return mask->label(place, token);
  });
  addSegments(model, given, &inputs);
  return inputs;
}

using MaskPlace = std::pair<const TokenMask *, int64_t>;

StepInputs inputsOf(const Model &model, const int32_t *tokens, int64_t seed,
                    int64_t step) {
  if (model.decoder)
    return pairsOf(model, tokens);
  if (!model.maskToken)
    return causalOf(model, tokens);
  auto mask = std::make_shared<TokenMask>(model, seed, step, tokens);
  return maskedOf(model, tokens,
                  [=](int64_t index) { return MaskPlace(mask.get(), index); });
}

/// Masks tokens for an evaluation. Every run hides the same tokens, so that
/// results can be compared. Each sequence is masked as a batch of its own, so
/// the others in its batch do not matter.
static StepInputs maskedEvaluationOf(const Model &model, const int32_t *tokens,
                                     int64_t first) {
  constexpr int64_t seed = 0;
  Model one = model;
  one.batch = 1;
  auto masks = std::make_shared<std::vector<TokenMask>>();
  for (int64_t row = 0; row < model.batch; ++row)
    masks->emplace_back(one, seed, first + row, tokens + row * model.columns());
  return maskedOf(model, tokens, [=, length = model.sequence](int64_t index) {
    return MaskPlace(&(*masks)[static_cast<size_t>(index / length)],
                     index % length);
  });
}

StepInputs evaluationInputsOf(const Model &model, const int32_t *tokens,
                              int64_t sequences, int64_t first) {
  constexpr int32_t ignored = -100;
  StepInputs inputs = model.decoder ? pairsOf(model, tokens)
                      : model.maskToken
                          ? maskedEvaluationOf(model, tokens, first)
                          : causalOf(model, tokens);
  if (sequences < model.batch)
    inputs.labels = changed(inputs.labels, [end = sequences * model.labels()](
                                               int64_t index, int32_t label) {
      return index < end ? label : ignored;
    });
  return inputs;
}

StepInputs inputsOf(const Model &model, const tsr_batch &batch) {
  StepInputs inputs;
  inputs.ids = from(batch.ids);
  inputs.labels = from(batch.labels);
  inputs.tokenTypes = fillZeros;
  if (batch.token_types)
    inputs.tokenTypes = from(batch.token_types);
  if (model.decoder)
    inputs.decoderIds = shiftedRight(*model.decoder, inputs.labels);
  addSegments(model, batch, &inputs);
  return inputs;
}

bool anyCounts(const Model &model, const Tokens &labels) {
  constexpr int64_t most = 256;
  int32_t part[most];
  int64_t count = model.batch * model.labels();
  for (int64_t first = 0; first < count; first += most) {
    int64_t length = std::min(most, count - first);
    labels(first, length, part);
    if (std::any_of(part, part + length,
                    [](int32_t label) { return label >= 0; }))
      return true;
  }
  return false;
}

// Without a branch in the loop, which the compiler so does in vectors. A
// negative value is a large one.
bool areWithin(const int32_t *values, int64_t count, int64_t limit) {
  bool bad = false;
  for (int64_t i = 0; i < count; ++i)
    bad |= static_cast<uint32_t>(values[i]) >= static_cast<uint64_t>(limit);
  return !bad;
}

} // namespace tessera
