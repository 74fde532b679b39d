//===- OpenGenerator.h - a model, ready to generate -------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_GENERATE_OPENGENERATOR_H
#define TESSERA_TOOLS_TESSERA_GENERATE_OPENGENERATOR_H

#include "tools/tessera/generate/TextOfTokens.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/options/DriverOptions.h"

namespace tessera {

/// The artifact that the command line names or that is compiled of its model,
/// with the tokenizer and the weights that lie beside it or are named. Errors
/// are printed, and false returned.
class OpenGenerator {
public:
  explicit OpenGenerator(const DriverOptions &options) : options(options) {}

  bool openTokenizer();
  /// After the tokenizer.
  bool open();

  tsr_generator *get() const { return generator.get(); }
  /// What the command line asks for; valid as long as this is.
  tsr_request_options request() const;
  /// Tokens that a request may have, with those of its prompt.
  int64_t places() const;
  /// Of the model, where it is one.
  std::string folder() const;

  TextOfTokens tokenizer;

private:
  struct Destroy {
    void operator()(tsr_generator *object) const {
      tsr_generator_destroy(object);
    }
  };

  const DriverOptions &options;
  ArtifactFile artifact;
  std::unique_ptr<tsr_generator, Destroy> generator;
  int32_t end = -1;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_GENERATE_OPENGENERATOR_H
