//===- Measurement.cpp - what a model predicts of data --------------------===//

#include "tools/tessera/train/Measurement.h"
#include "tools/tessera/report/PrintError.h"
#include <algorithm>
#include <cmath>

using namespace tessera;

void Measurement::add(const tsr_evaluation &batch) {
  auto share = static_cast<double>(batch.labels) /
               static_cast<double>(labels + batch.labels);
  loss += (batch.loss - loss) * share;
  labels += batch.labels;
  correct += batch.correct;
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

bool EvaluationData::open(const DriverOptions &options,
                          const tsr_artifact *artifact, tsr_session *session) {
  data = openEvaluationData(options, {tsr_artifact_sequence(artifact),
                                      tsr_artifact_target(artifact),
                                      tsr_artifact_vocabulary(artifact)});
  if (!data)
    return false;
  rows = tsr_artifact_batch(artifact);
  count = sequences() / rows;
  if (count == 0)
    return !printError("the data of the evaluation has " +
                       std::to_string(sequences()) + " sequences of " +
                       std::to_string(tsr_artifact_sequence(artifact)) +
                       " tokens, a batch has " + std::to_string(rows) +
                       "; use more data, or a smaller --batch or --seq-length");
  if (options.evalBatches > count)
    return !printError(
        "--eval-batches is " + std::to_string(options.evalBatches) +
        ", but the data of the evaluation has " + std::to_string(count) +
        (count == 1 ? " batch" : " batches") +
        "; use at most as many, or more data");
  if (options.evalBatches)
    count = options.evalBatches;
  batch.resize(rows * tsr_artifact_columns(artifact));
  bool isText = isOfBytes(data.get());
  if (isText && !options.evalTokenizer.empty())
    return !printError("--tokenizer is for data of tokens, but that of the "
                       "evaluation is text, whose tokens are bytes; leave it "
                       "out");
  if (!isText && !labelBytes.open(options, artifact))
    return false;
  ofBytes = isText && !isMasked(artifact);
  return isReadable() && (options.launch.isAlone() ||
                          agreeOnTokens(session, data.get(), batch));
}

/// What cannot be read must not end a run after hours.
bool EvaluationData::isReadable() {
  for (int64_t number = count; number-- > 0;) {
    if (tsr_data_batch(data.get(), number, rows, batch.data()) != TSR_OK)
      return failAt(number);
    if (!labelBytes.add(batch, rows))
      return false;
  }
  return true;
}

bool EvaluationData::read(int64_t number, tsr_session *session,
                          Stopping *stopping) {
  bool isRead =
      tsr_data_batch(data.get(), number, rows, batch.data()) == TSR_OK ||
      failAt(number);
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
    if (!read(number, session, stopping))
      return false;
    if (stopping && stopping->isAgreed())
      return true;
    tsr_evaluation measured;
    if (tsr_session_evaluate(session, batch.data(), batch.size(), number,
                             &measured) != TSR_OK)
      return failAt(number);
    result.add(measured);
  }
  result.bytes = ofBytes ? result.labels : labelBytes.count();
  return true;
}
