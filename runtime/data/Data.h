//===- Data.h - token streams -----------------------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_DATA_DATA_H
#define TESSERA_RUNTIME_DATA_DATA_H

#include "runtime/data/DataHashing.h"
#include "runtime/data/DataIdentity.h"
#include "runtime/data/Mixture.h"
#include "runtime/data/TokenStream.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera {

/// The part that is read of data that is split.
enum class DataPart { Training, Validation };

struct DataOptions {
  std::string format = "auto";
  int64_t sequence = 0, vocabulary = 0, seed = 0;
  int64_t target = 0; ///< Tokens of a target after each sequence; 0: none.
  /// The share of the sequences that each file has; empty: the files are one
  /// stream.
  std::vector<double> weights;
  double validationFraction = 0; ///< Share of each file, from its end.
  DataPart part = DataPart::Training;

  SequenceShape shape() const {
    return {sequence + (target ? target : 1), sequence + target};
  }
};

/// Streams of tokens, cut into sequences of `sequence` tokens and the one
/// after, or into pairs of a sequence and its target. Without weights all files
/// are one stream, with weights each file is one and the streams take turns.
/// Each is read in an order that is a permutation in each of its epochs.
class Data {
public:
  /// TSR_NOT_FOUND, TSR_CORRUPT, TSR_INVALID_ARGUMENT.
  Data(const std::vector<std::string> &paths, const DataOptions &options);

  /// Tokens of the part that is read, as are the numbers below.
  int64_t tokens() const;
  /// Returns the bytes of a token in the file that has the widest.
  int64_t tokenBytes() const;
  /// Returns the documents in the files that say where theirs begin; 0: none
  /// does.
  int64_t documents() const;
  struct Document {
    int64_t first, tokens; ///< in the parts of all files, joined
  };
  /// Finds a document. TSR_INVALID_ARGUMENT: there is none.
  Document document(int64_t number) const;
  /// Returns an epoch of each stream.
  int64_t sequences() const;
  struct FileShare {
    int64_t first, tokens; ///< in the file
    double share;          ///< share of all sequences
  };
  /// Returns the share of a file. TSR_INVALID_ARGUMENT: there are not so many
  /// files.
  FileShare fileShare(size_t file) const;
  /// Returns the identity without hashes of the files' contents.
  DataIdentity identity() const;
  /// Returns a hash of all tokens of each file, which takes as long as reading
  /// them. TSR_IO.
  std::vector<std::string> hashContents() const;
  /// Begins to compute the same hashes on another thread.
  std::shared_ptr<DataHashing> startHashing() const;
  /// Describes which part of each file is read, with these hashes of its
  /// tokens, to compare it with what other processes read.
  std::vector<FileContent>
  contents(const std::vector<std::string> &hashes) const;

  /// Reads sequences [first, first + count) of the order, out[count, columns].
  /// TSR_INVALID_ARGUMENT names the first token outside of the vocabulary.
  void read(int64_t first, int64_t count, int32_t *out) const;
  /// Reads the sequences of a step if all batches have the same size.
  void batch(int64_t step, int64_t batch, int32_t *out) const;

private:
  bool isWeighted() const { return !options.weights.empty(); }
  void checkOptions(const std::vector<std::string> &paths) const;
  void checkWeights(const std::vector<std::string> &paths) const;
  void openFiles(const std::vector<std::string> &paths);
  void chooseShares();
  void checkLength(size_t stream, const TokenStream &training,
                   const TokenStream &validation) const;
  void makeStreams(const std::vector<SplitFile> &splits);

  DataOptions options;
  std::vector<std::shared_ptr<const TokenFile>> files;
  std::vector<FilePart> parts;      ///< The part of each file that is read.
  std::vector<TokenStream> streams; ///< One over all parts, or one for each.
  std::vector<int64_t> shares;      ///< The share of each stream.
  std::unique_ptr<Mixture> mixture;
  mutable std::vector<int32_t> staged; ///< Kept, so that no step allocates.
};

/// Returns element `index` of a pseudo-random permutation of [0, size); `key`
/// chooses it. Constant memory and expected constant time.
int64_t permute(int64_t index, int64_t size, uint64_t key);

} // namespace tessera

#endif // TESSERA_RUNTIME_DATA_DATA_H
