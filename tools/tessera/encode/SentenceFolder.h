//===- SentenceFolder.h - how a folder embeds texts -------------*- C++ -*-===//
// sentence-transformers saves two files beside a model: modules.json lists what
// follows the encoder, 1_Pooling/config.json says what becomes of its states.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_ENCODE_SENTENCEFOLDER_H
#define TESSERA_TOOLS_TESSERA_ENCODE_SENTENCEFOLDER_H

#include "tessera/encoder.h"
#include <optional>
#include <string>

namespace tessera {

/// Says how texts become vectors. A folder without these files means the mean.
struct SentenceSettings {
  tsr_pooling pooling = TSR_POOLING_MEAN;
  bool normalizes = false;
  bool isFound = false;   ///< A file says how to pool.
  int64_t mostTokens = 0; ///< A text may have, special ones too; 0: no limit.
  int64_t width = 0;      ///< Elements of a hidden state; 0: not said.
};

/// The names are those of sentence-transformers: "cls", "mean", "max",
/// "lasttoken", "mean_sqrt_len", "weightedmean".
std::optional<tsr_pooling> poolingOf(const std::string &name);

/// Reads the files in `folder` that are there. With `isOverridden` only the
/// length of texts is read. Prints an error and returns false where they ask
/// for what is not supported.
bool readSentenceFolder(const std::string &folder, bool isOverridden,
                        SentenceSettings &settings);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_ENCODE_SENTENCEFOLDER_H
