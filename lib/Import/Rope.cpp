//===- Rope.cpp - the rotation frequencies of a config --------------------===//
// Computes in f64 what transformers' modeling_rope_utils.py does.
//===----------------------------------------------------------------------===//

#include "lib/Import/Rope.h"
#include "llvm/ADT/StringSwitch.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tessera;

static constexpr double kPi = 3.14159265358979323846;

//===----------------------------------------------------------------------===//
// Frequencies
//===----------------------------------------------------------------------===//

/// Long waves are stretched by `factor`, short ones kept, those between are
/// mixed (Llama 3.1).
static double llama3(const RopeConfig &rope, double frequency) {
  double length = 2 * kPi / frequency;
  if (length < rope.originalPositions / rope.highFrequencyFactor)
    return frequency;
  if (length > rope.originalPositions / rope.lowFrequencyFactor)
    return frequency / rope.factor;
  double kept = (rope.originalPositions / length - rope.lowFrequencyFactor) /
                (rope.highFrequencyFactor - rope.lowFrequencyFactor);
  return (1 - kept) * frequency / rope.factor + kept * frequency;
}

/// Returns the pair that turns `rotations` times over the original positions.
static double pairOfRotations(const RopeConfig &rope, double rotations,
                              double headSize) {
  return headSize * std::log(rope.originalPositions / (rotations * 2 * kPi)) /
         (2 * std::log(rope.theta));
}

/// Stretches pairs by a ramp (Peng et al. 2023, section 3.2), from those that
/// are kept to those that are stretched.
static double yarn(const RopeConfig &rope, double frequency, int64_t pair,
                   double headSize) {
  double low = pairOfRotations(rope, rope.betaFast, headSize);
  double high = pairOfRotations(rope, rope.betaSlow, headSize);
  if (rope.truncates) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, headSize - 1);
  if (low == high)
    high += 0.001;
  double ramp = (static_cast<double>(pair) - low) / (high - low);
  double kept = 1 - std::clamp(ramp, 0.0, 1.0);
  return (1 - kept) * frequency / rope.factor + kept * frequency;
}

std::vector<double> RopeConfig::frequencies(int64_t headSize) const {
  std::vector<double> all;
  double d = static_cast<double>(headSize);
  for (int64_t pair = 0; pair < headSize / 2; ++pair) {
    double frequency = std::pow(theta, -2.0 * static_cast<double>(pair) / d);
    switch (kind) {
    case Default:
      break;
    case Linear:
      frequency /= factor;
      break;
    case Llama3:
      frequency = llama3(*this, frequency);
      break;
    case Yarn:
      frequency = yarn(*this, frequency, pair, d);
      break;
    }
    all.push_back(frequency);
  }
  return all;
}

double RopeConfig::scale() const {
  if (kind != Yarn)
    return 1;
  if (attentionFactor > 0)
    return attentionFactor;
  auto of = [&](double m) {
    return factor <= 1 ? 1 : 0.1 * m * std::log(factor) + 1;
  };
  return mscale && mscaleAllDim ? of(mscale) / of(mscaleAllDim) : of(1);
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kKeys[] = {
    "rope_type",        "type",
    "rope_theta",       "factor",
    "low_freq_factor",  "high_freq_factor",
    "attention_factor", "original_max_position_embeddings",
    "beta_fast",        "beta_slow",
    "mscale",           "mscale_all_dim",
    "truncate",         "partial_rotary_factor"};

static constexpr Bounds<double> kFactors = {1e-6, 1e9};

static LogicalResult readKind(const ConfigFile &rope, RopeConfig &config) {
  std::string kind = "default";
  if (failed(rope.read("type", kind)) || failed(rope.read("rope_type", kind)))
    return failure();
  // Dynamic scaling starts after max_position_embeddings, where no sequence
  // ends.
  auto found = llvm::StringSwitch<std::optional<RopeConfig::Kind>>(kind)
                   .Cases({"default", "dynamic"}, RopeConfig::Default)
                   .Case("linear", RopeConfig::Linear)
                   .Case("llama3", RopeConfig::Llama3)
                   .Case("yarn", RopeConfig::Yarn)
                   .Default(std::nullopt);
  if (!found)
    return rope.error("rope_type")
           << "unknown rope type '" << kind
           << "'; use default, linear, dynamic, llama3 or yarn";
  config.kind = *found;
  if (config.kind == RopeConfig::Default)
    return success();
  if (config.kind == RopeConfig::Llama3)
    return rope.require({"factor", "low_freq_factor", "high_freq_factor"});
  // Null asks for the ratio of the numbers of positions.
  if (config.kind == RopeConfig::Yarn && rope.isNull("factor"))
    return success();
  return rope.require({"factor"});
}

static LogicalResult refusePart(const ConfigFile &file) {
  double partial = 1;
  if (failed(file.read("partial_rotary_factor", partial, {0, 2})))
    return failure();
  if (partial == 1)
    return success();
  return file.error("partial_rotary_factor")
         << "'partial_rotary_factor' = "
         << llvm::formatv("{0}", *file.find("partial_rotary_factor")).str()
         << " rotates a part of each head and is not supported; it must be 1";
}

static LogicalResult readNested(const ConfigFile &rope, RopeConfig &config) {
  if (rope.isNull("truncate")) // Python takes it for false
    config.truncates = false;
  for (const auto &entry : rope.object())
    if (!llvm::is_contained(kKeys, StringRef(entry.first)))
      return rope.error(entry.first)
             << "unknown rope key '" << StringRef(entry.first)
             << "'; remove it if it does not change the model";
  if (failed(readKind(rope, config)) || failed(refusePart(rope)) ||
      failed(rope.read("rope_theta", config.theta, {1.0001, 1e15})) ||
      failed(rope.read("factor", config.factor, {1, 1e9})) ||
      failed(
          rope.read("low_freq_factor", config.lowFrequencyFactor, kFactors)) ||
      failed(rope.read("high_freq_factor", config.highFrequencyFactor,
                       kFactors)) ||
      failed(rope.read("original_max_position_embeddings",
                       config.originalPositions, {1, 1e12})) ||
      failed(rope.read("attention_factor", config.attentionFactor, kFactors)) ||
      failed(rope.read("beta_fast", config.betaFast, kFactors)) ||
      failed(rope.read("beta_slow", config.betaSlow, kFactors)) ||
      failed(rope.read("mscale", config.mscale, {0, 1e9})) ||
      failed(rope.read("mscale_all_dim", config.mscaleAllDim, {0, 1e9})) ||
      failed(rope.read("truncate", config.truncates)))
    return failure();
  if (config.kind == RopeConfig::Llama3 &&
      config.highFrequencyFactor <= config.lowFrequencyFactor)
    return rope.error("high_freq_factor")
           << "'high_freq_factor' = " << config.highFrequencyFactor
           << " must be above 'low_freq_factor' = "
           << config.lowFrequencyFactor;
  return success();
}

/// Remembers the rotation in effect, whichever keys said so.
static void noteRope(const ConfigFile &file, const RopeConfig &config) {
  file.forget("partial_rotary_factor");
  file.forget("original_max_position_embeddings");
  static constexpr StringRef kinds[] = {"default", "linear", "llama3", "yarn"};
  file.note("rope_type", kinds[config.kind]);
  file.note("rope_theta", config.theta);
  if (config.kind == RopeConfig::Default)
    return;
  file.note("factor", config.factor);
  if (config.kind == RopeConfig::Linear)
    return;
  file.note("original_max_position_embeddings", config.originalPositions);
  if (config.kind == RopeConfig::Llama3) {
    file.note("low_freq_factor", config.lowFrequencyFactor);
    file.note("high_freq_factor", config.highFrequencyFactor);
    return;
  }
  file.note("attention_factor", config.scale());
  file.note("beta_fast", config.betaFast);
  file.note("beta_slow", config.betaSlow);
  file.note("truncate", config.truncates);
}

/// Returns the object that counts, if there is one. As in transformers,
/// `rope_scaling` replaces all of `rope_parameters`, unless it is empty.
static FailureOr<std::optional<ConfigFile>>
chooseNested(const ConfigFile &file) {
  for (StringRef key : {"rope_scaling", "rope_parameters"}) {
    if (!file.find(key))
      continue;
    FailureOr<ConfigFile> nested = file.nested(key);
    if (failed(nested))
      return failure();
    if (!nested->object().empty())
      return std::optional<ConfigFile>(std::move(*nested));
  }
  return std::optional<ConfigFile>();
}

/// A number of original positions beside the object replaces that in it.
FailureOr<RopeConfig> tessera::readRope(const ConfigFile &file,
                                        int64_t positions,
                                        double defaultTheta) {
  RopeConfig config;
  config.theta = defaultTheta;
  config.originalPositions = static_cast<double>(positions);
  if (failed(file.read("rope_theta", config.theta, {1.0001, 1e15})) ||
      failed(refusePart(file)))
    return failure();
  FailureOr<std::optional<ConfigFile>> nested = chooseNested(file);
  if (failed(nested) || (*nested && failed(readNested(**nested, config))) ||
      failed(file.read("original_max_position_embeddings",
                       config.originalPositions, {1, 1e12})))
    return failure();
  if (config.kind == RopeConfig::Yarn && (*nested)->isNull("factor"))
    config.factor = static_cast<double>(positions) / config.originalPositions;
  noteRope(file, config);
  return config;
}

static constexpr StringRef kLayerKinds[] = {"full_attention",
                                            "sliding_attention"};

/// Reads objects for each kind of layer, or one for those that see all keys.
static LogicalResult readKinds(const ConfigFile &nested,
                               LayerRotations &rotations) {
  RopeConfig *configs[] = {&rotations.full, &rotations.sliding};
  bool isByKind = false;
  for (auto [kind, config] : llvm::zip(kLayerKinds, configs)) {
    if (!nested.find(kind))
      continue;
    isByKind = true;
    FailureOr<ConfigFile> own = nested.nested(kind);
    if (failed(own) || failed(readNested(*own, *config)))
      return failure();
    if (config->kind == RopeConfig::Yarn && own->isNull("factor"))
      return own->error("factor")
             << "'factor' = null of " << kind << " must be a number";
  }
  return isByKind ? success() : readNested(nested, rotations.full);
}

FailureOr<LayerRotations> tessera::readLayerRotations(const ConfigFile &file,
                                                      int64_t positions,
                                                      double defaultTheta) {
  LayerRotations rotations;
  rotations.full.theta = defaultTheta;
  rotations.full.originalPositions = rotations.sliding.originalPositions =
      static_cast<double>(positions);
  constexpr Bounds<double> thetas = {1.0001, 1e15};
  if (failed(file.read("rope_theta", rotations.full.theta, thetas)) ||
      failed(
          file.read("rope_local_base_freq", rotations.sliding.theta, thetas)) ||
      failed(refusePart(file)))
    return failure();
  FailureOr<std::optional<ConfigFile>> nested = chooseNested(file);
  if (failed(nested) || (*nested && failed(readKinds(**nested, rotations))) ||
      failed(file.read("original_max_position_embeddings",
                       rotations.full.originalPositions, {1, 1e12})))
    return failure();
  if (rotations.sliding.kind != RopeConfig::Default)
    return file.error("rope_parameters")
           << "the rotation of layers with a window is scaled, which is not "
              "supported; use the rope type default for sliding_attention";
  noteRope(file, rotations.full);
  file.note("rope_local_base_freq", rotations.sliding.theta);
  return rotations;
}
