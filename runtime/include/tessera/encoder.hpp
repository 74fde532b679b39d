//===- encoder.hpp - C++ wrapper of encoder.h -------------------*- C++ -*-===//
// Header only, C++17; errors are exceptions as in tessera.hpp.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_ENCODER_HPP
#define TESSERA_ENCODER_HPP

#include "tessera/encoder.h"
#include "tessera/tessera.hpp"

namespace tessera {

/// A text of a run of an Encoder.
struct EncoderText {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> tokenTypes; ///< Empty: all are 0.
  std::vector<std::int32_t> positions;  ///< Whose probabilities are wanted.
};

/// A model that encodes texts; may outlive the Artifact.
class Encoder {
public:
  /// Opens an encoder. Without weights parameters are drawn from the seed.
  explicit Encoder(const Artifact &artifact, const std::string &weights = "",
                   const tsr_session_options &options = sessionOptions())
      : vocabulary(artifact.vocabulary()) {
    tsr_encoder *raw = nullptr;
    detail::check(
        tsr_encoder_create(artifact.get(), &options,
                           weights.empty() ? nullptr : weights.c_str(), &raw));
    handle.reset(raw);
  }

  /// Runs the texts. The calls below read results of the last run.
  void run(const std::vector<EncoderText> &texts) {
    std::vector<tsr_encoder_text> given;
    for (const EncoderText &text : texts) {
      if (!text.tokenTypes.empty() && text.tokenTypes.size() != text.ids.size())
        throw Exception(TSR_INVALID_ARGUMENT,
                        "a text has " + std::to_string(text.ids.size()) +
                            " ids and " +
                            std::to_string(text.tokenTypes.size()) +
                            " token types; give none or as many");
      given.push_back(
          {text.ids.data(),
           text.tokenTypes.empty() ? nullptr : text.tokenTypes.data(),
           text.ids.size(), text.positions.data(), text.positions.size()});
    }
    detail::check(tsr_encoder_run(get(), given.data(), given.size()));
  }
  std::vector<double> hidden(std::size_t text, std::size_t position) const {
    std::vector<double> values(tsr_encoder_hidden_size(get()));
    detail::check(tsr_encoder_hidden(get(), text, position, values.data(),
                                     values.size()));
    return values;
  }
  /// Returns the mean of the hidden states of all tokens.
  std::vector<double> mean(std::size_t text) const {
    std::vector<double> values(tsr_encoder_hidden_size(get()));
    detail::check(tsr_encoder_mean(get(), text, values.data(), values.size()));
    return values;
  }
  /// Returns the hidden states of all tokens as one vector.
  std::vector<double> pooled(std::size_t text, tsr_pooling pooling) const {
    std::vector<double> values(tsr_encoder_hidden_size(get()));
    detail::check(
        tsr_encoder_pooled(get(), text, pooling, values.data(), values.size()));
    return values;
  }
  /// Returns the log probabilities of all tokens at positions[which].
  std::vector<double> logProbabilities(std::size_t text,
                                       std::size_t which) const {
    std::vector<double> values(vocabulary);
    detail::check(tsr_encoder_log_probabilities(get(), text, which,
                                                values.data(), values.size()));
    return values;
  }
  std::int64_t hiddenSize() const { return tsr_encoder_hidden_size(get()); }
  std::int64_t maxPredictions() const {
    return tsr_encoder_max_predictions(get());
  }
  std::int32_t maskToken() const { return tsr_encoder_mask_token(get()); }
  /// Returns the notes from loading the weights, a line each.
  std::string notes() const { return tsr_encoder_notes(get()); }
  tsr_encoder *get() const { return handle.get(); }

private:
  struct Destroy {
    void operator()(tsr_encoder *object) const { tsr_encoder_destroy(object); }
  };
  std::unique_ptr<tsr_encoder, Destroy> handle;
  std::int64_t vocabulary;
};

} // namespace tessera

#endif // TESSERA_ENCODER_HPP
