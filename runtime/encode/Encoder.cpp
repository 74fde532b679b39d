#include "runtime/encode/Encoder.h"

#include <algorithm>
#include <cmath>

namespace tessera {

static const TensorInfo &outputOf(const Session &session, const char *name) {
  if (!session.metadata().model.predictions)
    fail(TSR_UNSUPPORTED, "the artifact has no program that encodes texts; "
                          "compile an encoder, such as bert or t5, with "
                          "--programs encode");
  if (!session.hasAllRanks())
    fail(TSR_UNSUPPORTED, "an encoder needs all ranks in one process; leave "
                          "out world_size and rank");
  return session.tensor("output", name);
}

Encoder::Encoder(const Artifact &artifact, const SessionOptions &options)
    : used(artifact, options), hiddenTensor(outputOf(used, "encode_hidden")),
      logitTensor(predictions() ? &outputOf(used, "encode_logits") : nullptr) {}

//===----------------------------------------------------------------------===//
// A run
//===----------------------------------------------------------------------===//

/// The inputs of the program. Texts that are not there have one token.
struct Encoder::Inputs {
  Inputs(const Model &model, const std::vector<EncoderText> &texts)
      : ids(model.batch * model.sequence,
            static_cast<int32_t>(model.padding.value_or(0))),
        types(ids.size(), 0), segments(ids.size(), -1),
        positions(model.batch * *model.predictions, -1) {
    for (int64_t k = 0; k < model.batch; ++k)
      segments[k * model.sequence] = 0;
    for (size_t k = 0; k < texts.size(); ++k) {
      const EncoderText &text = texts[k];
      const int64_t first = static_cast<int64_t>(k) * model.sequence;
      std::copy_n(text.ids, text.count, ids.begin() + first);
      std::fill_n(segments.begin() + first, text.count, 0);
      if (text.tokenTypes)
        std::copy_n(text.tokenTypes, text.count, types.begin() + first);
      std::copy_n(text.positions, text.positionCount,
                  positions.begin() +
                      static_cast<int64_t>(k) * *model.predictions);
    }
  }

  std::vector<int32_t> ids, types, segments, positions;
};

static void checkRange(const char *what, const int32_t *values, int64_t count,
                       int64_t limit, int64_t text, const char *remedy) {
  for (int64_t i = 0; i < count; ++i)
    if (values[i] < 0 || values[i] >= limit)
      fail(TSR_INVALID_ARGUMENT, what, " ", values[i], " at position ", i,
           " of text ", text, " is not in [0, ", limit, ")", remedy);
}

void Encoder::checkText(const EncoderText &text, int64_t number) const {
  const Model &sizes = model();
  auto refuse = [&](const auto &...parts) {
    fail(TSR_INVALID_ARGUMENT, "text ", number, " has ", parts...);
  };
  if (text.count == 0)
    refuse("no token; leave it out");
  if (text.count > sizes.sequence)
    refuse(text.count, " tokens, the model is compiled for at most ",
           sizes.sequence, "; cut the text, or compile with --seq-length ",
           text.count);
  if (text.count < sizes.sequence && !sizes.padding)
    refuse(text.count, " tokens and would be padded to ", sizes.sequence,
           ", but the model is compiled without --padding-mask, so that "
           "attention would see the padding; compile with it, or with "
           "--seq-length ",
           text.count);
  checkRange("token", text.ids, text.count, sizes.vocabulary, number,
             "; use the tokenizer that the model was trained with");
  if (text.tokenTypes)
    checkRange("token type", text.tokenTypes, text.count,
               std::max<int64_t>(1, sizes.tokenTypes), number, "");
  if (text.positionCount > 0 && predictions() == 0)
    refuse(text.positionCount, " positions whose probabilities are wanted, but "
                               "the model is an encoder without a head that "
                               "predicts tokens; ask for none");
  if (text.positionCount > predictions())
    refuse(text.positionCount,
           " positions whose probabilities are wanted, the "
           "model is compiled for at most ",
           predictions(),
           "; run the text again for the others, or compile with "
           "--max-predictions ",
           text.positionCount);
  for (int64_t i = 0; i < text.positionCount; ++i)
    if (text.positions[i] < 0 || text.positions[i] >= text.count)
      fail(TSR_INVALID_ARGUMENT, "position ", text.positions[i], " of text ",
           number, ", whose probabilities are wanted, is not in [0, ",
           text.count, ")");
}

void Encoder::check(const std::vector<EncoderText> &texts) const {
  if (texts.empty())
    fail(TSR_INVALID_ARGUMENT, "there is no text to encode; give at least one");
  if (static_cast<int64_t>(texts.size()) > model().batch)
    fail(TSR_INVALID_ARGUMENT, "there are ", texts.size(),
         " texts, the model is compiled for at most ", model().batch,
         " at a time; run them in parts, or compile with --batch ",
         texts.size());
  for (size_t k = 0; k < texts.size(); ++k)
    checkText(texts[k], static_cast<int64_t>(k));
}

/// Weights that are not finite make hidden states that are none.
void Encoder::checkFinite() const {
  auto isFinite = [](const double *values, int64_t count) {
    return std::all_of(values, values + count,
                       [](double value) { return std::isfinite(value); });
  };
  for (size_t k = 0; k < sizes.size(); ++k) {
    const auto text = static_cast<int64_t>(k);
    for (int64_t i = 0; i < sizes[k].tokens; ++i)
      if (!isFinite(hidden(text, i), hiddenSize()))
        fail(TSR_INVALID_ARGUMENT, "the hidden state of position ", i,
             " of text ", k,
             " is not finite; are the weights the model's, and finite?");
    for (int64_t i = 0; i < sizes[k].positions; ++i)
      if (!isFinite(logitsOf(text, i), model().vocabulary))
        fail(TSR_INVALID_ARGUMENT, "the logits of prediction ", i, " of text ",
             k, " are not finite; are the weights the model's, and finite?");
  }
}

static void write(const Rank &rank, const char *name,
                  const std::vector<int32_t> &values) {
  const TensorInfo *tensor = rank.metadata->find(Role::Input, name);
  if (tensor && rank.holds(*tensor))
    writeTokens(rank, *tensor, [&](int64_t first, int64_t count, int32_t *out) {
      std::copy_n(values.data() + first, count, out);
    });
}

void Encoder::run(const std::vector<EncoderText> &texts) {
  check(texts);
  sizes.clear();
  const Inputs inputs(model(), texts);
  used.runRows(RowProgram::Encode, [&](Rank &rank) {
    write(rank, "ids", inputs.ids);
    write(rank, "token_types", inputs.types);
    write(rank, "segments", inputs.segments);
    write(rank, "positions", inputs.positions);
  });
  hiddens.resize(hiddenTensor.elements());
  used.read(hiddenTensor, hiddens.data());
  int64_t wanted = 0;
  for (const EncoderText &text : texts) {
    sizes.push_back({text.count, text.positionCount});
    wanted += text.positionCount;
  }
  if (wanted > 0) {
    logits.resize(logitTensor->elements());
    used.read(*logitTensor, logits.data());
  }
  try {
    checkFinite();
  } catch (...) {
    sizes.clear();
    throw;
  }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

const Encoder::Size &Encoder::sizeOf(int64_t text) const {
  if (text < 0 || text >= static_cast<int64_t>(sizes.size()))
    fail(TSR_INVALID_ARGUMENT, "the last run had ", sizes.size(),
         " texts and no text ", text);
  return sizes[text];
}

const double *Encoder::hidden(int64_t text, int64_t position) const {
  const int64_t tokens = sizeOf(text).tokens;
  if (position < 0 || position >= tokens)
    fail(TSR_INVALID_ARGUMENT, "text ", text, " of the last run had ", tokens,
         " tokens and no position ", position);
  return hiddens.data() + (text * model().sequence + position) * hiddenSize();
}

void Encoder::pool(int64_t text, tsr_pooling pooling, double *out) const {
  const int64_t tokens = sizeOf(text).tokens, width = hiddenSize();
  if (pooling < TSR_POOLING_MEAN || pooling > TSR_POOLING_WEIGHTED_MEAN)
    fail(TSR_INVALID_ARGUMENT, "there is no pooling ", int(pooling));
  if (pooling == TSR_POOLING_CLS || pooling == TSR_POOLING_LAST_TOKEN) {
    std::copy_n(hidden(text, pooling == TSR_POOLING_CLS ? 0 : tokens - 1),
                width, out);
    return;
  }
  const bool isLargest = pooling == TSR_POOLING_MAX;
  std::fill_n(out, width, isLargest ? -HUGE_VAL : 0.0);
  double total = 0;
  for (int64_t i = 0; i < tokens; ++i) {
    const double *values = hidden(text, i);
    const double weight =
        pooling == TSR_POOLING_WEIGHTED_MEAN ? static_cast<double>(i + 1) : 1;
    total += weight;
    for (int64_t k = 0; k < width; ++k)
      out[k] =
          isLargest ? std::max(out[k], values[k]) : out[k] + weight * values[k];
  }
  if (isLargest)
    return;
  if (pooling == TSR_POOLING_MEAN_SQRT_LEN)
    total = std::sqrt(total);
  for (int64_t k = 0; k < width; ++k)
    out[k] /= total;
}

const double *Encoder::logitsOf(int64_t text, int64_t which) const {
  const int64_t count = sizeOf(text).positions;
  if (which < 0 || which >= count)
    fail(TSR_INVALID_ARGUMENT, "text ", text, " of the last run had ", count,
         " positions whose probabilities were wanted, and none of number ",
         which);
  return logits.data() + (text * predictions() + which) * model().vocabulary;
}

void Encoder::logProbabilities(int64_t text, int64_t which, double *out) const {
  const double *values = logitsOf(text, which);
  const int64_t count = model().vocabulary;
  const double largest = *std::max_element(values, values + count);
  double total = 0;
  for (int64_t i = 0; i < count; ++i)
    total += std::exp(values[i] - largest);
  const double shift = largest + std::log(total);
  for (int64_t i = 0; i < count; ++i)
    out[i] = values[i] - shift;
}

} // namespace tessera
