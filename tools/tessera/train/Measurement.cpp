//===- Measurement.cpp - what a model predicts of data --------------------===//

#include "tools/tessera/train/Measurement.h"
#include "tessera/Program/ProgramJson.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace tessera;

void Measurement::add(const tsr_evaluation &batch) {
  if (batch.labels == 0)
    return;
  sum += batch.loss * static_cast<double>(batch.labels);
  labels += batch.labels;
  correct += batch.correct;
  loss = sum / static_cast<double>(labels);
}

double Measurement::perplexity() const { return std::exp(loss); }

double Measurement::accuracy() const {
  return static_cast<double>(correct) / static_cast<double>(labels);
}

double Measurement::bitsPerByte() const {
  return loss / std::log(2.0) *
         (static_cast<double>(labels) / static_cast<double>(bytes));
}

std::string Measurement::text() const {
  char bits[40] = "", text[160];
  if (bytes)
    std::snprintf(bits, sizeof bits, ", %.4f bits per byte", bitsPerByte());
  std::snprintf(text, sizeof text,
                "loss %.4f, perplexity %.4g%s, accuracy %.2f %% of %lld labels",
                loss, perplexity(), bits, 100 * accuracy(),
                static_cast<long long>(labels));
  return text;
}

static bool failAt(int64_t number) {
  return !printError("batch " + std::to_string(number + 1) +
                     " of the evaluation: " + tsr_last_error());
}

/// Returns whether the program counts labels, so that a batch may have fewer
/// sequences than rows.
static bool countsLabels(const tsr_artifact *artifact) {
  llvm::Expected<program::Program> read =
      program::readProgram(tsr_artifact_metadata(artifact));
  if (!read) {
    llvm::consumeError(read.takeError()); // The runtime has parsed it, too.
    return false;
  }
  return llvm::any_of(read->tensors, [](const program::Tensor &tensor) {
    return tensor.role == "output" && tensor.name == "evaluation_count";
  });
}

bool EvaluationData::countBatches(int64_t wanted, int64_t length) {
  count = isWhole ? sequences() / rows : (sequences() + rows - 1) / rows;
  if (count == 0)
    return !printError("the data of the evaluation has " +
                       std::to_string(sequences()) + " sequences of " +
                       std::to_string(length) + " tokens, a batch has " +
                       std::to_string(rows) +
                       ", and the program counts the labels of all; use a "
                       "smaller --batch, compile an older artifact again, or "
                       "use more data");
  if (wanted > count)
    return !printError("--eval-batches is " + std::to_string(wanted) +
                       ", but the data of the evaluation has " +
                       std::to_string(count) +
                       (count == 1 ? " batch" : " batches") +
                       "; use at most as many, or more data");
  if (wanted)
    count = wanted;
  return true;
}

bool EvaluationData::open(const RunSettings &options,
                          const tsr_artifact *artifact, tsr_session *session,
                          const std::vector<std::string> &compared) {
  data = openEvaluationData(options, dataSizesOf(artifact));
  if (!data)
    return false;
  rows = tsr_artifact_batch(artifact);
  columns = tsr_artifact_columns(artifact);
  isWhole = !countsLabels(artifact);
  if (!countBatches(options.evalBatches, tsr_artifact_sequence(artifact)))
    return false;
  bool isText = isOfBytes(data.get());
  if (isText && !options.evalTokenizer.empty())
    return !printError("--tokenizer is for data of tokens, but that of the "
                       "evaluation is text, whose tokens are bytes; leave it "
                       "out");
  if (!isText && !labelBytes.open(options, artifact))
    return false;
  ofBytes = isText && !isMasked(artifact);
  return isReadable() && (compared.empty() ||
                          compareData(options, session, data.get(), compared));
}

bool EvaluationData::read(int64_t number) {
  batch.resize(rows * columns);
  if (tsr_data_batch(data.get(), number, rows, batch.data()) != TSR_OK)
    return failAt(number);
  batch.resize(std::min(rows, sequences() - number * rows) * columns);
  return true;
}

/// The hash is a sum over sequences, so that batches do not change it.
void EvaluationData::addToHash() {
  for (size_t row = 0; row < batch.size(); row += columns)
    hash += llvm::xxh3_64bits(
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(batch.data() + row),
                       columns * sizeof(int32_t)));
}

std::string EvaluationData::identity() const {
  char text[80];
  std::snprintf(text, sizeof text, "%016llx, %lld sequences of %lld tokens",
                static_cast<unsigned long long>(hash),
                static_cast<long long>(std::min(count * rows, sequences())),
                static_cast<long long>(columns));
  return text;
}

/// Returns whether the data can be read: a failure must not end a run after
/// hours.
bool EvaluationData::isReadable() {
  hash = 0;
  for (int64_t number = count; number-- > 0;) {
    if (!read(number) || !labelBytes.add(batch, columns))
      return false;
    addToHash();
  }
  return true;
}

bool EvaluationData::readTogether(int64_t number, tsr_session *session,
                                  Stopping *stopping) {
  bool isRead = read(number);
  if (!stopping)
    return isRead;
  if (!isRead) // The others would wait for this process's part of the batch.
    stopping->fail();
  return stopping->agree(session) && !stopping->hasFailed();
}

bool EvaluationData::measure(tsr_session *session, Measurement &result,
                             Stopping *stopping) {
  result = {};
  for (int64_t number = 0; number < count; ++number) {
    if (!readTogether(number, session, stopping))
      return false;
    if (stopping && stopping->isAgreed())
      return true;
    tsr_evaluation measured;
    if (tsr_session_evaluate(session, batch.data(), batch.size(), number,
                             &measured) != TSR_OK)
      return failAt(number);
    result.add(measured);
  }
  // No data ends a run, but a loss of 0 would be the best of all.
  if (result.labels == 0)
    result.loss = std::nan("");
  result.bytes = ofBytes ? result.labels : labelBytes.count();
  return true;
}
