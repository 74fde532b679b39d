//===- Samples.h - texts that a model writes while it is trained *- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_SAMPLES_H
#define TESSERA_TOOLS_TESSERA_TRAIN_SAMPLES_H

#include "tools/tessera/generate/TextOfTokens.h"
#include "tools/tessera/train/Progress.h"
#include "tools/tessera/train/TrainOptions.h"
#include <memory>

namespace tessera {

/// Continues --sample-prompt every --sample-every steps, with the session's own
/// parameters. Errors are printed, and false returned.
class Samples {
public:
  explicit Samples(const TrainOptions &options) : options(options) {}

  /// `ofBytes`: a token is a byte of text, whatever lies beside the model.
  bool prepare(tsr_session *session, const tsr_artifact *artifact,
               bool ofBytes);
  bool isDueAfter(int64_t steps) const {
    return options.sampleEvery && steps % options.sampleEvery == 0;
  }
  bool run(Progress &progress);

private:
  struct Destroy {
    void operator()(tsr_generator *object) const {
      tsr_generator_destroy(object);
    }
  };
  bool readEnds(const tsr_artifact *artifact);
  bool encodePrompts();
  bool add(std::vector<int64_t> &requests);
  bool takeAll(const std::vector<int64_t> &requests,
               std::vector<std::vector<int32_t>> &texts);
  std::string textOf(const std::vector<int32_t> &tokens) const;

  const TrainOptions &options;
  tsr_session *session = nullptr;
  bool isPair = false; ///< A prompt is the source of a text of its own.
  TextOfTokens tokenizer;
  std::vector<int32_t> ends; ///< Tokens that end a text.
  std::vector<std::vector<int32_t>> prompts;
  std::unique_ptr<tsr_generator, Destroy> generator;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_SAMPLES_H
