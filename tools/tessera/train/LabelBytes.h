//===- LabelBytes.h - bytes of text that labels stand for -------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_LABELBYTES_H
#define TESSERA_TOOLS_TESSERA_TRAIN_LABELBYTES_H

#include "tessera/tessera.h"
#include "tessera/tokenizer.h"
#include "tools/tessera/options/OptionGroups.h"
#include <memory>

namespace tessera {

/// Returns the folder of a model's config if it has a tokenizer, else "".
std::string tokenizerBeside(const ModelArgument &options);

/// Returns whether a model predicts the tokens that are hidden from it, and no
/// text.
bool isMasked(const tsr_artifact *artifact);

/// Counts them by --tokenizer, or by the tokenizer in the model's folder: the
/// measure of bits per byte, which no choice of tokens changes. With one that
/// nobody asked for, what is wrong is a note, and nothing is counted.
class LabelBytes {
public:
  /// Begins to count labels that are tokens. Prints an error and returns false
  /// after one.
  bool open(const RunSettings &options, const tsr_artifact *artifact);
  /// Adds the labels of rows of `columns`, as tsr_data_batch gives them.
  bool add(const std::vector<int32_t> &batch, int64_t columns);

  /// 0: not known.
  int64_t count() const { return bytes; }

private:
  struct Destroy {
    void operator()(tsr_tokenizer *object) const {
      tsr_tokenizer_destroy(object);
    }
  };
  bool giveUp(const std::string &why);

  std::string path;
  bool isAskedFor = false;
  std::unique_ptr<tsr_tokenizer, Destroy> tokenizer; ///< Null: not counted.
  int64_t firstLabel = 0;                            ///< The column of a row.
  int64_t padding = -1; ///< The token that is no label; -1: there is none.
  int64_t bytes = 0;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_LABELBYTES_H
