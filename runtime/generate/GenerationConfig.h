//===- GenerationConfig.h - how texts end and are drawn ---------*- C++ -*-===//
// As `transformers` takes it from the files of a model: generation_config.json,
// or config.json where there is no such file, but never both.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_GENERATE_GENERATIONCONFIG_H
#define TESSERA_RUNTIME_GENERATE_GENERATIONCONFIG_H

#include "runtime/artifact/Metadata.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// What the file does not say, or says with null, has no value.
struct GenerationConfig {
  std::string file;          ///< For people; "": there is none.
  std::vector<int32_t> ends; ///< Tokens of the vocabulary that end a text.
  std::optional<bool> samples;
  std::optional<double> temperature, topP, minP, repetitionPenalty;
  std::optional<int64_t> topK, maxNewTokens;
  /// "num_beams 4, ...": what would change texts and is not followed.
  std::string notFollowed;
};

/// Of the files in `folder`; or, if that is "" or has none, of those that the
/// artifact holds. TSR_CORRUPT: a value is none that a text can be made with.
GenerationConfig readGenerationConfig(const Metadata &metadata,
                                      const std::string &folder);

} // namespace tessera

#endif // TESSERA_RUNTIME_GENERATE_GENERATIONCONFIG_H
