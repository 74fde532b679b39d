//===- Program.h - what an artifact says of its program ---------*- C++ -*-===//
// The metadata of docs/Artifact.md as structs, for the compiler that writes it
// and for tools that read it. program_fields.def has the key of each member and
// its bounds; members without a row there follow from the others.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PROGRAM_PROGRAM_H
#define TESSERA_PROGRAM_PROGRAM_H

#include "tessera/Program/LayerModes.h"
#include "tessera/Program/ProgramCall.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <utility>

namespace tessera::program {

struct Axis {
  std::string name;
  int64_t size = 1;
};

/// Named axes; the last one varies fastest over ranks.
struct Mesh : std::vector<Axis> {
  using std::vector<Axis>::vector;
  int64_t ranks() const;
  int64_t
  sizeOf(llvm::StringRef axis) const; ///< 1 of an axis that is not there.
  std::string text() const;           ///< "dp=2,tp=4".
};

struct Target {
  std::string device, arch, cpu, triple;
  std::vector<std::string> features;
};

/// Says what backward recomputes as the plan did; LayerModes has it by layer.
struct Recomputation {
  std::string mode, ranges;
  int64_t layers = -1; ///< The first ones are full; -1: all are.
  std::optional<std::vector<std::string>> names; ///< In the program's order.
};

struct Model {
  std::string family;
  int64_t layers = 0, vocabulary = 0, sequence = 0, batch = 0;
  int64_t microBatches = 1;
  std::optional<int64_t> target, startToken, padToken;
  std::optional<int64_t> maskToken, separator, padding;
  std::optional<std::vector<int64_t>> specialTokens;
  int64_t tokenTypes = 0, ignoresLabels = 0;
  /// An artifact that generates has slots.
  int64_t lanes = 1, slots = 0, places = 0, prefillChunk = 0, source = 0;
  int64_t candidates = 0;
  std::optional<int64_t> predictions; ///< An artifact that only encodes has it.
  std::vector<std::string> unknownKeys;
};

struct Optimizer {
  std::string kind, schedule;
  double beta1 = 0, beta2 = 0, momentum = 0, eps = 0, weightDecay = 0;
  double clip = 0, lr = 0, minLr = 0;
  int64_t warmupSteps = 0, totalSteps = 0, decaySteps = 0;
};

struct Split {
  std::string axis;
  int64_t dim = 0;
};

/// The value is `gradient` times a derivative that jumps at 0 of `input`.
struct Kink {
  std::string gradient, input;
};

/// Says how a parameter begins, or what a table holds (docs/Artifact.md).
struct Initial {
  std::string kind;
  std::optional<double> mean, std, bound, scale;
  std::optional<int64_t> stream;
  std::vector<int64_t> zeros;
  std::vector<double> frequencies;
};

struct Tensor {
  std::string role, name, dtype;
  std::vector<int64_t> shape, localShape, fileShape, channels;
  std::optional<int64_t> offset;
  std::vector<int64_t> offsets; ///< One for each stage; -1: it is not there.
  std::vector<Split> sharding;
  std::vector<std::string> partial;
  std::optional<Initial> init;
  bool frozen = false;
  std::optional<Kink> kink;
  std::string choice;

  int64_t elements() const;
  int64_t elementsOfRank() const;
  int64_t bytesOfRank() const;
};

/// Calls `begin` to `end` - 1 of a stage's program.
struct Task {
  int64_t begin = 0, end = 0;
  std::string name;    ///< "F0".
  bool isLast = false; ///< It runs for the last micro-batch alone.
};

/// A run is how often its tasks run, and the tasks.
using TaskRun = std::vector<int64_t>;

/// A task for one micro-batch.
struct TaskEntry {
  int64_t task = 0, microBatch = 0;
};

/// A pipeline stage runs the calls before the first task, the tasks in the
/// order of `order`, and the calls after the last one.
struct StageTasks {
  std::vector<Task> tasks; ///< In the order of their calls.
  std::vector<TaskEntry> order;
};

struct Chunk {
  int64_t stage = 0;
  std::string first, last; ///< Parts of the model.
  int64_t forwardFlops = 0;
};

struct Pipeline {
  std::string axis, schedule;
  int64_t stages = 0, virtualStages = 0, microBatches = 0;
  std::vector<Chunk> chunks;
  double bubble = 0;
  int64_t messages = 0;
  bool hasOwners = false; ///< The "stages" are ranks of a parameter server.
  std::optional<std::vector<std::vector<Task>>> tasks; ///< Those of each stage.
  std::optional<std::vector<std::vector<TaskRun>>> order;

  /// Returns the tasks of each stage, with the runs written out. Returns
  /// nothing where ranges of calls overlap, a task runs for more micro-batches
  /// than there are, or the stages are not `stages`.
  std::optional<std::vector<StageTasks>> stageTasks() const;
};

/// Says what runs at a time of the step, and the bytes of each kind.
struct ArenaPoint {
  int64_t at = 0;
  std::string name, phase;
  std::vector<int64_t> bytes;
};

/// Equal values that are in the arena at its peak.
struct AliveValues {
  std::string kind, op, name;
  int64_t bytes = 0, count = 1;
};

struct OverStep {
  std::vector<std::string> kinds;
  int64_t times = 0, peak = 0;
  std::vector<ArenaPoint> points;
  std::vector<AliveValues> alive;
};

struct Arena {
  int64_t bytes = 0;
  std::map<std::string, int64_t> byKind;
  std::optional<OverStep> overStep; ///< It is for people.
  std::vector<Arena> stages;
};

/// The flops of one rank and optimizer step.
struct Flops {
  int64_t forward = 0, backward = 0, recompute = 0, optimizer = 0;
  int64_t all() const { return forward + backward + recompute + optimizer; }
};

/// Counts what a rank communicates over some axes in an optimizer step.
struct Traffic {
  int64_t calls = 0, elements = 0, bytes = 0;
  double ringBytes = 0; ///< A rank sends them with ring algorithms.
  /// Bytes of messages and broadcasts alone, from the source to each receiver.
  int64_t sent = 0, received = 0;
};

/// Sums over the calls of an optimizer step of a rank.
struct Totals {
  int64_t parameters = 0;       ///< All ranks have them, padding not counted.
  int64_t parametersOfRank = 0; ///< A rank stores them, padding included.
  int64_t tokens = 0;           ///< All ranks read them.
  Flops flopsOfRank;
  int64_t flops = 0;                      ///< All ranks compute them.
  std::map<std::string, Traffic> traffic; ///< Keys are axes: "tp" or "dp,tp".
  int64_t kernels = 0, launches = 0, gemms = 0;
  /// The part of causal attention that each slice of a split sequence is.
  std::vector<double> causalWork;
  std::vector<Totals> stages;
};

/// A program beside the first one.
struct Beside {
  int64_t bytes = 0, adds = 0, flopsOfRank = 0;
  std::optional<std::vector<std::vector<Task>>> tasks;
  std::optional<std::vector<std::vector<TaskRun>>> order;
};

struct Program {
  int64_t format = 1;
  std::string producer, precision, weights;
  Target target;
  std::optional<Recomputation> recompute;
  Mesh mesh;
  Model model;
  Optimizer optimizer;
  std::map<std::string, std::string> configFiles;
  std::optional<llvm::json::Object> modelKeys, trainingKeys;
  std::optional<Pipeline> pipeline;
  Arena arena;
  std::vector<Tensor> tensors;
  Totals totals;
  std::optional<Beside> evaluation, decode, mixed, score, encode;

  /// The layers with their modes; nothing if the artifact does not say which
  /// layers recompute.
  std::optional<LayerModes> layers;

  int64_t stages() const; ///< Programs that differ; 1 without stages.
  bool generates() const { return model.slots > 0; }
  bool encodes() const { return model.predictions.has_value(); }
  /// The first program, or all of them, are a training step.
  bool trains() const { return !encodes() && (!generates() || decode); }
};

} // namespace tessera::program

#endif // TESSERA_PROGRAM_PROGRAM_H
