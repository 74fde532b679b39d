#include "runtime/generate/RequestChecks.h"

#include "runtime/support/Status.h"

#include <cmath>

namespace tessera {

/// Refuses what needs more candidates than the steps of the artifact leave.
static void checkKept(const Sampling &sampling, int64_t candidates) {
  for (auto [name, count] : {std::pair("top_k", sampling.topK),
                             std::pair("alternatives", sampling.alternatives)})
    if (count > candidates)
      fail(TSR_INVALID_ARGUMENT, name, " is ", count,
           ", but steps of the artifact leave the ", candidates,
           " most probable tokens; ask for at most as many, or compile the "
           "model with --candidates ",
           count, ", or without");
}

void RequestChecks::checkSampling(const Sampling &sampling) const {
  auto refuse = [](const char *what, double value, const char *range) {
    fail(TSR_INVALID_ARGUMENT, what, " is ", value, ", it must be ", range);
  };
  // Logits that are divided by less may overflow.
  constexpr double smallest = 1e-30;
  const double temperature = sampling.temperature;
  if (!(temperature == 0 || temperature >= smallest) ||
      !std::isfinite(temperature))
    refuse("the temperature", temperature,
           "0 (always the most probable token) or at least 1e-30");
  if (!(sampling.topP > 0 && sampling.topP <= 1))
    refuse("top_p", sampling.topP, "above 0 and at most 1");
  if (!(sampling.minP >= 0 && sampling.minP <= 1))
    refuse("min_p", sampling.minP, "in [0, 1]");
  if (sampling.topK < 0)
    fail(TSR_INVALID_ARGUMENT, "top_k is ", sampling.topK,
         ", it must be 0 (all) or more");
  if (!(sampling.repetitionPenalty >= 0.01 &&
        sampling.repetitionPenalty <= 100))
    refuse("the repetition penalty", sampling.repetitionPenalty,
           "from 0.01 to 100; 1 is none");
  if (sampling.alternatives < 0 || sampling.alternatives > vocabulary)
    fail(TSR_INVALID_ARGUMENT, "alternatives is ", sampling.alternatives,
         ", it must be from 0 to ", vocabulary, ", the size of the vocabulary");
  if (sizes.candidates)
    checkKept(sampling, sizes.candidates);
}

void RequestChecks::checkTokens(const char *what, const int32_t *tokens,
                                size_t count) const {
  for (size_t i = 0; i < count; ++i)
    if (tokens[i] < 0 || tokens[i] >= vocabulary)
      fail(TSR_INVALID_ARGUMENT, "token ", tokens[i], " at position ", i,
           " of the ", what, " is outside of the vocabulary of ", vocabulary,
           "; use the tokenizer that the model was trained with");
}

void RequestChecks::checkSource(const int32_t *source, size_t count) const {
  if (count == 0)
    fail(TSR_INVALID_ARGUMENT, "the source has no token; give at least one");
  if (static_cast<int64_t>(count) > sizes.source)
    fail(TSR_INVALID_ARGUMENT, "the source has ", count, " tokens, of at most ",
         sizes.source,
         " that one may have; compile the model with a larger --max-length, or "
         "with train,generate a larger --seq-length");
  checkTokens("source", source, count);
}

void RequestChecks::checkRequest(const int32_t *prompt, size_t count,
                                 const RequestOptions &options) const {
  if (sizes.source > 0) {
    checkSource(prompt, count);
    count = 1; // one token begins every text
  }
  if (count == 0)
    fail(TSR_INVALID_ARGUMENT, "the prompt has no token; give at least "
                               "one, e.g. one that begins a text");
  if (static_cast<int64_t>(count) >= sizes.places)
    fail(TSR_INVALID_ARGUMENT, "the prompt has ", count, " tokens, of at most ",
         sizes.places - 1, " before a new one: a request has place for ",
         sizes.places,
         "; shorten it, or compile the model with a larger --max-length, of at "
         "most as many tokens as it has positions");
  if (sizes.source == 0)
    checkTokens("prompt", prompt, count);
  if (options.maxNewTokens < 0)
    fail(TSR_INVALID_ARGUMENT, "max_new_tokens is ", options.maxNewTokens,
         ", it must be 0 (as many as fit) or more");
  checkSampling(options.sampling);
}

void RequestChecks::checkScored(const int32_t *tokens, size_t count,
                                size_t given) const {
  if (sizes.source > 0)
    fail(TSR_UNSUPPORTED, "a text of a model with an encoder cannot be scored "
                          "without its source; use an evaluation of source and "
                          "text (tsr_session_evaluate_batch)");
  if (given < 1 || given >= count)
    fail(TSR_INVALID_ARGUMENT, given, " of the ", count,
         " tokens are given; it must be at least one and fewer than all");
  if (static_cast<int64_t>(count) > sizes.places + 1)
    fail(TSR_INVALID_ARGUMENT, "the text has ", count, " tokens, of at most ",
         sizes.places + 1,
         " that can be scored; compile the model with a larger --max-length, "
         "or with train,generate a larger --seq-length");
  checkTokens("text", tokens, count);
}

void RequestChecks::checkRows(const StepRows &step) const {
  if (step.mostRows() > sizes.mixedRows())
    fail(TSR_INVALID_ARGUMENT, "a lane has ", step.mostRows(),
         " rows, a step at most ", sizes.mixedRows());
  for (const auto &lane : step.rows)
    for (const RowOfStep &row : lane)
      if (row.token < 0 || row.token >= vocabulary)
        fail(TSR_INVALID_ARGUMENT, "token ", row.token,
             " is outside of the vocabulary of ", vocabulary);
      else if (row.label >= vocabulary)
        fail(TSR_INVALID_ARGUMENT, "label ", row.label,
             " is outside of the vocabulary of ", vocabulary);
      else if (row.label >= 0 && row.isNobodys())
        fail(TSR_INVALID_ARGUMENT, "nobody's row has label ", row.label,
             "; give it -1");
}

void RequestChecks::checkPlace(int64_t lane, int64_t slot) const {
  if (lane < 0 || lane >= sizes.lanes || slot < 0 || slot >= sizes.slots)
    fail(TSR_INVALID_ARGUMENT, "slot ", slot, " of lane ", lane,
         " is not one of the ", sizes.slots, " of each of ", sizes.lanes,
         " lanes");
}

} // namespace tessera
