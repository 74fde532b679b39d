//===- GenerateOptions.h - which texts are continued, and how ---*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_GENERATE_GENERATEOPTIONS_H
#define TESSERA_TOOLS_TESSERA_GENERATE_GENERATEOPTIONS_H

#include "tools/tessera/options/OptionGroups.h"

namespace tessera {

/// The options of tessera generate.
struct GenerateOptions : InferenceOptions {
  std::vector<std::string> prompts;
  std::vector<std::string> promptIds; ///< "1,2,3" each.
  std::vector<std::string> stops;     ///< Texts.
  int64_t maxNewTokens = 128;
  double temperature = 0, topP = 1, minP = 0, repetitionPenalty = 1;
  int64_t topK = 0, seed = 0;
  int64_t alternatives = 0;
  bool ignoresEnd = false, showsTimes = false, isChat = false;
  bool showsLogProbabilities = false;
  /// Names of given options whose values the model's files may also say.
  std::vector<std::string> given;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_GENERATE_GENERATEOPTIONS_H
