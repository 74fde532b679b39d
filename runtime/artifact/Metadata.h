//===- Metadata.h - what an artifact says about its program -----*- C++ -*-===//
// The metadata of docs/Artifact.md, parsed and checked: what lies in these
// structs is consistent (shapes, offsets inside the arena, known axes), so the
// rest of the runtime need not look again.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_ARTIFACT_METADATA_H
#define TESSERA_RUNTIME_ARTIFACT_METADATA_H

#include "runtime/support/Json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

struct Axis {
  std::string name;
  int64_t size;
};

/// Named axes, the last varies fastest over ranks.
struct Mesh {
  std::vector<Axis> axes;
  /// The axis of pipeline stages, -1 if every rank runs the same program.
  int64_t stageAxis = -1;

  int64_t ranks() const;
  std::vector<int64_t> coordinates(int64_t rank) const;
  int64_t rankAt(const std::vector<int64_t> &coordinates) const;
  /// Returns the stage of coordinates; 0 without stages.
  int64_t stageOf(const std::vector<int64_t> &coordinates) const;
  int64_t stages() const;
  /// Ranks that differ from `rank` only on the axes of the bit set, in order.
  std::vector<int64_t> group(int64_t rank, int64_t axisSet) const;
  /// Returns "axis 'tp'" or "axes 'dp', 'tp'".
  std::string describe(int64_t axisSet) const;
};

enum class Role {
  Parameter,
  Master,
  Moment1,
  Moment2,
  Gradient,
  Input,
  Output,
  Value,
  KeyCache,
  ValueCache,
  Scale
};
const char *roleName(Role role);
std::optional<Role> roleFromName(const std::string &name);
/// Parameters and optimizer state: what lives from step to step.
bool isState(Role role);
bool isCache(Role role);

struct Initial {
  enum Kind { Normal, Uniform, Zeros, Ones, Cosines, Sines } kind = Zeros;
  double mean = 0, std = 0;
  double bound = 0; ///< Uniform: between -bound and bound
  int64_t stream = 0;
  int64_t zerosBegin = 0, zerosEnd = 0; ///< Normal: these elements are 0.
  /// Cosines, Sines: element [p, e] is scale * cos(p * frequencies[e]).
  std::vector<double> frequencies;
  double scale = 1;
};

/// `dim` is cut over mesh axis number `axis`.
struct Split {
  int64_t axis;
  int64_t dim;
};

/// A named buffer in every rank's arena. Shapes are as in docs/Artifact.md.
struct TensorInfo {
  Role role;
  std::string name;
  int dtype;
  std::vector<int64_t> shape, fileShape, localShape;
  int64_t offset; ///< bytes from the start of the arena
  /// The same by stage, -1 where a stage has no such tensor; empty: `offset`
  /// everywhere.
  std::vector<int64_t> stageOffsets;
  std::vector<Split> sharding;
  std::vector<int64_t> partial; ///< axis numbers
  std::optional<Initial> init;
  /// The dimensions of its parameter that a scale has, in order.
  std::vector<int64_t> channels;

  int64_t elements() const;
  int64_t localElements() const;
  int64_t localBytes() const;
  int64_t offsetAt(int64_t stage) const;
  bool isAt(int64_t stage) const { return offsetAt(stage) >= 0; }
  /// Returns the first stage that has it.
  int64_t firstStage() const;
  /// Returns "parameter 'transformer.wte.weight'".
  std::string describe() const;
};

struct OpInfo {
  std::string op, name;
  int64_t layer = -1; ///< -1: outside the layers
  int64_t stage = 0;  ///< whose program has it
  int64_t times = 1;  ///< calls in a step; several in a loop of micro-batches
  int64_t task = -1;  ///< -1: in none
};

/// A task of a pipeline stage: runs for one micro-batch after the other.
struct TaskInfo {
  std::string name;
  int64_t firstMicroBatch = 0, microBatches = 0;
};

/// An encoder-decoder model's target sequence, the token that its first label
/// is predicted from, and the one that pads targets.
struct Decoder {
  int64_t target, start, padding;
};

/// Sizes that the programs of an artifact that generates run at a time.
struct Generation {
  int64_t lanes = 1;      ///< Independent groups of slots.
  int64_t slots = 1;      ///< Requests of a lane.
  int64_t places = 1;     ///< Tokens of a request.
  int64_t chunk = 1;      ///< Rows of prompts in a step of a lane.
  int64_t source = 0;     ///< Tokens of a source; 0: the model has no encoder.
  int64_t candidates = 0; ///< Logits that steps leave; 0: all of them.

  /// Returns the rows of a step of `mixed`, and of `score`.
  int64_t mixedRows() const { return slots + chunk; }
};

struct Model {
  int64_t vocabulary, sequence, batch, microBatches;
  /// The token that stands for tokens to predict, in a masked language model,
  /// whose labels may be ignored.
  std::optional<int64_t> maskToken;
  std::vector<int64_t> special; ///< Sorted: tokens that it never predicts.
  int64_t tokenTypes = 0;       ///< Legal ones are below; 0: it has none.
  std::optional<Decoder> decoder;
  /// True if labels of a causal model may be ignored.
  bool causalIgnores = false;
  /// `separator` is the token that ends a document, if attention stays within
  /// documents; `padding` the token that attention does not see.
  std::optional<int64_t> separator, padding;
  std::optional<Generation> generation;
  /// Positions of a sequence whose logits can be asked for, in an artifact that
  /// encodes texts; 0 for an encoder without a head.
  std::optional<int64_t> predictions;
  /// Lists keys of the config that the importer does not know: the model may be
  /// another one.
  std::vector<std::string> unknownKeys;

  /// Returns the labels of a sequence, and the tokens that make its inputs and
  /// labels.
  int64_t labels() const { return decoder ? decoder->target : sequence; }
  int64_t columns() const { return sequence + (decoder ? labels() : 1); }
  bool ignoresLabels() const { return maskToken || decoder || causalIgnores; }
  bool hasSegments() const { return separator || padding; }
};

/// The course of the learning rate after its warm-up.
enum class RateKind { Cosine, Linear, Constant, Wsd, InverseSqrt };
std::optional<RateKind> rateKindFromName(const std::string &name);
/// Returns "cosine, linear, ...".
std::string rateKindNames();

struct Optimizer {
  std::string kind = "adamw";
  double beta1, beta2, lr, minLr;
  int64_t warmupSteps, totalSteps;
  RateKind schedule = RateKind::Cosine;
  int64_t decaySteps = 0; ///< Steps at the end of Wsd; 0: a tenth of all steps.
};

/// The files of a `transformers` model that an artifact may hold the text of.
constexpr const char *configFileNames[] = {
    "config.json", "generation_config.json", "adapter_config.json"};

struct Metadata {
  std::string device;
  /// The processor that host code was compiled for; "": an old artifact.
  std::string cpu;
  std::vector<std::string> features;
  Mesh mesh;
  Model model;
  Optimizer optimizer;
  int64_t arenaBytes;               ///< largest over the ranks
  std::vector<int64_t> stageArenas; ///< one for each stage's ranks
  /// The largest contents of the arena at its fullest, largest first; may be
  /// empty.
  std::vector<std::pair<std::string, int64_t>> arenaKinds;
  std::vector<TensorInfo> tensors;
  /// Stage by stage; the evaluation's after the step's.
  std::vector<OpInfo> ops;
  size_t stepOps = 0;
  std::vector<TaskInfo> tasks; ///< over all stages
  /// The texts of the files that the model was imported from, by name: JSON
  /// objects.
  std::map<std::string, std::string> configFiles;
  /// Hold the JSON of the settings that the model was imported with, by key:
  /// `modelKeys` change the function that it computes, `trainingKeys` its
  /// training alone.
  std::map<std::string, std::string> modelKeys, trainingKeys;

  /// Returns the tensor of a role and name; null if there is none.
  const TensorInfo *find(Role role, const std::string &name) const;
  bool hasParameters() const;
  /// Returns whether there is a program that measures the loss.
  bool hasEvaluation() const;
  /// Returns whether the program that measures the loss counts labels, so that
  /// some may be ignored. In older artifacts it does so for models that ignore
  /// labels.
  bool evaluationCounts() const;
  /// Returns whether there is a program that scores given tokens; in older
  /// artifacts that generate there is none.
  bool hasScores() const;
  int64_t arenaBytesAt(int64_t stage) const;
  /// Returns the task of an op; null if it is in none, or there is no such op.
  const TaskInfo *taskOf(int64_t op) const;
  /// Returns the micro-batch for which a rank calls an op when it has called it
  /// `earlier` times in the step; nullopt: for none, or it is not known.
  std::optional<int64_t> microBatchOf(int64_t op, int64_t earlier) const;
  /// Returns the number of calls that a rank makes in a step.
  int64_t callsOf(int64_t stage) const;
  /// Returns "gemm 'h.3.mlp.fc' of layer 3 (op 12, task F0)", with the
  /// micro-batch if the op runs for one alone; no program asks for op -1.
  std::string describeOp(int64_t op) const;

  /// Returns "activations 6442450944, optimizer 1020054732" for `arenaKinds`.
  std::string describeArena() const;

  std::map<std::pair<Role, std::string>, size_t> index;
};

int64_t elementsOf(const std::vector<int64_t> &shape);
/// Returns a text such as "[2, 3]".
std::string describeShape(const std::vector<int64_t> &shape);

/// Returns the members of an object, as JSON.
std::map<std::string, std::string> parseKeys(const JsonView &view);

/// Parses and checks; `source` names the file in errors (TSR_CORRUPT).
Metadata parseMetadata(const std::string &source, const std::string &text);

} // namespace tessera

#endif // TESSERA_RUNTIME_ARTIFACT_METADATA_H
