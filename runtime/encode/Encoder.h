//===- Encoder.h - a model that encodes texts -------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_ENCODE_ENCODER_H
#define TESSERA_RUNTIME_ENCODE_ENCODER_H

#include "runtime/session/Session.h"
#include "tessera/encoder.h"

namespace tessera {

/// A text for a run; the arrays are the caller's.
struct EncoderText {
  const int32_t *ids = nullptr, *tokenTypes = nullptr; ///< Types: null, all 0.
  int64_t count = 0;
  const int32_t *positions = nullptr; ///< Whose probabilities are wanted.
  int64_t positionCount = 0;
};

class Encoder {
public:
  /// TSR_UNSUPPORTED: the artifact has no such program; or its ranks are
  /// processes.
  Encoder(const Artifact &artifact, const SessionOptions &options);

  /// Its parameters are to be loaded before the first run.
  Session &session() { return used; }
  const Model &model() const { return used.metadata().model; }
  int64_t hiddenSize() const { return hiddenTensor.shape[2]; }
  /// Returns the positions whose logits can be asked for; 0: the model has no
  /// head.
  int64_t predictions() const { return *model().predictions; }

  /// Encodes texts. TSR_INVALID_ARGUMENT names what of the texts is wrong, or
  /// where results are not finite.
  void run(const std::vector<EncoderText> &texts);

  // These results are those of the last run. TSR_INVALID_ARGUMENT: it had no
  // such text or position.
  /// Returns the hidden state of a position, [hidden size].
  const double *hidden(int64_t text, int64_t position) const;
  /// Pools all positions of a text to one vector. TSR_INVALID_ARGUMENT: the
  /// pooling is not known.
  void pool(int64_t text, tsr_pooling pooling, double *out) const;
  /// Writes the log probabilities [vocabulary] at a text's position of that
  /// number.
  void logProbabilities(int64_t text, int64_t which, double *out) const;

private:
  struct Inputs;
  struct Size {
    int64_t tokens, positions;
  };
  void check(const std::vector<EncoderText> &texts) const;
  void checkText(const EncoderText &text, int64_t number) const;
  void checkFinite() const;
  const Size &sizeOf(int64_t text) const;
  const double *logitsOf(int64_t text, int64_t which) const;

  Session used;
  const TensorInfo &hiddenTensor;
  const TensorInfo *logitTensor; ///< Null without a head.
  std::vector<Size> sizes;       ///< The sizes of the texts in the last run.
  std::vector<double> hiddens, logits;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_ENCODE_ENCODER_H
