//===- OpenGenerator.h - a model, ready to generate -------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_GENERATE_OPENGENERATOR_H
#define TESSERA_TOOLS_TESSERA_GENERATE_OPENGENERATOR_H

#include "tessera/Artifact/ArtifactFile.h"
#include "tools/tessera/generate/GenerateOptions.h"
#include "tools/tessera/generate/TextOfTokens.h"

namespace tessera {

/// The artifact that the command line names or that is compiled of its model,
/// with the tokenizer and the weights that lie beside it or are named. Errors
/// are printed, and false returned.
class OpenGenerator {
public:
  explicit OpenGenerator(const GenerateOptions &options) : options(options) {}

  bool openTokenizer();
  /// Opens the generator after the tokenizer.
  bool open();

  tsr_generator *get() const { return generator.get(); }
  /// Returns what the command line asks for and, where it does not say, what
  /// the files of the model do. Its pointers are valid as long as this object.
  tsr_request_options request() const;
  /// Tokens that a request may have, with those of its prompt.
  int64_t places() const;
  /// Returns the folder of the model, if it is one.
  std::string folder() const;

  TextOfTokens tokenizer;

private:
  struct Destroy {
    void operator()(tsr_generator *object) const {
      tsr_generator_destroy(object);
    }
  };

  bool readConfig();
  bool isGiven(const char *flag) const;
  /// The next token is drawn, and not always the most probable one.
  bool samples() const;
  bool checkSampling() const;
  void noteConfig() const;

  const GenerateOptions &options;
  ArtifactFile artifact;
  std::unique_ptr<tsr_generator, Destroy> generator;
  tsr_generation_config config = {}; ///< Its pointers may dangle.
  std::string configFile, notFollowed;
  std::vector<int32_t> ends; ///< Tokens.
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_GENERATE_OPENGENERATOR_H
