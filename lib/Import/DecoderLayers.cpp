//===- DecoderLayers.cpp - the keys about single layers of a decoder ------===//

#include "lib/Import/ConfigKeys.h"
#include "lib/Import/DecoderModel.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Returns whether a layer has the window, where `layer_types` says so.
static FailureOr<std::vector<bool>> readLayerTypes(const ConfigFile &file,
                                                   int64_t layers) {
  const llvm::json::Array *list = file.find("layer_types")->getAsArray();
  if (!list)
    return file.error("layer_types") << "'layer_types' must be a list";
  if (static_cast<int64_t>(list->size()) != layers)
    return file.error("layer_types")
           << "'layer_types' has " << list->size()
           << " entries, but 'num_hidden_layers' is " << layers;
  std::vector<bool> windowed;
  for (const llvm::json::Value &type : *list) {
    std::optional<StringRef> name = type.getAsString();
    if (name != "sliding_attention" && name != "full_attention")
      return file.error("layer_types") << "'layer_types' names a layer that is "
                                          "neither full_attention nor "
                                          "sliding_attention";
    windowed.push_back(name == "sliding_attention");
  }
  return windowed;
}

/// Returns the window of a model; 0: none.
static FailureOr<int64_t> readWindow(const ConfigFile &file,
                                     const DecoderFamily &family) {
  int64_t window = family.windowSize;
  const WindowRule rule = family.window;
  bool asks = rule == WindowRule::Default ||
              (rule == WindowRule::Given && file.find("sliding_window"));
  const bool hasFlag = rule == WindowRule::Asked || rule == WindowRule::Unused;
  if (hasFlag && failed(file.read("use_sliding_window", asks)))
    return failure();
  if (rule == WindowRule::Unused && asks)
    return file.error("use_sliding_window")
           << "'use_sliding_window' = true is not supported for "
           << family.withArticle() << "; set it to false";
  if (rule == WindowRule::Unused)
    return 0;
  if (failed(file.read("sliding_window", window, {1, kMaximalSize})))
    return failure();
  if (family.hasLocalRotation() && file.isNull("sliding_window"))
    return file.error("sliding_window")
           << "'sliding_window' = null, but " << family.withArticle()
           << " has layers with a window; give its number of keys";
  return asks && !file.isNull("sliding_window") ? window : 0;
}

/// Remembers which layers have a window, whichever keys said so.
static void noteWindows(const ConfigFile &file, const Decoder &model) {
  file.forget("use_sliding_window");
  file.forget("max_window_layers");
  file.forget("sliding_window_pattern");
  file.forget("_sliding_window_pattern");
  llvm::json::Array types;
  int64_t window = 0;
  for (const DecoderLayer &layer : model.layers) {
    types.push_back(layer.window ? "sliding_attention" : "full_attention");
    window = std::max(window, layer.window);
  }
  file.note("sliding_window",
            window ? llvm::json::Value(window) : llvm::json::Value(nullptr));
  file.note("layer_types", llvm::json::Value(std::move(types)));
}

/// Emits an error where keys that only Qwen2 has say anything else than
/// `sliding_window`, which counts in all layers of the other families.
static LogicalResult checkWindowKeys(const ConfigFile &file, int64_t window) {
  bool asks = window != 0;
  int64_t first = 0;
  if (failed(file.read("use_sliding_window", asks)) ||
      failed(file.read("max_window_layers", first, {0, kMaximalLayers})))
    return failure();
  if (!asks && window != 0)
    return file.error("use_sliding_window")
           << "'use_sliding_window' = false, but the window is " << window
           << "; transformers reads 'sliding_window' alone, which is null for "
              "none";
  if (window != 0 && first != 0)
    return file.error("max_window_layers")
           << "'max_window_layers' = " << first
           << " leaves the window out of layers, which only Qwen2 has; remove "
              "it for a window in all layers";
  return success();
}

/// Returns the layers that have the window where `layer_types` does not say so.
static FailureOr<std::vector<bool>>
windowedLayers(const ConfigFile &file, const Decoder &model, int64_t window) {
  const DecoderFamily &family = *model.family;
  int64_t first = family.firstWindow, pattern = family.windowPattern;
  const bool hasFlag =
      family.window == WindowRule::Asked || family.window == WindowRule::Unused;
  if (!hasFlag && failed(checkWindowKeys(file, window)))
    return failure();
  if (hasFlag && family.has("max_window_layers") &&
      failed(file.read("max_window_layers", first, {0, kMaximalLayers})))
    return failure();
  for (StringRef key : {"_sliding_window_pattern", "sliding_window_pattern"})
    if (family.has(key) && failed(file.read(key, pattern, {1, kMaximalLayers})))
      return failure();
  std::vector<bool> windowed;
  for (int64_t i = 0; i < static_cast<int64_t>(model.layers.size()); ++i)
    windowed.push_back(window != 0 && i >= first &&
                       !(pattern && (i + 1) % pattern == 0) &&
                       !(family.unrotatedEvery && model.layers[i].rotation));
  return windowed;
}

/// Reads the window of each layer as transformers 5 does: `layer_types` says
/// which layers have it, or the family's rule.
static LogicalResult readWindows(const ConfigFile &file, Decoder &model) {
  const DecoderFamily &family = *model.family;
  if (family.window == WindowRule::None)
    return success();
  FailureOr<int64_t> window = readWindow(file, family);
  if (failed(window))
    return failure();
  FailureOr<std::vector<bool>> windowed = windowedLayers(file, model, *window);
  if (succeeded(windowed) && file.find("layer_types") &&
      family.has("layer_types"))
    windowed = readLayerTypes(file, model.layers.size());
  if (failed(windowed))
    return failure();
  if (*window == 0 && llvm::is_contained(*windowed, true))
    return file.error("layer_types")
           << "'layer_types' names sliding_attention, but there is no window; "
           << (family.window == WindowRule::Asked ? "set 'use_sliding_window'"
                                                  : "give 'sliding_window'");
  for (auto [layer, has] : llvm::zip(model.layers, *windowed))
    layer.window = has ? *window : 0;
  noteWindows(file, model);
  return success();
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

/// Reads `no_rope_layers`, which holds 1 for a layer that is rotated.
static LogicalResult readUnrotated(const ConfigFile &file, Decoder &model) {
  int64_t every = model.family->unrotatedEvery;
  if (every == 0)
    return success();
  if (failed(file.read("no_rope_layer_interval", every, {1, kMaximalLayers})))
    return failure();
  for (size_t i = 0; i < model.layers.size(); ++i)
    if ((i + 1) % every == 0)
      model.layers[i].rotation.reset();
  const llvm::json::Value *given = file.find("no_rope_layers");
  const llvm::json::Array *list = given ? given->getAsArray() : nullptr;
  if (given && !list)
    return file.error("no_rope_layers") << "'no_rope_layers' must be a list";
  if (list && list->size() < model.layers.size())
    return file.error("no_rope_layers")
           << "'no_rope_layers' has " << list->size()
           << " entries, but 'num_hidden_layers' is " << model.layers.size();
  llvm::json::Array rotated;
  for (size_t i = 0; i < model.layers.size(); ++i) {
    if (list) {
      std::optional<int64_t> flag = (*list)[i].getAsInteger();
      if (flag != 0 && flag != 1)
        return file.error("no_rope_layers")
               << "'no_rope_layers' must hold 1 for layers that are rotated "
                  "and 0 for the others";
      model.layers[i].rotation.reset();
      if (*flag)
        model.layers[i].rotation = 0;
    }
    rotated.push_back(model.layers[i].rotation ? 1 : 0);
  }
  file.forget("no_rope_layer_interval");
  file.note("no_rope_layers", llvm::json::Value(std::move(rotated)));
  return success();
}

/// Reads the rotations. transformers 5 writes those of layers with a window and
/// of the others apart, into `rope_parameters`.
static LogicalResult readRotations(const ConfigFile &file, Decoder &model) {
  const DecoderFamily &family = *model.family;
  if (!family.hasLocalRotation()) {
    FailureOr<RopeConfig> rope = readRope(file, model.positions, family.theta);
    if (succeeded(rope))
      model.rotations = {*rope};
    return rope;
  }
  FailureOr<LayerRotations> both =
      readLayerRotations(file, model.positions, family.theta);
  if (failed(both))
    return failure();
  model.rotations = {both->full, both->sliding};
  for (DecoderLayer &layer : model.layers)
    layer.rotation = layer.window ? 1 : 0;
  return success();
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

/// Reads `mlp_only_layers`, the numbers of layers without experts.
static LogicalResult readDenseLayers(const ConfigFile &file, Decoder &model) {
  const llvm::json::Value *given = file.find("mlp_only_layers");
  if (!given)
    return success();
  const llvm::json::Array *list = given->getAsArray();
  if (!list)
    return file.error("mlp_only_layers") << "'mlp_only_layers' must be a list";
  for (const llvm::json::Value &number : *list) {
    std::optional<int64_t> layer = number.getAsInteger();
    if (!layer || *layer < 0 ||
        *layer >= static_cast<int64_t>(model.layers.size()))
      return file.error("mlp_only_layers")
             << "'mlp_only_layers' names layer "
             << llvm::formatv("{0}", number).str() << ", but there are "
             << model.layers.size() << "; layers count from 0";
    model.layers[*layer].isMixture = false;
  }
  return success();
}

/// Reads which layers are mixtures: each `decoder_sparse_step`-th but those of
/// `mlp_only_layers`.
static LogicalResult readMixtures(const ConfigFile &file, Decoder &model) {
  for (DecoderLayer &layer : model.layers)
    layer.isMixture = model.experts.has_value();
  if (!model.family->has("decoder_sparse_step"))
    return success();
  int64_t step = 1;
  if (failed(file.read("decoder_sparse_step", step, {1, kMaximalLayers})))
    return failure();
  for (size_t i = 0; i < model.layers.size(); ++i)
    model.layers[i].isMixture = (i + 1) % step == 0;
  if (failed(readDenseLayers(file, model)))
    return failure();
  llvm::json::Array dense;
  for (auto [number, layer] : llvm::enumerate(model.layers))
    if (!layer.isMixture)
      dense.push_back(static_cast<int64_t>(number));
  file.forget("decoder_sparse_step");
  file.note("mlp_only_layers", llvm::json::Value(std::move(dense)));
  return success();
}

LogicalResult tessera::readLayers(const ConfigFile &file, Decoder &model,
                                  int64_t layers) {
  model.layers.resize(layers);
  return success(succeeded(readUnrotated(file, model)) &&
                 succeeded(readWindows(file, model)) &&
                 succeeded(readRotations(file, model)) &&
                 succeeded(readMixtures(file, model)));
}
