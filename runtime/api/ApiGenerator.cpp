//===- ApiGenerator.cpp - tsr_generator_* of the C API --------------------===//
#include "runtime/api/Api.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/generate/GenerationConfig.h"
#include "runtime/generate/Generator.h"
#include "runtime/support/Gumbel.h"

#include <algorithm>

using namespace tessera;

tsr_status tsr_artifact_generation_config(const tsr_artifact *artifact,
                                          const char *folder,
                                          tsr_generation_config *out_config) {
  thread_local GenerationConfig read;
  return guarded([&] {
    requirePointer(artifact, "artifact");
    requirePointer(out_config, "out_config");
    const size_t size = takeOptions(out_config, "tsr_generation_config").size;
    read =
        readGenerationConfig(*artifact->content.metadata, folder ? folder : "");
    tsr_generation_config config = {};
    config.size = size;
    config.end_tokens = read.ends.data();
    config.end_count = read.ends.size();
    config.samples = read.samples ? *read.samples : -1;
    config.temperature = read.temperature.value_or(-1);
    config.top_p = read.topP.value_or(-1);
    config.min_p = read.minP.value_or(-1);
    config.top_k = read.topK.value_or(-1);
    config.repetition_penalty = read.repetitionPenalty.value_or(-1);
    config.max_new_tokens = read.maxNewTokens.value_or(-1);
    config.file = read.file.c_str();
    config.not_followed = read.notFollowed.c_str();
    std::memcpy(out_config, &config, std::min(size, sizeof config));
  });
}

struct tsr_generator {
  tsr_generator(const Artifact &artifact, const SessionOptions &options)
      : content(artifact, options) {}
  explicit tsr_generator(Session &session) : content(session) {}
  Generator content;
};

static_assert(TSR_ENDED_STOP == static_cast<int>(Ending::Stop) &&
              TSR_ENDED_LENGTH == static_cast<int>(Ending::Length) &&
              TSR_ENDED_CANCELLED == static_cast<int>(Ending::Cancelled) &&
              TSR_ENDED_FAILED == static_cast<int>(Ending::Failed) &&
              TSR_ENDED_SCORED == static_cast<int>(Ending::Scored));

tsr_status tsr_generator_create(const tsr_artifact *artifact,
                                const tsr_session_options *options,
                                const char *weights,
                                tsr_generator **out_generator) {
  return guarded([&] {
    requirePointer(artifact, "artifact");
    requirePointer(out_generator, "out_generator");
    auto made = std::make_unique<tsr_generator>(artifact->content,
                                                takeSessionOptions(options));
    if (weights)
      loadWeights(made->content.session(), weights);
    else
      made->content.session().initialize();
    *out_generator = made.release();
  });
}

tsr_status tsr_generator_create_on(tsr_session *session,
                                   tsr_generator **out_generator) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(out_generator, "out_generator");
    *out_generator = new tsr_generator(session->content);
  });
}

void tsr_generator_destroy(tsr_generator *generator) { delete generator; }

const char *tsr_generator_notes(tsr_generator *generator) {
  return generator->content.session().notes().c_str();
}

static RequestOptions requestOptions(const tsr_request_options *given) {
  tsr_request_options own = takeOptions(given, "tsr_request_options");
  RequestOptions options;
  options.maxNewTokens = own.max_new_tokens;
  options.sampling.temperature = own.temperature;
  options.sampling.topK = own.top_k;
  options.sampling.topP = own.top_p == 0 ? 1 : own.top_p;
  options.sampling.minP = own.min_p;
  options.sampling.seed = own.seed;
  options.sampling.repetitionPenalty =
      own.repetition_penalty == 0 ? 1 : own.repetition_penalty;
  options.sampling.alternatives = own.alternatives;
  options.listener = {own.on_token, own.context};
  options.isRecomputed = own.recompute_prompt != 0;
  if (own.stop_count > 0)
    requirePointer(own.stop_tokens, "stop_tokens");
  options.stops.assign(own.stop_tokens, own.stop_tokens + own.stop_count);
  return options;
}

tsr_status tsr_generator_add(tsr_generator *generator, const int32_t *prompt,
                             size_t count, const tsr_request_options *options,
                             int64_t *out_request) {
  return guarded([&] {
    requirePointer(generator, "generator");
    requirePointer(out_request, "out_request");
    if (count > 0)
      requirePointer(prompt, "prompt");
    *out_request =
        generator->content.add(prompt, count, requestOptions(options));
  });
}

static ScoreOptions scoreOptions(const tsr_score_options *given) {
  const tsr_score_options own = takeOptions(given, "tsr_score_options");
  ScoreOptions options;
  options.listener = {own.on_scores, own.context};
  options.isRecomputed = own.recompute_prompt != 0;
  return options;
}

tsr_status tsr_generator_score(tsr_generator *generator, const int32_t *tokens,
                               size_t count, size_t given,
                               const tsr_score_options *options,
                               int64_t *out_request) {
  return guarded([&] {
    requirePointer(generator, "generator");
    requirePointer(out_request, "out_request");
    if (count > 0)
      requirePointer(tokens, "tokens");
    *out_request =
        generator->content.score(tokens, count, given, scoreOptions(options));
  });
}

tsr_status tsr_generator_take_scores(tsr_generator *generator, int64_t request,
                                     tsr_token_score *out_scores, size_t count,
                                     int32_t *out_ended) {
  return guarded([&] {
    requirePointer(generator, "generator");
    requirePointer(out_ended, "out_ended");
    if (count > 0)
      requirePointer(out_scores, "out_scores");
    *out_ended = static_cast<int32_t>(
        generator->content.takeScores(request, out_scores, count));
  });
}

tsr_status tsr_generator_cancel(tsr_generator *generator, int64_t request) {
  return guarded([&] {
    requirePointer(generator, "generator");
    if (!generator->content.cancel(request))
      fail(TSR_NOT_FOUND, "request ", request,
           " does not run: there is none, or it has ended");
  });
}

tsr_status tsr_generator_step(tsr_generator *generator, int64_t *out_rows) {
  return guarded([&] {
    requirePointer(generator, "generator");
    int64_t rows = generator->content.step();
    if (out_rows)
      *out_rows = rows;
  });
}

tsr_status tsr_generator_next(tsr_generator *generator,
                              tsr_generated *out_token, int32_t *out_found) {
  size_t count = 0;
  return tsr_generator_take(generator, out_token, nullptr, 0, &count,
                            out_found);
}

tsr_status tsr_generator_take(tsr_generator *generator,
                              tsr_generated *out_token,
                              tsr_alternative *out_alternatives, size_t room,
                              size_t *out_count, int32_t *out_found) {
  return guarded([&] {
    requirePointer(generator, "generator");
    requirePointer(out_token, "out_token");
    requirePointer(out_count, "out_count");
    requirePointer(out_found, "out_found");
    if (room > 0)
      requirePointer(out_alternatives, "out_alternatives");
    Generated token;
    *out_found = generator->content.next(token);
    if (!*out_found)
      return;
    *out_token = {token.request, token.token, static_cast<int>(token.ending),
                  token.logProbability};
    *out_count = std::min(room, token.alternatives.size());
    std::copy_n(token.alternatives.begin(), *out_count, out_alternatives);
  });
}

int64_t tsr_generator_active(const tsr_generator *generator) {
  return generator->content.active();
}

int64_t tsr_generator_reused(const tsr_generator *generator) {
  return generator->content.reused();
}

double tsr_generator_left_out(const tsr_generator *generator) {
  return generator->content.leftOut();
}

double tsr_sampling_noise(int64_t seed, int64_t position, int32_t token) {
  return gumbelNoise(gumbelWord(seed, position, token));
}

tsr_status tsr_generator_wait(tsr_generator *generator, int32_t timeout_ms,
                              int64_t *out_active) {
  return guarded([&] {
    requirePointer(generator, "generator");
    const int64_t active = generator->content.wait(timeout_ms);
    if (out_active)
      *out_active = active;
  });
}

/// Returns a tensor of so many elements.
static const TensorInfo &tensorOf(tsr_generator *generator, const char *role,
                                  const char *name, const double *values,
                                  size_t count) {
  requirePointer(generator, "generator");
  requirePointer(role, "role");
  requirePointer(name, "name");
  requirePointer(values, "values");
  const TensorInfo &tensor = generator->content.session().tensor(role, name);
  if (count != static_cast<size_t>(tensor.elements()))
    fail(TSR_INVALID_ARGUMENT, tensor.describe(), " has ", tensor.elements(),
         " elements, but the call has ", count);
  return tensor;
}

tsr_status tsr_generator_read(tsr_generator *generator, const char *role,
                              const char *name, double *values, size_t count) {
  return guarded([&] {
    const TensorInfo &tensor = tensorOf(generator, role, name, values, count);
    generator->content.session().read(tensor, values);
  });
}

tsr_status tsr_generator_write(tsr_generator *generator, const char *role,
                               const char *name, const double *values,
                               size_t count) {
  return guarded([&] {
    const TensorInfo &tensor = tensorOf(generator, role, name, values, count);
    generator->content.session().write(tensor, values);
  });
}

/// Returns the rows lane by lane; a slot's last row is the one whose logits are
/// wanted.
static StepRows placedRows(const Generation &sizes, const tsr_row *rows,
                           size_t count) {
  StepRows step(sizes);
  for (size_t k = 0; k < count; ++k) {
    const tsr_row &row = rows[k];
    if (row.lane < 0 || row.lane >= sizes.lanes)
      fail(TSR_INVALID_ARGUMENT, "row ", k, " is in lane ", row.lane, " of ",
           sizes.lanes);
    if (row.slot >= sizes.slots || (row.slot < 0) != (row.text < 0))
      fail(TSR_INVALID_ARGUMENT, "row ", k, " of text ", row.text,
           " is in slot ", row.slot, " of ", sizes.slots,
           "; nobody's row has text and slot -1");
    auto &lane = step.rows[row.lane];
    if (row.is_last && row.slot >= 0)
      step.last[row.lane][row.slot] = static_cast<int32_t>(lane.size());
    lane.push_back({row.text < 0 ? -1 : row.text, row.slot < 0 ? -1 : row.slot,
                    row.position, row.token});
  }
  return step;
}

tsr_status tsr_generator_run_rows(tsr_generator *generator, const tsr_row *rows,
                                  size_t row_count, double *out_logits,
                                  size_t logit_count) {
  return guarded([&] {
    requirePointer(generator, "generator");
    if (logit_count > 0)
      requirePointer(out_logits, "out_logits");
    if (row_count > 0)
      requirePointer(rows, "rows");
    Generator &content = generator->content;
    content.runPlaced(placedRows(content.generation(), rows, row_count),
                      out_logits, logit_count);
  });
}

tsr_status tsr_generator_place_sampling(tsr_generator *generator, int64_t lane,
                                        int64_t slot,
                                        const tsr_request_options *options,
                                        const int32_t *text, size_t count) {
  return guarded([&] {
    requirePointer(generator, "generator");
    if (count > 0)
      requirePointer(text, "text");
    generator->content.placeSampling(lane, slot,
                                     requestOptions(options).sampling,
                                     std::vector<int32_t>(text, text + count));
  });
}

tsr_status tsr_generator_place_source(tsr_generator *generator, int64_t text,
                                      int64_t lane, int64_t slot,
                                      const int32_t *source, size_t count) {
  return guarded([&] {
    requirePointer(generator, "generator");
    if (count > 0)
      requirePointer(source, "source");
    generator->content.placeSource(
        {text, lane, slot, std::vector<int32_t>(source, source + count)});
  });
}

tsr_status tsr_generator_score_rows(tsr_generator *generator,
                                    const tsr_row *rows, const int32_t *labels,
                                    size_t row_count,
                                    tsr_token_score *out_scores) {
  return guarded([&] {
    requirePointer(generator, "generator");
    if (row_count == 0)
      return;
    requirePointer(rows, "rows");
    requirePointer(labels, "labels");
    requirePointer(out_scores, "out_scores");
    Generator &content = generator->content;
    StepRows step = placedRows(content.generation(), rows, row_count);
    step.scores = true;
    std::vector<size_t> next(step.rows.size(), 0), first(next);
    for (size_t k = 0; k < row_count; ++k)
      step.rows[rows[k].lane][next[rows[k].lane]++].label =
          labels[k] < 0 ? -1 : labels[k];
    const std::vector<tsr_token_score> scores = content.scorePlaced(step);
    for (size_t lane = 1; lane < first.size(); ++lane)
      first[lane] = first[lane - 1] + step.rows[lane - 1].size();
    for (size_t k = 0; k < row_count; ++k)
      out_scores[k] = scores[first[rows[k].lane]++];
  });
}
