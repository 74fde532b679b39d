//===- PlanOptions.h - what can be asked of a compiled program --*- C++ -*-===//
// The options that the driver, the pipelines and the compiler share, as plain
// data. PlanFlags.def gives each its flag. It needs no MLIR.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_OPTIONS_PLANOPTIONS_H
#define TESSERA_OPTIONS_PLANOPTIONS_H

#include "tessera/Options/LayerRecompute.h"
#include "tessera/Options/LoraOptions.h"
#include "tessera/Options/MeshShape.h"
#include "tessera/Options/NamePattern.h"
#include "tessera/Options/ScheduleKind.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// BF16 is mixed: storage of activations and products in bf16, the rest in f32.
enum class Precision { F32, BF16, F64 };
template <> struct Names<Precision> {
  static constexpr Name<Precision> table[] = {{Precision::F32, "f32"},
                                              {Precision::BF16, "bf16"},
                                              {Precision::F64, "f64"}};
};

/// The storage of products' matrices: as the precision says, or in int8 with a
/// scale for each output channel.
enum class WeightStorage { Precision, Int8 };
template <> struct Names<WeightStorage> {
  static constexpr Name<WeightStorage> table[] = {
      {WeightStorage::Precision, "precision"}, {WeightStorage::Int8, "int8"}};
};

/// The programs of an artifact.
enum class ProgramSet { Train, Generate, TrainAndGenerate, Encode };
template <> struct Names<ProgramSet> {
  static constexpr Name<ProgramSet> table[] = {
      {ProgramSet::Train, "train"},
      {ProgramSet::Generate, "generate"},
      {ProgramSet::TrainAndGenerate, "train,generate"},
      {ProgramSet::Encode, "encode"}};
};
inline bool trains(ProgramSet programs) {
  return programs == ProgramSet::Train ||
         programs == ProgramSet::TrainAndGenerate;
}
inline bool generates(ProgramSet programs) {
  return programs == ProgramSet::Generate ||
         programs == ProgramSet::TrainAndGenerate;
}
inline bool encodes(ProgramSet programs) {
  return programs == ProgramSet::Encode;
}

/// The way in which attention over `cp` gets keys and values of other ranks.
enum class ContextParallel { AllGather, Ulysses, Ring };
template <> struct Names<ContextParallel> {
  static constexpr Name<ContextParallel> table[] = {
      {ContextParallel::AllGather, "all-gather"},
      {ContextParallel::Ulysses, "ulysses"},
      {ContextParallel::Ring, "ring"}};
};

/// The state that is split over `dp` and `cp`; each stage includes those before
/// it.
enum class ZeroStage { None, OptimizerState, Gradients, Parameters };
template <> struct Names<ZeroStage> {
  static constexpr Name<ZeroStage> table[] = {{ZeroStage::None, "0"},
                                              {ZeroStage::OptimizerState, "1"},
                                              {ZeroStage::Gradients, "2"},
                                              {ZeroStage::Parameters, "3"}};
};

/// The way in which `dp` sums gradients. With a parameter server each parameter
/// is updated by one rank.
enum class DpSync { AllReduce, ParameterServer };
template <> struct Names<DpSync> {
  static constexpr Name<DpSync> table[] = {
      {DpSync::AllReduce, "all-reduce"},
      {DpSync::ParameterServer, "parameter-server"}};
};

enum class DeviceKind { Cpu, Cuda };
template <> struct Names<DeviceKind> {
  static constexpr Name<DeviceKind> table[] = {{DeviceKind::Cpu, "cpu"},
                                               {DeviceKind::Cuda, "cuda"}};
};

/// "cpu", "cuda" or "cuda:sm_90".
struct DeviceTarget {
  DeviceKind kind = DeviceKind::Cpu;
  std::string arch = "sm_90"; ///< The architecture of CUDA.

  bool isCuda() const { return kind == DeviceKind::Cuda; }
};

/// Sizes of the model's step. 0: the model's own, or a default of the importer.
struct SizeOptions {
  int64_t sequence = 0;       ///< Tokens.
  int64_t targetSequence = 0; ///< Target tokens of an encoder-decoder model.
  int64_t batch = 0; ///< Sequences of a step, all ranks and micro-batches.
  int64_t microBatches = 0;
  /// For a causal model: the loss is the mean over labels that are not
  /// negative.
  bool ignoresLabels = false;
  /// For a causal model: attention stays within documents.
  bool documentMask = false;
  int64_t separator = -1; ///< Token that ends a document; -1: the model's own.
  /// For BERT and T5: attention sees no padding.
  bool paddingMask = false;
  /// Names the tokens that a masked language model never hides: "0,2,3" or
  /// "none". If it is empty, the files of the model say which they are.
  std::string specialIds;
};

/// The part of the model that is trained.
struct TrainingOptions {
  NamePatterns frozen; ///< Parameters that keep their values.
  /// With adapters, nothing else is trained.
  LoraOptions lora;
};

/// Sizes of programs that generate.
struct GenerationOptions {
  int64_t batch = 4;  ///< Requests that run at a time, over all ranks.
  int64_t length = 0; ///< Most tokens of a request; 0: as a sequence.
  int64_t chunk = 64; ///< Tokens of prompts that a step takes in.
  /// Most probable tokens among which a step leaves the host to choose; 0: all.
  int64_t candidates = 0;
};

/// Sizes of a program that encodes.
struct EncodingOptions {
  /// Positions of a sequence whose logits can be asked for in a step; 0: 16 of
  /// a model with a head for them.
  int64_t predictions = 0;
};

/// The split of work and state over the axes of the mesh.
struct StrategyOptions {
  bool sequenceParallel = false;
  LayerList replicatedLayers; ///< Layers that `tp` does not split.
  ContextParallel contextParallel = ContextParallel::AllGather;
  ZeroStage zero = ZeroStage::None;
  DpSync dpSync = DpSync::AllReduce;
  /// Sums are trees of so many chunks, so that every mesh gives the same bits;
  /// a power of 2. 0: in any order.
  int64_t layoutInvariant = 0;
};

/// The split over mesh axis `pp`.
struct StageOptions {
  ScheduleKind schedule = ScheduleKind::OneForwardOneBackward;
  int64_t virtualStages = 1; ///< Chunks per stage.
  /// Layers of each chunk; empty: balanced by flops.
  std::vector<int64_t> layers;
};

struct MemoryOptions {
  Recompute recompute = Recompute::None;
  int64_t recomputeLayers = -1;  ///< Full: the first so many; -1: all.
  LayerRecompute layerRecompute; ///< For layers that differ from the rest.
  int64_t limit = 0;             ///< Bytes of a rank's arena; 0: no limit.
  /// Rows of a rank's experts that fit at a time, times the even share; 0: all
  /// that a router can send; -1: twice the share where that is supported.
  double expertBuffer = -1;
};

struct CommunicationOptions {
  /// Most bytes of gradients that are reduced together; 0: no buckets.
  int64_t bucketBytes = int64_t(25) << 20;
  /// Collectives are started early and waited for late.
  bool overlap = true;
};

struct DeviceOptions {
  DeviceTarget target;
  /// LLVM's name of the CPU; with CUDA that of the host program.
  std::string cpu = "native";
  int64_t vectorBits = 512; ///< Width of the vector registers of that CPU.
  /// With CUDA: matrix products apply GELU and sum bias gradients, as far as
  /// the library can.
  bool gemmEpilogues = true;
  /// CUDA kernels as code of the CPU: for tests, which bring an emulator and,
  /// for CUDA, a device.
  bool emulateGrid = false;

  bool hasCudaKernels() const { return target.isCuda() || emulateGrid; }
};

enum class OptimizerKind { AdamW, Sgd, Lion, Muon };
template <> struct Names<OptimizerKind> {
  static constexpr Name<OptimizerKind> table[] = {
      {OptimizerKind::AdamW, "adamw"},
      {OptimizerKind::Sgd, "sgd"},
      {OptimizerKind::Lion, "lion"},
      {OptimizerKind::Muon, "muon"}};
};

/// Negative: the optimizer's own value (OptimizerDefaults.h).
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::AdamW;
  double beta1 = -1, beta2 = -1, momentum = -1;
  static constexpr double kEpsilon = 1e-8;
  double epsilon = kEpsilon;
  bool nesterov = false;
  double weightDecay = -1; ///< None on biases and norms.
  NamePatterns noDecay;    ///< Nor on these.
  double clip = 1.0;       ///< Largest gradient norm; 0: none.
};

/// The course of the learning rate after its warm-up (tsr_schedule in
/// tessera.h).
enum class LearningRateSchedule {
  Cosine,
  Linear,
  Constant,
  WarmupStableDecay,
  InverseSqrt
};
template <> struct Names<LearningRateSchedule> {
  static constexpr Name<LearningRateSchedule> table[] = {
      {LearningRateSchedule::Cosine, "cosine"},
      {LearningRateSchedule::Linear, "linear"},
      {LearningRateSchedule::Constant, "constant"},
      {LearningRateSchedule::WarmupStableDecay, "wsd"},
      {LearningRateSchedule::InverseSqrt, "inverse-sqrt"}};
};

/// Stored in the artifact; a run may replace it (runtime/tessera.h).
struct LearningRateOptions {
  LearningRateSchedule schedule = LearningRateSchedule::Cosine;
  double largest = 1e-3, smallest = 1e-4;
  int64_t warmupSteps = 0, totalSteps = 0;
  int64_t decaySteps = 0; ///< WarmupStableDecay; 0: a tenth of all steps.
};

struct DebuggingOptions {
  std::string dumpDirectory; ///< If set: IR after each pass, numbered files.
  /// If set: a pass that fails leaves its input here. Else only one that
  /// crashes does, in a temporary file.
  std::string reproducer;
  /// Give every value of the program its own buffer, named in the artifact as
  /// role "value", so that `verify` can compare it. Larger and slower.
  bool keepValues = false;
  /// Write attention, norms and rotations of the model as products, sums and
  /// maps (nn-decompose-layers). Much larger and slower.
  bool decomposeLayers = false;
  /// Write numbers or NaN into the padding of uneven shards where its type
  /// allows them: no result may change.
  bool poisonPadding = false;
  /// Run LLVM's optimizer. `verify` in f64 and most tests do without it, for
  /// compiling is most of their time. bf16 needs it: unoptimized, its
  /// conversions are calls of a library that is not linked.
  bool optimizeCode = true;
};

struct PlanOptions {
  SizeOptions sizes;
  ProgramSet programs = ProgramSet::Train;
  GenerationOptions generation;
  EncodingOptions encoding;
  /// A program that measures the loss stands beside the training step.
  bool evaluation = true;
  Precision precision = Precision::F32;
  WeightStorage weights = WeightStorage::Precision;
  TrainingOptions training;
  MeshShape mesh;
  StrategyOptions strategies;
  StageOptions stages;
  MemoryOptions memory;
  CommunicationOptions communication;
  DeviceOptions device;
  OptimizerOptions optimizer;
  LearningRateOptions learningRate;
  DebuggingOptions debugging;
};

} // namespace tessera

#endif // TESSERA_OPTIONS_PLANOPTIONS_H
