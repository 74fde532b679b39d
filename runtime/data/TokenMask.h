//===- TokenMask.h - which tokens a masked language model predicts --------===//
// Devlin et al. 2018, section 3.1: of every sequence one position, and every
// other one with probability 0.15, is predicted. There the model sees the mask
// token (0.8), a random token (0.1) or the token itself. Special tokens and
// padding are never predicted, nor hidden (Hugging Face's
// DataCollatorForLanguageModeling); a random token may be any. A function of
// seed, step and position: the same on every mesh.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DATA_TOKENMASK_H
#define TESSERA_RUNTIME_DATA_TOKENMASK_H

#include "runtime/artifact/Metadata.h"

namespace tessera {

class TokenMask {
public:
  /// `tokens` are [batch, Model::columns()]; they are not kept.
  TokenMask(const Model &model, int64_t seed, int64_t step,
            const int32_t *tokens);

  /// Returns the token that the model sees at position `index` of [batch,
  /// sequence].
  int32_t id(int64_t index, int32_t token) const;
  /// Returns the token that it is to predict there, or -100.
  int32_t label(int64_t index, int32_t token) const;

private:
  bool mayBePredicted(int32_t token) const;
  int64_t choose(int64_t row, const int32_t *tokens) const;
  bool isPredicted(int64_t index, int32_t token) const;

  Model model;
  uint64_t key;
  std::vector<int64_t> chosen; ///< a column of each sequence, or -1
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_TOKENMASK_H
