//===- Measurement.h - what a model predicts of data ------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_MEASUREMENT_H
#define TESSERA_TOOLS_TESSERA_TRAIN_MEASUREMENT_H

#include "tessera/tessera.h"
#include "tools/tessera/train/LabelBytes.h"
#include "tools/tessera/train/OpenData.h"
#include "tools/tessera/train/Stopping.h"
#include <algorithm>
#include <string>
#include <vector>

namespace tessera {

/// Over several batches.
struct Measurement {
  double sum = 0;  ///< Loss of all labels that count, in nats.
  double loss = 0; ///< Mean over them; 0 if there are none.
  int64_t labels = 0, correct = 0;
  int64_t bytes = 0; ///< Bytes of text that the labels stand for; 0: not known.

  void add(const tsr_evaluation &batch);
  double perplexity() const;
  double accuracy() const; ///< Share of the labels.
  /// Returns the bits per byte. `bytes` must be known.
  double bitsPerByte() const;
  /// "loss 2.3125, perplexity 10.10, accuracy 45.1 % of 8192 labels".
  std::string text() const;
};

/// Data that a model is measured on, always in the same batches.
class EvaluationData {
public:
  /// Opens the data. Prints an error and returns false if it has no batch, or
  /// if the `compared` files, from which it is read, have other tokens in
  /// another process. None of them are compared if training has done that.
  bool open(const RunSettings &options, const tsr_artifact *artifact,
            tsr_session *session, const std::vector<std::string> &compared);
  /// Measures the session's parameters; prints errors. The processes of a run
  /// may agree to stop before each batch, and the result then counts for
  /// nothing.
  bool measure(tsr_session *session, Measurement &result,
               Stopping *stopping = nullptr);

  /// Names the sequences: runs that measure the same ones have the same text.
  std::string identity() const;

  int64_t batches() const { return count; }
  /// Returns how many sequences are in no batch.
  int64_t leftOut() const {
    return std::max<int64_t>(0, sequences() - count * rows);
  }

private:
  void addToHash();
  int64_t sequences() const { return tsr_data_sequences(data.get()); }
  bool countBatches(int64_t wanted, int64_t length);
  /// Reads `batch`, which the last one of the data need not fill.
  bool read(int64_t number);
  /// Reads likewise. Returns whether all processes have, and go on.
  bool readTogether(int64_t number, tsr_session *session, Stopping *stopping);
  /// Reads all batches, whose bytes are counted; the first is read last.
  bool isReadable();

  OpenedData data;
  int64_t count = 0, rows = 0; ///< Batches, and sequences of one.
  int64_t columns = 0;
  bool isWhole = false;
  std::vector<int32_t> batch;
  bool ofBytes = false; ///< A label is a byte of text.
  LabelBytes labelBytes;
  uint64_t hash = 0; ///< Sum of the hashes of all sequences.
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_MEASUREMENT_H
