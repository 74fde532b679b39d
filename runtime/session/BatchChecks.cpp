#include "runtime/session/BatchChecks.h"

#include <vector>

namespace tessera {

void checkTokens(const Model &model, const int32_t *tokens, size_t count) {
  int64_t columns = model.columns();
  size_t expected = static_cast<size_t>(model.batch * columns);
  if (count != expected)
    fail(TSR_INVALID_ARGUMENT, "the step got ", count, " tokens, it takes ",
         expected, " = ", model.batch, " sequences of ", model.sequence, " + ",
         columns - model.sequence, " tokens");
  if (areWithin(tokens, model.batch * columns, model.vocabulary))
    return;
  for (size_t i = 0; i < count; ++i)
    if (tokens[i] < 0 || tokens[i] >= model.vocabulary)
      fail(TSR_INVALID_ARGUMENT, "token ", tokens[i], " at position ",
           i % columns, " of sequence ", i / columns,
           " is outside of the vocabulary of ", model.vocabulary,
           "; use the tokenizer that the model was configured for");
}

void checkRange(const Model &model, const char *what, const int32_t *values,
                int64_t limit) {
  if (areWithin(values, model.batch * model.sequence, limit))
    return;
  for (int64_t i = 0; i < model.batch * model.sequence; ++i)
    if (values[i] < 0 || values[i] >= limit)
      fail(TSR_INVALID_ARGUMENT, what, " ", values[i], " at position ",
           i % model.sequence, " of sequence ", i / model.sequence,
           " is not in [0, ", limit, ")");
}

void checkLabels(const Metadata &metadata, const Tokens &given, LabelUse use) {
  const Model &model = metadata.model;
  const bool mayIgnore =
      model.ignoresLabels() ||
      (use == LabelUse::Evaluation && metadata.evaluationCounts());
  int64_t counted = 0, length = model.labels();
  std::vector<int32_t> labels(model.batch * length);
  given(0, model.batch * length, labels.data());
  for (int64_t i = 0; i < model.batch * length; ++i) {
    counted += labels[i] >= 0;
    if (labels[i] < 0 && !mayIgnore)
      fail(TSR_INVALID_ARGUMENT, "label ", labels[i], " at position ",
           i % length, " of sequence ", i / length,
           " is negative, but the model counts all labels; compile it with "
           "--ignore-labels");
    if (labels[i] >= model.vocabulary)
      fail(TSR_INVALID_ARGUMENT, "label ", labels[i], " at position ",
           i % length, " of sequence ", i / length,
           " is outside of the vocabulary of ", model.vocabulary);
  }
  if (counted == 0)
    fail(TSR_INVALID_ARGUMENT,
         "no label of the batch counts, so there is no loss: all are ",
         model.decoder ? "padding or negative" : "negative",
         ", which is ignored; leave the batch out, or give at least one label "
         "that is a token");
}

int64_t evaluatedSequences(const Metadata &metadata, size_t count) {
  const Model &model = metadata.model;
  const auto given = static_cast<int64_t>(count);
  const int64_t columns = model.columns(), sequences = given / columns;
  if (given < columns || given % columns != 0 || sequences >= model.batch)
    return model.batch; // if it is not, checkTokens says so
  if (!metadata.evaluationCounts())
    fail(TSR_UNSUPPORTED, "the batch has ", sequences, " of ", model.batch,
         " sequences, and the program of the artifact counts the labels of "
         "all; give ",
         model.batch, ", or compile the model again");
  return sequences;
}

} // namespace tessera
