//===- Session.h - the ranks of an artifact, in training
//----------------------===
#ifndef TESSERA_RUNTIME_SESSION_H
#define TESSERA_RUNTIME_SESSION_H

#include "Artifact.h"
#include "RankThreads.h"
#include "Schedule.h"
#include "TensorAccess.h"
#include "ThreadWorld.h"

#include <string>

namespace tessera {

struct SessionOptions {
  std::string device = "cpu";
  std::string communicator = "threads";
  int threads = 0;
  int timeoutMs = 60000;
  int64_t seed = 0;
  bool poison = false;
};

/// Gives the input's element at an index of [batch, sequence], C order.
using TokenAt = std::function<int32_t(int64_t index)>;

/// What one step reads.
struct StepInputs {
  TokenAt ids, labels, tokenTypes, decoderIds;
};

class Session {
public:
  /// TSR_UNSUPPORTED, TSR_NOT_FOUND (plug-in), TSR_OUT_OF_MEMORY.
  Session(const Artifact &artifact, const SessionOptions &options);
  /// On a device that is open already.
  Session(const Artifact &artifact, const SessionOptions &options,
          std::shared_ptr<Device> device);

  void initialize();
  void setSchedule(const Schedule &next);
  tsr_step_result step(const int32_t *tokens, size_t count);
  /// The next step that succeeds is recorded and written to `path`.
  /// TSR_UNSUPPORTED on devices that work behind the host's back.
  void traceNextStep(const std::string &path);
  tsr_step_result step(const tsr_batch &batch);

  /// TSR_NOT_FOUND names what there is no tensor of.
  const TensorInfo &tensor(const std::string &role,
                           const std::string &name) const;
  void read(const TensorInfo &tensor, double *values) const;
  /// A parameter's master gets the same values, unrounded.
  void write(const TensorInfo &tensor, const double *values);
  void readLocal(int64_t rank, const TensorInfo &tensor, double *values) const;

  const Metadata &metadata() const { return *core->metadata; }
  const Ranks &ranks() const { return core->ranks; }
  int64_t nextStep() const { return stepNumber; }
  int64_t seed() const { return seedValue; }
  /// What runs rank 0, for people.
  const std::string &deviceText() const { return deviceDescription; }
  /// The state is defined: parameters can be trained and saved.
  bool isReady() const { return ready; }

  /// Runs `body` on every rank's thread; throws the first failure.
  void onEveryRank(const std::function<void(Rank &)> &body);
  /// After the state was replaced: what comes next.
  void resumeAt(int64_t step, int64_t seed);
  /// TSR_ABORTED with the first message once a step has failed.
  void checkAlive() const;

private:
  /// What a stuck rank's thread may still use when the session is gone.
  struct Core {
    std::shared_ptr<Device> device;
    std::shared_ptr<const Metadata> metadata;
    std::shared_ptr<ThreadWorld> world;
    Ranks ranks;
  };
  static std::shared_ptr<Core> makeCore(const Artifact &artifact,
                                        const SessionOptions &options,
                                        std::shared_ptr<Device> device,
                                        const CorePlan &plan);
  void checkTokens(const int32_t *tokens, size_t count) const;
  void checkReady() const;
  void checkRange(const char *what, const int32_t *values, int64_t limit) const;
  void checkLabels(const TokenAt &labels) const;
  StepInputs inputsOf(const int32_t *tokens) const;
  tsr_step_result stepOn(const StepInputs &inputs);
  void fillInputs(const StepInputs &inputs);
  void fillScalar(const char *name, double value);
  double readScalar(const char *name) const;
  void runStep();
  void startTrace();
  void finishTrace();

  std::shared_ptr<Core> core;
  RankThreads threads;
  Schedule schedule;
  std::chrono::milliseconds timeout;
  int64_t seedValue;
  int64_t stepNumber = 0;
  bool ready = false;
  std::string deviceDescription;
  std::string tracePath; ///< empty: no trace is wanted
  Status death;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_H
