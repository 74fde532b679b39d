//===- SegmentInputs.cpp - what attention keeps apart ---------------------===//
#include "runtime/session/SegmentInputs.h"

#include "runtime/support/Status.h"

#include <algorithm>
#include <memory>

namespace tessera {

static constexpr int32_t paddingSegment = -1, ignoredLabel = -100;

namespace {
/// [batch, length], C order.
struct Rows {
  std::vector<int32_t> values;
  int64_t length;

  Rows(const Model &model, int64_t length, const Tokens &tokens)
      : values(static_cast<size_t>(model.batch * length)), length(length) {
    tokens(0, model.batch * length, values.data());
  }
  int64_t count() const { return static_cast<int64_t>(values.size()) / length; }
  int32_t *row(int64_t number) { return values.data() + number * length; }
};
} // namespace

static Tokens shared(std::vector<int32_t> values) {
  auto kept = std::make_shared<std::vector<int32_t>>(std::move(values));
  return [kept](int64_t first, int64_t count, int32_t *out) {
    std::copy_n(kept->data() + first, count, out);
  };
}

/// A separator ends the document that it is in. One that follows another is a
/// document of its own, as in Megatron-LM.
static Tokens documentsOf(const Model &model, const Tokens &ids) {
  Rows rows(model, model.sequence, ids);
  const auto separator = static_cast<int32_t>(*model.separator);
  for (int64_t r = 0; r < rows.count(); ++r) {
    int32_t *row = rows.row(r), document = 0;
    for (int64_t c = 0; c < rows.length; ++c) {
      bool endsHere = row[c] == separator;
      row[c] = document;
      document += endsHere;
    }
  }
  return shared(std::move(rows.values));
}

/// Returns a sequence's tokens. In one of padding alone, attention is 0 and no
/// label counts.
static Tokens tokensOf(const Model &model, const Tokens &ids) {
  Rows rows(model, model.sequence, ids);
  for (int32_t &token : rows.values)
    token = token == *model.padding ? paddingSegment : 0;
  return shared(std::move(rows.values));
}

/// Position c of the decoder reads label c - 1: the positions that read none
/// that counts, and are before none.
static Tokens decodedOf(const Model &model, const Tokens &labels) {
  Rows rows(model, model.decoder->target, labels);
  for (int64_t r = 0; r < rows.count(); ++r) {
    int32_t *row = rows.row(r);
    bool isPadding = row[rows.length - 1] < 0;
    for (int64_t c = rows.length - 1; c > 0; --c) {
      isPadding = isPadding && row[c - 1] < 0;
      row[c] = isPadding ? paddingSegment : 0;
    }
    row[0] = 0; // the start token
  }
  return shared(std::move(rows.values));
}

/// Padding predicts nothing.
static Tokens withoutPadding(const Tokens &labels, const Tokens &segments) {
  return [=](int64_t first, int64_t count, int32_t *out) {
    std::vector<int32_t> own(static_cast<size_t>(count));
    segments(first, count, own.data());
    labels(first, count, out);
    for (int64_t i = 0; i < count; ++i)
      if (own[static_cast<size_t>(i)] < 0)
        out[i] = ignoredLabel;
  };
}

void addSegments(const Model &model, const Tokens &ids, StepInputs *inputs) {
  if (!model.hasSegments())
    return;
  if (!inputs->segments)
    inputs->segments =
        model.separator ? documentsOf(model, ids) : tokensOf(model, ids);
  if (model.decoder && !inputs->decoderSegments)
    inputs->decoderSegments = decodedOf(model, inputs->labels);
  inputs->labels =
      withoutPadding(inputs->labels, model.decoder ? inputs->decoderSegments
                                                   : inputs->segments);
}

static Tokens checked(const Model &model, int64_t length,
                      const int32_t *segments, const char *what) {
  Rows rows(model, length, [=](int64_t first, int64_t count, int32_t *out) {
    std::copy_n(segments + first, count, out);
  });
  for (int64_t i = 0; i < model.batch * length; ++i)
    if (segments[i] < paddingSegment)
      fail(TSR_INVALID_ARGUMENT, "segment ", segments[i], " at position ",
           i % length, " of sequence ", i / length, " of ", what,
           " is below -1, which is padding");
  return shared(std::move(rows.values));
}

void addSegments(const Model &model, const tsr_batch &batch,
                 StepInputs *inputs) {
  if (batch.segments && !model.hasSegments())
    fail(TSR_INVALID_ARGUMENT,
         "the model's attention has no mask of documents or padding; leave "
         "segments NULL, or compile it with --document-mask or --padding-mask");
  if (batch.decoder_segments && !(model.hasSegments() && model.decoder))
    fail(TSR_INVALID_ARGUMENT,
         "the model has no decoder with a mask of padding; leave "
         "decoder_segments NULL");
  if (batch.segments)
    inputs->segments =
        checked(model, model.sequence, batch.segments, "segments");
  if (batch.decoder_segments)
    inputs->decoderSegments =
        checked(model, model.decoder->target, batch.decoder_segments,
                "decoder_segments");
  addSegments(model, inputs->ids, inputs);
}

Tokens withinDocuments(const Model &model, const Tokens &ids,
                       const Tokens &labels) {
  if (!model.separator || !model.causalIgnores)
    return labels;
  return [=, separator = *model.separator](int64_t first, int64_t count,
                                           int32_t *out) {
    std::vector<int32_t> read(static_cast<size_t>(count));
    ids(first, count, read.data());
    labels(first, count, out);
    for (int64_t i = 0; i < count; ++i)
      if (read[static_cast<size_t>(i)] == separator)
        out[i] = ignoredLabel;
  };
}

} // namespace tessera
