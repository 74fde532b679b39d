//===- Generator.h - a model that continues texts ---------------*- C++ -*-===//
// Requests come from any thread; one thread runs steps.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_GENERATE_GENERATOR_H
#define TESSERA_RUNTIME_GENERATE_GENERATOR_H

#include "runtime/generate/RequestChecks.h"
#include "runtime/generate/Scheduler.h"
#include "runtime/generate/StepCandidates.h"
#include "runtime/session/Session.h"

#include <condition_variable>
#include <map>
#include <mutex>

namespace tessera {

/// A token of a request, or its end.
struct Generated {
  int64_t request = 0;
  int32_t token = -1; ///< -1: none, it has ended without one.
  double logProbability = 0;
  Ending ending = Ending::None;
  std::vector<tsr_alternative> alternatives;
  Listener listener;
};

/// The scores of a request: those of all tokens, or why there are none.
struct Scored {
  int64_t request = 0;
  Ending ending = Ending::None;
  std::vector<tsr_token_score> scores;
  ScoreListener listener;
};

class Generator {
public:
  /// TSR_UNSUPPORTED: the artifact has no such programs; or its ranks are
  /// processes.
  Generator(const Artifact &artifact, const SessionOptions &options);
  /// With the parameters of a session, which outlives it and has no other
  /// generator.
  explicit Generator(Session &session);
  ~Generator();

  /// Its parameters are to be loaded before the first step.
  Session &session() { return used; }

  /// Adds a request, from any thread. TSR_INVALID_ARGUMENT: no or too many
  /// tokens, one outside the vocabulary, options that are none.
  int64_t add(const int32_t *prompt, size_t count,
              const RequestOptions &options);
  /// Adds a text whose tokens [given, count) are scored, from any thread.
  /// TSR_UNSUPPORTED: the artifact has no such program; TSR_INVALID_ARGUMENT as
  /// in add.
  int64_t score(const int32_t *tokens, size_t count, size_t given,
                const ScoreOptions &options);
  /// Writes the scores of such a request, once, from any thread; returns how it
  /// has ended. Nothing is written if they are not complete.
  Ending takeScores(int64_t request, tsr_token_score *out, size_t count);
  /// Ends a request before the next step, from any thread. False: there is
  /// none, or it has ended.
  bool cancel(int64_t request);
  /// Takes the next token of any request, from any thread; false: there is none
  /// yet.
  bool next(Generated &out);
  /// Returns how many requests wait or run, from any thread.
  int64_t active() const;
  /// Returns that once there is one, or after `milliseconds`, below 0: never
  /// without one.
  int64_t wait(int64_t milliseconds);

  /// Runs one step; returns the rows that it had, 0: there is nothing to do.
  /// Then calls the listeners of what was made.
  int64_t step();

  /// Returns the tokens of prompts that no step ran: their keys and values were
  /// there.
  int64_t reused() const;
  /// Returns the most probability, over the tokens so far, that top_p or min_p
  /// would have kept beyond the artifact's candidates.
  double leftOut() const;

  const Generation &generation() const { return sizes; }
  /// Runs rows that the caller has placed, and reads the logits of the step,
  /// [lanes, slots, vocabulary]; none of an artifact whose steps leave
  /// candidates. TSR_INVALID_ARGUMENT: there are requests; the rows are not
  /// what a step can run.
  void runPlaced(const StepRows &rows, double *out, size_t count);
  /// Runs rows with labels likewise; returns the scores of each lane's rows in
  /// turn.
  std::vector<tsr_token_score> scorePlaced(const StepRows &rows);
  /// Sets how the token after a slot's row is chosen in such steps, for
  /// artifacts whose steps leave candidates.
  void placeSampling(int64_t lane, int64_t slot, const Sampling &sampling,
                     const std::vector<int32_t> &text);
  /// Encodes the source of a text whose rows follow in its slot.
  /// TSR_UNSUPPORTED: the model has no encoder.
  void placeSource(const SourceOfStep &source);

private:
  struct Inputs;
  void checkIdle(const char *what) const;
  void endCancelled();
  int64_t runPlanned();
  void tellListeners();
  void run(const StepRows &rows);
  void encode(std::vector<SourceOfStep> sources);
  void runEncoder(const std::vector<SourceOfStep> &sources);
  void takeNote(const StepRows &rows);
  SamplingInputs samplingOf(const StepRows &rows);
  const TensorInfo &logitsOfStep() const;
  template <class Logit> void deliver(const StepRows &rows);
  void deliverBest(const StepRows &rows);
  template <class Choose>
  void acceptEach(const StepRows &rows, const Choose &choose);
  void accept(Request &request, Choice choice);
  void give(Generated made);
  void end(Request &request, Generated last);
  std::vector<tsr_token_score> readScores(const StepRows &rows) const;
  void deliverScores(const StepRows &rows);
  void endScored(Request &request, Ending ending);

  void fork(const std::vector<Fork> &forks);

  std::unique_ptr<Session> owned; ///< Null: the session is somebody else's.
  Session &used;
  /// The session's changes at which slots were filled.
  int64_t knownChanges = -1;
  Generation sizes;
  RequestChecks checks;
  SlotGuard guard;
  Sampler sampler;
  std::string program; ///< The program that ran last.
  SamplingInputs placedSampling;

  mutable std::mutex mutex; ///< Guards the members below.
  Scheduler scheduler;
  std::deque<Generated> results; ///< Results that nobody has asked for yet.
  std::vector<Generated> told;   ///< To listeners, after the step.
  /// The scores of each request; kept as `results`.
  std::map<int64_t, Scored> scored;
  std::vector<Scored> toldScores;
  int64_t lastId = -1, reusedTokens = 0;
  double mostLeftOut = 0;
  std::condition_variable added;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_GENERATE_GENERATOR_H
