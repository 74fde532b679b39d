//===- ApiEncoder.cpp - tsr_encoder_* of the C API ------------------------===//
#include "runtime/api/Api.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/encode/Encoder.h"
#include "tessera/encoder.h"

using namespace tessera;

struct tsr_encoder {
  tsr_encoder(const Artifact &artifact, const SessionOptions &options)
      : content(artifact, options) {}
  Encoder content;
};

tsr_status tsr_encoder_create(const tsr_artifact *artifact,
                              const tsr_session_options *options,
                              const char *weights, tsr_encoder **out_encoder) {
  return guarded([&] {
    requirePointer(artifact, "artifact");
    requirePointer(out_encoder, "out_encoder");
    auto made = std::make_unique<tsr_encoder>(artifact->content,
                                              takeSessionOptions(options));
    if (weights)
      loadWeights(made->content.session(), weights);
    else
      made->content.session().initialize();
    *out_encoder = made.release();
  });
}

void tsr_encoder_destroy(tsr_encoder *encoder) { delete encoder; }

const char *tsr_encoder_notes(tsr_encoder *encoder) {
  return encoder->content.session().notes().c_str();
}

int64_t tsr_encoder_hidden_size(const tsr_encoder *encoder) {
  return encoder->content.hiddenSize();
}

int64_t tsr_encoder_max_predictions(const tsr_encoder *encoder) {
  return encoder->content.predictions();
}

int32_t tsr_encoder_mask_token(const tsr_encoder *encoder) {
  return static_cast<int32_t>(encoder->content.model().maskToken.value_or(-1));
}

static EncoderText takeText(const tsr_encoder_text &given) {
  if (given.count > 0)
    requirePointer(given.ids, "ids");
  if (given.position_count > 0)
    requirePointer(given.positions, "positions");
  return {given.ids, given.token_types, static_cast<int64_t>(given.count),
          given.positions, static_cast<int64_t>(given.position_count)};
}

tsr_status tsr_encoder_run(tsr_encoder *encoder, const tsr_encoder_text *texts,
                           size_t count) {
  return guarded([&] {
    requirePointer(encoder, "encoder");
    if (count > 0)
      requirePointer(texts, "texts");
    std::vector<EncoderText> taken;
    for (size_t k = 0; k < count; ++k)
      taken.push_back(takeText(texts[k]));
    encoder->content.run(taken);
  });
}

static void requireCount(size_t count, int64_t wanted, const char *what) {
  if (count != static_cast<size_t>(wanted))
    fail(TSR_INVALID_ARGUMENT, what, " has ", wanted,
         " elements, but the call has ", count);
}

tsr_status tsr_encoder_hidden(const tsr_encoder *encoder, size_t text,
                              size_t position, double *values, size_t count) {
  return guarded([&] {
    requirePointer(encoder, "encoder");
    requirePointer(values, "values");
    const Encoder &content = encoder->content;
    requireCount(count, content.hiddenSize(), "a hidden state");
    std::copy_n(content.hidden(static_cast<int64_t>(text),
                               static_cast<int64_t>(position)),
                count, values);
  });
}

tsr_status tsr_encoder_mean(const tsr_encoder *encoder, size_t text,
                            double *values, size_t count) {
  return guarded([&] {
    requirePointer(encoder, "encoder");
    requirePointer(values, "values");
    requireCount(count, encoder->content.hiddenSize(), "a hidden state");
    encoder->content.pool(static_cast<int64_t>(text), TSR_POOLING_MEAN, values);
  });
}

tsr_status tsr_encoder_pooled(const tsr_encoder *encoder, size_t text,
                              tsr_pooling pooling, double *values,
                              size_t count) {
  return guarded([&] {
    requirePointer(encoder, "encoder");
    requirePointer(values, "values");
    requireCount(count, encoder->content.hiddenSize(), "a hidden state");
    encoder->content.pool(static_cast<int64_t>(text), pooling, values);
  });
}

tsr_status tsr_encoder_log_probabilities(const tsr_encoder *encoder,
                                         size_t text, size_t which,
                                         double *values, size_t count) {
  return guarded([&] {
    requirePointer(encoder, "encoder");
    requirePointer(values, "values");
    requireCount(count, encoder->content.model().vocabulary, "the vocabulary");
    encoder->content.logProbabilities(static_cast<int64_t>(text),
                                      static_cast<int64_t>(which), values);
  });
}

/// Returns a tensor of so many elements.
static const TensorInfo &tensorOf(tsr_encoder *encoder, const char *role,
                                  const char *name, const double *values,
                                  size_t count) {
  requirePointer(encoder, "encoder");
  requirePointer(role, "role");
  requirePointer(name, "name");
  requirePointer(values, "values");
  const TensorInfo &tensor = encoder->content.session().tensor(role, name);
  requireCount(count, tensor.elements(), tensor.describe().c_str());
  return tensor;
}

tsr_status tsr_encoder_read(tsr_encoder *encoder, const char *role,
                            const char *name, double *values, size_t count) {
  return guarded([&] {
    const TensorInfo &tensor = tensorOf(encoder, role, name, values, count);
    encoder->content.session().read(tensor, values);
  });
}

tsr_status tsr_encoder_write(tsr_encoder *encoder, const char *role,
                             const char *name, const double *values,
                             size_t count) {
  return guarded([&] {
    const TensorInfo &tensor = tensorOf(encoder, role, name, values, count);
    encoder->content.session().write(tensor, values);
  });
}
