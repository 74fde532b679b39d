//===- tessera.hpp - C++ wrapper of the C API -------------------*- C++ -*-===//
// Header only, C++17. Owns the objects and turns status codes into exceptions,
// which are thrown on the caller's side: nothing but C crosses the library's
// boundary. Thread-safety as in tessera.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_HPP
#define TESSERA_HPP

#include "tessera/tessera.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tessera {

/// A failed call: its code, and its message as what().
class Exception : public std::runtime_error {
public:
  Exception(tsr_status status, const std::string &message)
      : std::runtime_error(message), code(status) {}
  tsr_status status() const noexcept { return code; }

private:
  tsr_status code;
};

namespace detail {
inline void check(tsr_status status) {
  if (status != TSR_OK)
    throw Exception(status, tsr_last_error());
}
struct Destroy {
  void operator()(tsr_artifact *object) const { tsr_artifact_destroy(object); }
  void operator()(tsr_session *object) const { tsr_session_destroy(object); }
  void operator()(tsr_data *object) const { tsr_data_destroy(object); }
  void operator()(tsr_generator *object) const {
    tsr_generator_destroy(object);
  }
};
template <class T> using Handle = std::unique_ptr<T, Destroy>;
} // namespace detail

/// A compiled program with its plan.
class Artifact {
public:
  explicit Artifact(const std::string &path) {
    tsr_artifact *raw = nullptr;
    detail::check(tsr_artifact_load(path.c_str(), &raw));
    handle.reset(raw);
  }
  /// It must be signed by one of the keys in these PEM files.
  Artifact(const std::string &path,
           const std::vector<std::string> &trustedKeys) {
    std::vector<const char *> keys;
    for (const std::string &key : trustedKeys)
      keys.push_back(key.c_str());
    tsr_artifact *raw = nullptr;
    detail::check(tsr_artifact_load_trusted(path.c_str(), keys.data(),
                                            keys.size(), &raw));
    handle.reset(raw);
  }

  /// Returns the fingerprint of the key that signed it; "": unsigned.
  std::string signer() const {
    const char *fingerprint = nullptr;
    detail::check(tsr_artifact_signer(get(), &fingerprint));
    return fingerprint;
  }
  /// Returns the metadata as JSON, docs/Artifact.md.
  std::string metadata() const { return tsr_artifact_metadata(get()); }
  std::int64_t ranks() const { return tsr_artifact_ranks(get()); }
  std::int64_t batch() const { return tsr_artifact_batch(get()); }
  std::int64_t sequence() const { return tsr_artifact_sequence(get()); }
  /// Returns the tokens of a target in an encoder-decoder model; 0: it is none.
  std::int64_t target() const { return tsr_artifact_target(get()); }
  /// Returns the tokens per sequence that a step reads.
  std::int64_t columns() const { return tsr_artifact_columns(get()); }
  std::int64_t vocabulary() const { return tsr_artifact_vocabulary(get()); }
  const tsr_artifact *get() const { return handle.get(); }

private:
  detail::Handle<tsr_artifact> handle;
};

/// Returns the defaults of tsr_session_options.
inline tsr_session_options sessionOptions() {
  tsr_session_options options = {};
  options.size = sizeof options;
  return options;
}

class Data;

/// The ranks of one artifact in training; may outlive the Artifact.
class Session {
public:
  explicit Session(const Artifact &artifact,
                   const tsr_session_options &options = sessionOptions()) {
    tsr_session *raw = nullptr;
    detail::check(tsr_session_create(artifact.get(), &options, &raw));
    handle.reset(raw);
  }

  void init() { detail::check(tsr_session_init(get())); }
  void setSchedule(tsr_schedule schedule) {
    schedule.size = sizeof schedule;
    detail::check(tsr_session_set_schedule(get(), &schedule));
  }
  /// Runs a step on tokens [batch, columns of the artifact].
  tsr_step_result step(const std::vector<std::int32_t> &tokens) {
    tsr_step_result result;
    detail::check(
        tsr_session_step(get(), tokens.data(), tokens.size(), &result));
    return result;
  }
  /// Records the next step as a Chrome trace.
  void trace(const std::string &path) {
    detail::check(tsr_session_trace(get(), path.c_str()));
  }
  /// ids, labels, token types: [batch, sequence], as tsr_batch says; no token
  /// types: all 0. Labels of an encoder-decoder model: [batch, target].
  tsr_step_result step(const std::vector<std::int32_t> &ids,
                       const std::vector<std::int32_t> &labels,
                       const std::vector<std::int32_t> &tokenTypes = {}) {
    tsr_batch batch = batchOf(ids, labels, tokenTypes);
    tsr_step_result result;
    detail::check(tsr_session_step_batch(get(), &batch, &result));
    return result;
  }
  /// Runs a step with all that tsr_batch has; its size need not be set.
  tsr_step_result step(tsr_batch batch) {
    batch.size = sizeof batch;
    tsr_step_result result;
    detail::check(tsr_session_step_batch(get(), &batch, &result));
    return result;
  }
  /// Measures the loss and changes nothing; arguments are as of `step`.
  tsr_evaluation evaluate(const std::vector<std::int32_t> &tokens,
                          std::int64_t number) {
    tsr_evaluation result;
    detail::check(tsr_session_evaluate(get(), tokens.data(), tokens.size(),
                                       number, &result));
    return result;
  }
  tsr_evaluation evaluate(const std::vector<std::int32_t> &ids,
                          const std::vector<std::int32_t> &labels,
                          const std::vector<std::int32_t> &tokenTypes = {}) {
    tsr_batch batch = batchOf(ids, labels, tokenTypes);
    tsr_evaluation result;
    detail::check(tsr_session_evaluate_batch(get(), &batch, &result));
    return result;
  }
  tsr_evaluation evaluate(tsr_batch batch) {
    batch.size = sizeof batch;
    tsr_evaluation result;
    detail::check(tsr_session_evaluate_batch(get(), &batch, &result));
    return result;
  }
  /// Returns the tokens of a text from `given` on, after those before them.
  tsr_score score(const std::vector<std::int32_t> &tokens, std::size_t given) {
    tsr_score result;
    detail::check(
        tsr_session_score(get(), tokens.data(), tokens.size(), given, &result));
    return result;
  }
  /// Returns the largest of all processes' values.
  std::int32_t largest(std::int32_t value) {
    std::int32_t result = value;
    detail::check(tsr_session_largest(get(), value, &result));
    return result;
  }
  std::int64_t nextStep() const { return tsr_session_next_step(get()); }
  std::int64_t seed() const { return tsr_session_seed(get()); }
  std::int64_t sequences() const { return tsr_session_sequences(get()); }
  std::int64_t skippedSteps() const { return tsr_session_skipped_steps(get()); }
  bool hadLabels() const { return tsr_session_had_labels(get()) != 0; }
  std::int64_t expertRounds() const { return tsr_session_expert_rounds(get()); }

  /// Returns a global tensor of `count` elements, widened to f64.
  std::vector<double> read(const std::string &role, const std::string &name,
                           std::size_t count) {
    std::vector<double> values(count);
    detail::check(tsr_session_read(get(), role.c_str(), name.c_str(),
                                   values.data(), count));
    return values;
  }
  void write(const std::string &role, const std::string &name,
             const std::vector<double> &values) {
    detail::check(tsr_session_write(get(), role.c_str(), name.c_str(),
                                    values.data(), values.size()));
  }

  /// Reads the same in f32.
  std::vector<float> readF32(const std::string &role, const std::string &name,
                             std::size_t count) {
    std::vector<float> values(count);
    detail::check(tsr_session_read_f32(get(), role.c_str(), name.c_str(),
                                       values.data(), count));
    return values;
  }
  void writeF32(const std::string &role, const std::string &name,
                const std::vector<float> &values) {
    detail::check(tsr_session_write_f32(get(), role.c_str(), name.c_str(),
                                        values.data(), values.size()));
  }

  void save(const std::string &directory) {
    detail::check(tsr_session_save(get(), directory.c_str()));
  }
  /// Keeps other runs from saving to `directory`.
  void claim(const std::string &directory) {
    detail::check(tsr_session_claim(get(), directory.c_str()));
  }
  /// Saves, and lets the oldest of `count` earlier checkpoints go.
  void saveNewest(const std::string &directory, std::int64_t count) {
    detail::check(tsr_session_save_newest(get(), directory.c_str(), count));
  }
  /// Keeps the newest `count` checkpoints of `directory`.
  void prune(const std::string &directory, std::int64_t count) {
    detail::check(tsr_session_prune(get(), directory.c_str(), count));
  }
  void load(const std::string &directory) {
    detail::check(tsr_session_load(get(), directory.c_str()));
  }
  /// Names the data that the session is trained on, which its checkpoints then
  /// name.
  void useData(const Data &data);
  /// The same, though it may be other data than the checkpoint's.
  void changeData(const Data &data);
  /// Throws if another process has other data here, as for an evaluation.
  void compareData(const Data &data);
  /// Compares any files likewise, whatever their paths.
  void compareFiles(const std::vector<std::string> &paths) {
    std::vector<const char *> names;
    for (const std::string &path : paths)
      names.push_back(path.c_str());
    detail::check(tsr_session_compare_files(get(), names.data(), names.size()));
  }
  /// Returns the notes of the last loadWeights or save, a line each.
  std::string notes() const { return tsr_session_notes(get()); }
  void loadWeights(const std::string &path) {
    detail::check(tsr_session_load_weights(get(), path.c_str()));
  }
  void loadAdapter(const std::string &directory) {
    detail::check(tsr_session_load_adapter(get(), directory.c_str()));
  }
  tsr_session *get() const { return handle.get(); }

private:
  static tsr_batch batchOf(const std::vector<std::int32_t> &ids,
                           const std::vector<std::int32_t> &labels,
                           const std::vector<std::int32_t> &tokenTypes) {
    return {sizeof(tsr_batch), ids.data(),
            labels.data(),     tokenTypes.empty() ? nullptr : tokenTypes.data(),
            nullptr,           nullptr};
  }

  detail::Handle<tsr_session> handle;
};

/// tsr_generation_config, with texts and tokens of its own.
struct GenerationConfig {
  /// Reads the files in `folder`, or those that the artifact holds.
  explicit GenerationConfig(const Artifact &artifact,
                            const std::string &folder = "") {
    values.size = sizeof values;
    detail::check(tsr_artifact_generation_config(
        artifact.get(), folder.empty() ? nullptr : folder.c_str(), &values));
    endTokens.assign(values.end_tokens, values.end_tokens + values.end_count);
    file = values.file;
    notFollowed = values.not_followed;
  }

  std::vector<std::int32_t> endTokens;
  std::string file, notFollowed;
  tsr_generation_config values = {}; ///< Its pointers are not to be used.
};

/// Returns default options of a request, those of tsr_request_options.
inline tsr_request_options requestOptions() {
  tsr_request_options options = {};
  options.size = sizeof options;
  return options;
}

/// Returns default options for scoring a text, those of tsr_score_options.
inline tsr_score_options scoreOptions() {
  tsr_score_options options = {};
  options.size = sizeof options;
  return options;
}

/// A model that continues texts; may outlive the Artifact. `step` is for one
/// thread, everything else for any.
class Generator {
public:
  /// Opens a generator. Without weights parameters are drawn from the seed.
  explicit Generator(const Artifact &artifact, const std::string &weights = "",
                     const tsr_session_options &options = sessionOptions()) {
    tsr_generator *raw = nullptr;
    detail::check(tsr_generator_create(
        artifact.get(), &options, weights.empty() ? nullptr : weights.c_str(),
        &raw));
    handle.reset(raw);
  }
  /// Generates with the parameters of a session, which outlives it.
  explicit Generator(Session &session) {
    tsr_generator *raw = nullptr;
    detail::check(tsr_generator_create_on(session.get(), &raw));
    handle.reset(raw);
  }

  /// Returns the request's number.
  std::int64_t add(const std::vector<std::int32_t> &prompt,
                   const tsr_request_options &options = requestOptions()) {
    std::int64_t request = 0;
    detail::check(tsr_generator_add(get(), prompt.data(), prompt.size(),
                                    &options, &request));
    return request;
  }
  /// Asks how probable the tokens behind the first `given` are; returns the
  /// request's number.
  std::int64_t score(const std::vector<std::int32_t> &tokens, std::size_t given,
                     const tsr_score_options &options = scoreOptions()) {
    std::int64_t request = 0;
    detail::check(tsr_generator_score(get(), tokens.data(), tokens.size(),
                                      given, &options, &request));
    return request;
  }
  /// Fills `scores`, which has an element for each token that the request
  /// scores, if it has ended with TSR_ENDED_SCORED; once.
  tsr_ending takeScores(std::int64_t request,
                        std::vector<tsr_token_score> &scores) {
    std::int32_t ended = TSR_GOES_ON;
    detail::check(tsr_generator_take_scores(get(), request, scores.data(),
                                            scores.size(), &ended));
    return static_cast<tsr_ending>(ended);
  }
  void cancel(std::int64_t request) {
    detail::check(tsr_generator_cancel(get(), request));
  }
  /// Returns the tokens that the step took in; 0: there is nothing to do.
  std::int64_t step() {
    std::int64_t rows = 0;
    detail::check(tsr_generator_step(get(), &rows));
    return rows;
  }
  /// Returns whether there was a token.
  bool next(tsr_generated &token) {
    std::int32_t found = 0;
    detail::check(tsr_generator_next(get(), &token, &found));
    return found != 0;
  }
  /// The same with its alternatives, as many as the request wants.
  bool next(tsr_generated &token, std::vector<tsr_alternative> &alternatives,
            std::size_t most) {
    std::int32_t found = 0;
    std::size_t count = 0;
    alternatives.resize(most);
    detail::check(tsr_generator_take(get(), &token, alternatives.data(), most,
                                     &count, &found));
    alternatives.resize(count);
    return found != 0;
  }
  std::int64_t active() const { return tsr_generator_active(get()); }
  /// Returns the tokens of prompts that no step ran.
  std::int64_t reused() const { return tsr_generator_reused(get()); }
  /// Returns the most probability that candidates have left out of a token's
  /// choice.
  double leftOut() const { return tsr_generator_left_out(get()); }
  /// Returns active() once a request waits or runs, or after so long; below 0:
  /// never without one.
  std::int64_t wait(std::int32_t milliseconds) {
    std::int64_t count = 0;
    detail::check(tsr_generator_wait(get(), milliseconds, &count));
    return count;
  }
  /// Returns the notes from loading the weights, a line each.
  std::string notes() const { return tsr_generator_notes(get()); }
  tsr_generator *get() const { return handle.get(); }

private:
  detail::Handle<tsr_generator> handle;
};

/// A request of a GeneratorThread, whose tokens one thread takes.
class GeneratorRequest {
public:
  struct Token {
    tsr_generated made;
    std::vector<tsr_alternative> alternatives;
  };

  explicit GeneratorRequest(std::int64_t number) : number(number) {}

  /// Takes the next token; false: none has come for so long. One that has an
  /// ending comes last, and comes in any case.
  bool take(Token &token, std::chrono::milliseconds patience) {
    std::unique_lock<std::mutex> lock(mutex);
    if (!added.wait_for(lock, patience, [&] { return !tokens.empty(); }))
      return false;
    token = std::move(tokens.front());
    tokens.pop_front();
    return true;
  }
  void push(Token token) {
    std::lock_guard<std::mutex> lock(mutex);
    tokens.push_back(std::move(token));
    added.notify_one();
  }

  const std::int64_t number;

private:
  std::mutex mutex;
  std::condition_variable added;
  std::deque<Token> tokens;
};

/// A generator with a thread that steps while there are requests. Any thread
/// may add and cancel them.
class GeneratorThread {
public:
  explicit GeneratorThread(
      const Artifact &artifact, const std::string &weights = "",
      const tsr_session_options &options = sessionOptions())
      : generator(artifact, weights, options), thread([this] { run(); }) {}
  GeneratorThread(const GeneratorThread &) = delete;
  GeneratorThread &operator=(const GeneratorThread &) = delete;
  /// Cancels requests that wait or run.
  ~GeneratorThread() {
    stop();
    thread.join();
  }
  /// Cancels them soon. Nothing is added after it.
  void stop() { stopping = true; }

  /// on_token and context of the options are not the caller's. TSR_ABORTED: a
  /// step has failed, what() says why; or it has stopped.
  std::shared_ptr<GeneratorRequest>
  add(const std::vector<std::int32_t> &prompt,
      tsr_request_options options = requestOptions()) {
    options.on_token = push;
    options.context = this;
    std::lock_guard<std::mutex> lock(mutex);
    checkRuns();
    auto request =
        std::make_shared<GeneratorRequest>(generator.add(prompt, options));
    requests[request->number] = request;
    return request;
  }
  /// Scores of the tokens behind the first `given`. Getting them throws
  /// TSR_ABORTED if logits are not numbers, a step fails or this is destroyed.
  std::future<std::vector<tsr_token_score>>
  score(const std::vector<std::int32_t> &tokens, std::size_t given) {
    tsr_score_options options = scoreOptions();
    options.on_scores = pushScores;
    options.context = this;
    std::lock_guard<std::mutex> lock(mutex);
    checkRuns();
    return scored[generator.score(tokens, given, options)].get_future();
  }
  /// Cancels a request; nothing happens if it has ended.
  void cancel(const GeneratorRequest &request) {
    tsr_generator_cancel(generator.get(), request.number);
  }
  std::int64_t active() const { return generator.active(); }
  /// Returns why a step has failed, which ends all requests; "": none has.
  std::string failure() const {
    std::lock_guard<std::mutex> lock(mutex);
    return problem;
  }
  std::string notes() const { return generator.notes(); }

private:
  void checkRuns() const {
    if (hasEnded)
      throw Exception(TSR_ABORTED,
                      problem.empty() ? "the generator has stopped" : problem);
  }
  static void push(void *context, const tsr_generated *made,
                   const tsr_alternative *alternatives, std::size_t count) {
    auto &self = *static_cast<GeneratorThread *>(context);
    std::lock_guard<std::mutex> lock(self.mutex);
    auto found = self.requests.find(made->request);
    found->second->push({*made, {alternatives, alternatives + count}});
    if (made->ended)
      self.requests.erase(found);
  }
  static void pushScores(void *context, std::int64_t request,
                         std::int32_t ended, const tsr_token_score *scores,
                         std::size_t count) {
    auto &self = *static_cast<GeneratorThread *>(context);
    std::lock_guard<std::mutex> lock(self.mutex);
    auto found = self.scored.find(request);
    if (ended == TSR_ENDED_SCORED)
      found->second.set_value({scores, scores + count});
    else
      found->second.set_exception(std::make_exception_ptr(
          Exception(TSR_ABORTED, "logits are not numbers")));
    self.scored.erase(found);
  }
  void run() {
    std::string why;
    try {
      while (!stopping)
        if (generator.wait(100) > 0)
          generator.step();
    } catch (const Exception &error) {
      why = error.what();
    }
    std::lock_guard<std::mutex> lock(mutex);
    problem = why;
    hasEnded = true;
    const auto ending = why.empty() ? TSR_ENDED_CANCELLED : TSR_ENDED_FAILED;
    for (auto &[number, request] : requests)
      request->push({{number, -1, ending, 0}, {}});
    requests.clear();
    for (auto &[number, promise] : scored)
      promise.set_exception(std::make_exception_ptr(Exception(
          TSR_ABORTED, why.empty() ? "the generator has stopped" : why)));
    scored.clear();
  }

  Generator generator;
  mutable std::mutex mutex;
  std::string problem;
  bool hasEnded = false;
  std::map<std::int64_t, std::shared_ptr<GeneratorRequest>> requests;
  std::map<std::int64_t, std::promise<std::vector<tsr_token_score>>> scored;
  std::atomic<bool> stopping{false};
  std::thread thread; // the last: it uses the others
};

/// A token stream in files.
class Data {
public:
  Data(const std::vector<std::string> &paths, tsr_data_options options)
      : columns(options.sequence + (options.target ? options.target : 1)) {
    options.size = sizeof options;
    std::vector<const char *> names;
    for (const std::string &path : paths)
      names.push_back(path.c_str());
    tsr_data *raw = nullptr;
    detail::check(tsr_data_open(names.data(), names.size(), &options, &raw));
    handle.reset(raw);
  }

  /// Tokens of the part that is read.
  std::int64_t tokens() const { return tsr_data_tokens(get()); }
  /// Returns an epoch, or with weights one of each file.
  std::int64_t sequences() const { return tsr_data_sequences(get()); }
  struct File {
    std::int64_t first, tokens; ///< the file's tokens that are read
    double share;               ///< share of all sequences
  };
  File file(std::size_t number) const {
    File found = {};
    detail::check(tsr_data_file(get(), number, &found.first, &found.tokens,
                                &found.share));
    return found;
  }
  /// Returns the bytes of a token; 1 if all files are text.
  std::int64_t tokenBytes() const { return tsr_data_token_bytes(get()); }
  /// Returns how many documents there are; 0 if no file says where its
  /// documents begin.
  std::int64_t documents() const { return tsr_data_documents(get()); }
  struct Document {
    std::int64_t first, tokens; ///< in all files, joined in order
  };
  Document document(std::int64_t number) const {
    Document found = {};
    detail::check(
        tsr_data_document(get(), number, &found.first, &found.tokens));
    return found;
  }
  /// Returns [batch, sequence + 1] tokens of a step; with targets [batch,
  /// sequence + target].
  std::vector<std::int32_t> batch(std::int64_t step, std::int64_t size) const {
    std::vector<std::int32_t> tokens(
        size > 0 ? static_cast<std::size_t>(size * columns) : 1);
    detail::check(tsr_data_batch(get(), step, size, tokens.data()));
    return tokens;
  }
  const tsr_data *get() const { return handle.get(); }

private:
  std::int64_t columns;
  detail::Handle<tsr_data> handle;
};

inline void Session::useData(const Data &data) {
  detail::check(tsr_session_use_data(get(), data.get()));
}

inline void Session::changeData(const Data &data) {
  detail::check(tsr_session_change_data(get(), data.get()));
}

inline void Session::compareData(const Data &data) {
  detail::check(tsr_session_compare_data(get(), data.get()));
}

} // namespace tessera

#endif // TESSERA_HPP
