#include "runtime/session/Scoring.h"

#include "runtime/support/Status.h"

#include <algorithm>

namespace tessera {

static void checkModel(const Model &model) {
  if (model.maskToken || model.decoder)
    fail(TSR_UNSUPPORTED,
         "texts are scored by causal models, which predict every token from "
         "those before it; this model is another one");
  if (!model.causalIgnores)
    fail(TSR_UNSUPPORTED, "the artifact counts all labels; compile the model "
                          "with --ignore-labels");
}

static void checkText(const Model &model, size_t count, size_t given) {
  if (given < 1 || given >= count)
    fail(TSR_INVALID_ARGUMENT, given, " of the ", count,
         " tokens are given; it must be at least one and fewer than all");
  if (static_cast<int64_t>(count) > model.sequence + 1)
    fail(TSR_INVALID_ARGUMENT, "the text has ", count, " tokens, of at most ",
         model.sequence + 1,
         " that the program takes; compile the model with a larger "
         "--seq-length");
}

Score scoreText(Session &session, const int32_t *tokens, size_t count,
                size_t given) {
  constexpr int32_t ignored = -100;
  const Model &model = session.metadata().model;
  checkModel(model);
  checkText(model, count, given);
  std::vector<int32_t> ids(model.batch * model.sequence, 0);
  std::vector<int32_t> labels(ids.size(), ignored);
  // Positions after the text do not reach it, because the model is causal.
  std::copy_n(tokens, count - 1, ids.begin());
  std::copy(tokens + given, tokens + count,
            labels.begin() + static_cast<std::ptrdiff_t>(given) - 1);
  tsr_batch batch = {sizeof batch, ids.data(), labels.data(),
                     nullptr,      nullptr,    nullptr};
  const tsr_evaluation found = session.evaluate(batch);
  return {-found.loss * static_cast<double>(found.labels), found.correct};
}

} // namespace tessera
