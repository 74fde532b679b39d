//===- Session.h - the ranks of an artifact, in training --------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_SESSION_SESSION_H
#define TESSERA_RUNTIME_SESSION_SESSION_H

#include "runtime/data/Data.h"
#include "runtime/session/BatchChecks.h"
#include "runtime/session/CachePlaces.h"
#include "runtime/session/LearningRate.h"
#include "runtime/session/ProcessGroup.h"
#include "runtime/session/RankThreads.h"
#include "runtime/session/SessionCore.h"
#include "runtime/support/OwnedDirectory.h"

#include <functional>
#include <optional>
#include <string>

namespace tessera {

/// The position of a run: its state and the next step follow from it.
struct RunPosition {
  int64_t step = 0;
  int64_t seed = 0;
  int64_t skippedSteps = 0; ///< Steps before that left the state as it is.
  int64_t sequences = 0;    ///< read of the data, by skipped steps too
};

/// The weights beside which adapters are trained.
struct AdapterBase {
  std::string path; ///< path of their file; "": not known
  /// Holds hashes of the tensors by their plain names; empty: not known.
  std::map<std::string, std::string> tensors;
};

/// A file beside the weights of a model, such as its tokenizer.
struct CarriedFile {
  std::string name, content;
};

/// States if data that is not what a checkpoint names is taken.
enum class DataChange { Refused, Taken };

/// The programs of an artifact that generates, or that encodes.
enum class RowProgram { Decode, Mixed, Score, Encode };

class Session {
public:
  /// TSR_UNSUPPORTED, TSR_NOT_FOUND (plug-in), TSR_OUT_OF_MEMORY.
  Session(const Artifact &artifact, const SessionOptions &options);
  /// A session on a device that is open already.
  Session(const Artifact &artifact, const SessionOptions &options,
          std::shared_ptr<Device> device);
  // With several processes what follows is collective where it says so: all
  // processes make the same calls in the same order.

  void initialize();
  void setSchedule(const Schedule &next);
  tsr_step_result step(const int32_t *tokens, size_t count);
  /// The next step that succeeds is recorded and written to `path`.
  void traceNextStep(const std::string &path);
  tsr_step_result step(const tsr_batch &batch);
  /// Changes nothing. `tokens` may be fewer sequences than a batch has; the
  /// first one's number, by which a masked model's tokens are hidden, is
  /// `number` times the size of a batch. Where no label counts nothing runs,
  /// and the result is 0. TSR_UNSUPPORTED: the program takes whole batches
  /// alone.
  tsr_evaluation evaluate(const int32_t *tokens, size_t count, int64_t number);
  tsr_evaluation evaluate(const tsr_batch &batch);

  /// Runs a step of rows, which `fill` writes for each rank; parameters must be
  /// defined. TSR_UNSUPPORTED: the artifact has no such program.
  void runRows(RowProgram program, const std::function<void(Rank &)> &fill);
  /// Returns a program. TSR_UNSUPPORTED: the artifact has none of this kind.
  tsr_abi_program programOf(RowProgram which) const;
  /// Copies what caches hold, in order. Between steps.
  void copyPlaces(const std::vector<PlaceCopy> &copies);
  /// Says who runs requests on this session, by what counts those that wait or
  /// run; null: nobody any more. TSR_INVALID_ARGUMENT: somebody else does.
  void setRequests(std::function<int64_t()> count);
  /// To be called before `what` changes parameters. TSR_INVALID_ARGUMENT:
  /// requests wait or run, whose keys and values are of those that they are.
  void beginChange(const char *what);
  /// Returns how often the contents of tensors may have changed, by steps or
  /// else: keys and values from before are of other parameters.
  int64_t changes() const { return changeCount; }

  /// TSR_NOT_FOUND names what there is no tensor of.
  const TensorInfo &tensor(const std::string &role,
                           const std::string &name) const;
  /// Read a tensor; collective.
  void read(const TensorInfo &tensor, double *values) const;
  void read(const TensorInfo &tensor, float *values) const;
  /// Collective: every process gives the same values. A parameter's master gets
  /// the same values, unrounded.
  void write(const TensorInfo &tensor, const double *values);
  void write(const TensorInfo &tensor, const float *values);
  /// TSR_INVALID_ARGUMENT: the rank is of another process; TSR_NOT_FOUND: its
  /// stage has no such tensor.
  void readLocal(int64_t rank, const TensorInfo &tensor, double *values) const;

  const Metadata &metadata() const { return *core->metadata; }
  const Ranks &ranks() const { return core->ranks; }
  int64_t nextStep() const { return position.step; }
  int64_t seed() const { return position.seed; }
  int64_t skippedSteps() const { return position.skippedSteps; }
  /// Returns how many sequences of the data steps have read; the next step
  /// reads those after them.
  int64_t sequences() const { return position.sequences; }
  /// Returns whether a label of the last step counted: without any it was
  /// skipped.
  bool hadLabels() const { return labelsCounted; }
  int64_t expertRounds() const;
  /// Describes, for people, the device that runs rank 0; steps may have shown
  /// more of it.
  const std::string &deviceText() const;
  /// The state is defined: parameters can be trained and saved.
  bool isReady() const { return ready; }
  /// Returns the largest size of a file of saved weights; 0: one file has all.
  int64_t maxShardBytes() const { return shardBytes; }
  /// Returns the notes of the last save or load of weights, a line each.
  const std::string &notes() const { return noteText; }
  void setNotes(const std::vector<std::string> &lines);

  /// This process has the only ranks.
  bool hasAllRanks() const { return processes.isOne(); }
  /// This process has rank 0: it gets what is gathered, and writes files.
  bool isFirst() const { return core->ranks[0]->number == 0; }
  /// Collective: runs `body` in each process; if it fails in one, all throw.
  void together(const std::function<void()> &body) const {
    processes.together(body);
  }
  /// Returns the largest of all processes' values; collective.
  int32_t largest(int32_t value) const;
  /// Fails with TSR_MISMATCH if the processes' values differ; `what` names
  /// them. Collective.
  void checkSame(const std::string &what, int64_t value) const {
    processes.checkSame(what, value);
  }
  /// Collective: TSR_MISMATCH names the first file whose content is another one
  /// than in the first process, its rank, and both contents.
  void checkSameContents(const std::vector<FileContent> &files) const;
  /// Does the same for files that each process reads now, if there are others.
  void checkSameFiles(const std::vector<std::string> &paths) const;
  /// Does the same for data that the state is not trained on.
  void checkSameTokens(const Data &data) const;

  /// Keeps other runs from writing to `directory` until the session ends. The
  /// first call makes it; later ones check that it is still the same. TSR_IO.
  const OwnedDirectory &own(const std::string &directory);

  const AdapterBase &base() const { return adapterBase; }
  void setBase(AdapterBase base) { adapterBase = std::move(base); }

  /// Returns the JSON texts that the caller keeps in checkpoints, by name.
  const std::map<std::string, std::string> &records() const {
    return notedDown;
  }
  void setRecords(std::map<std::string, std::string> all) {
    notedDown = std::move(all);
  }
  void setRecord(const std::string &name, const std::string &json) {
    notedDown[name] = json;
  }
  /// Returns the files of the model's folder that checkpoints take along.
  const std::vector<CarriedFile> &modelFiles() const { return besideModel; }
  void setModelFiles(std::vector<CarriedFile> files) {
    besideModel = std::move(files);
  }

  /// Returns the data that the state is trained on, if it is known. Waits until
  /// it is hashed.
  const std::optional<DataIdentity> &data();
  /// Names the data that the session reads; collective. TSR_MISMATCH: the
  /// processes' data differ, or they are other data than before. Other data
  /// that are taken begin with their first sequence.
  void useData(const Data &data, DataChange change);
  /// Takes the data that a checkpoint names, which all processes read alike.
  /// TSR_MISMATCH: the session is trained on other data.
  void adoptData(const DataIdentity &recorded);

  /// Runs `body` on every local rank's thread; throws the first failure.
  void onEveryRank(const std::function<void(Rank &)> &body);
  /// The same for a body that fills state: while it runs, ranks have all the
  /// threads that the cores give, whatever the session's option says.
  void fillOnEveryRank(const std::function<void(Rank &)> &body);
  /// Sets the next step after the state was replaced.
  void resumeAt(const RunPosition &next);
  /// TSR_ABORTED with the first message once a step has failed.
  void checkAlive() const;

private:
  class Watch;
  template <class Value>
  void readValues(const TensorInfo &tensor, Value *values) const;
  template <class Value>
  void readScaled(const TensorInfo &tensor, Value *values) const;
  template <class Value>
  void writeValues(const TensorInfo &tensor, const Value *values);
  void checkSameCode(const Artifact &artifact) const;
  void checkReady() const;
  /// Checked inputs of the next batch of a stream, or of the caller's.
  StepInputs inputsFor(const int32_t *tokens, size_t count) const;
  StepInputs inputsFor(const tsr_batch &batch, LabelUse use) const;
  tsr_step_result stepOn(const StepInputs &inputs);
  tsr_evaluation evaluateOn(const StepInputs &inputs);
  void fillInputs(Rank &rank, const StepInputs &inputs) const;
  double readScalar(const char *name) const;
  void run(tsr_abi_program program, int64_t number,
           const std::function<void(Rank &)> &inputs);
  void startTrace();
  void finishTrace();

  std::shared_ptr<SessionCore> core;
  ProcessGroup processes;
  RankThreads threads;
  Schedule schedule;
  std::chrono::milliseconds timeout;
  RunPosition position;
  int64_t rowSteps = 0; ///< Steps that ran rows.
  /// The number that `changes` returns.
  int64_t changeCount = 0;
  std::function<int64_t()> countRequests; ///< Null: nobody runs any.
  int64_t shardBytes;                     ///< 0: no limit
  bool ready = false, labelsCounted = true;
  mutable std::string deviceDescription; ///< the last that was asked for
  std::string noteText;
  std::string tracePath; ///< empty: no trace is wanted
  std::vector<std::unique_ptr<OwnedDirectory>> directories;
  std::optional<DataIdentity> dataIdentity;
  AdapterBase adapterBase;
  std::shared_ptr<DataHashing> dataHashing; ///< Null: the hashes are known.
  std::map<std::string, std::string> notedDown;
  std::vector<CarriedFile> besideModel;
  Status death;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_SESSION_H
