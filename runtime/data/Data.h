//===- Data.h - token streams -----------------------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_DATA_DATA_H
#define TESSERA_RUNTIME_DATA_DATA_H

#include "runtime/data/TokenFile.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera {

struct DataOptions {
  std::string format = "auto";
  int64_t sequence = 0, vocabulary = 0, seed = 0;
  int64_t target = 0; ///< Tokens of a target after each sequence; 0: none.

  /// Tokens that a step reads, and from one record to the next.
  int64_t columns() const { return sequence + (target ? target : 1); }
  int64_t stride() const { return sequence + target; }
};

/// Files joined to one stream of tokens, cut into sequences of `sequence`
/// tokens and the one after, or into pairs of a sequence and its target; read
/// in an order that is a permutation in each epoch.
class Data {
public:
  /// TSR_NOT_FOUND, TSR_CORRUPT, TSR_INVALID_ARGUMENT.
  Data(const std::vector<std::string> &paths, const DataOptions &options);

  int64_t tokens() const { return total; }
  /// Bytes of a token in the file that has the widest.
  int64_t tokenBytes() const;
  /// Of files that say where theirs begin; 0: none does.
  int64_t documents() const;
  struct Document {
    int64_t first, tokens; ///< in the stream of all files joined
  };
  /// TSR_INVALID_ARGUMENT: there is none.
  Document document(int64_t number) const;
  int64_t sequences() const {
    return (total - options.columns()) / options.stride() + 1;
  }
  /// out[batch, columns]. TSR_INVALID_ARGUMENT names the first token
  /// outside of the vocabulary.
  void batch(int64_t step, int64_t batch, int32_t *out) const;

private:
  struct Part {
    std::unique_ptr<TokenFile> file;
    int64_t first; ///< position of its first token in the stream
  };
  void copyTokens(int64_t first, int64_t count, int32_t *out) const;

  DataOptions options;
  std::vector<Part> parts;
  int64_t total = 0;
  mutable std::vector<int32_t> staged; ///< Kept, so that no step allocates.
};

/// Element `index` of a pseudo-random permutation of [0, size); `key` chooses
/// it. Constant memory and expected constant time.
int64_t permute(int64_t index, int64_t size, uint64_t key);

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_DATA_H
