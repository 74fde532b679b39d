//===- ParseMetadata.cpp - the metadata of an artifact, from its JSON -----===//
#include "runtime/artifact/Metadata.h"
#include "runtime/artifact/ParseTasks.h"
#include "runtime/artifact/Sharding.h"
#include "runtime/support/DType.h"
#include "runtime/support/JsonLimits.h"
#include "runtime/support/Status.h"
#include "tessera/abi.h"

#include <algorithm>
#include <cmath>

namespace tessera {

//===----------------------------------------------------------------------===//
// One entry of "tensors"
//===----------------------------------------------------------------------===//

namespace {
constexpr size_t maxRank = 16;

std::vector<int64_t> parseShape(const JsonView &view) {
  std::vector<int64_t> shape = view.integers(1, TSR_LIMIT_DIMENSION);
  if (shape.size() > maxRank)
    view.refuse(concat("has ", shape.size(), " dimensions, at most ", maxRank));
  int64_t count = 1;
  for (int64_t size : shape) {
    if (count > TSR_LIMIT_ELEMENTS / size)
      view.refuse("has too many elements");
    count *= size;
  }
  return shape;
}

int64_t parseAxis(const JsonView &view, const Mesh &mesh) {
  const std::string &name = view.text();
  for (size_t i = 0; i < mesh.axes.size(); ++i)
    if (mesh.axes[i].name == name)
      return static_cast<int64_t>(i);
  view.refuse(concat("is '", name, "', which is no axis of the mesh"));
}

void takeAxis(const JsonView &view, int64_t axis, int64_t &used) {
  if ((used >> axis) & 1)
    view.refuse("names an axis that the tensor already uses");
  used |= int64_t(1) << axis;
}

void parsePlacement(const JsonView &entry, const Mesh &mesh,
                    TensorInfo &tensor) {
  int64_t used = 0;
  int64_t lastDim = static_cast<int64_t>(tensor.shape.size()) - 1;
  for (const JsonView &item : entry.at("sharding").items()) {
    Split split;
    split.axis = parseAxis(item.at("axis"), mesh);
    split.dim = item.at("dim").integer(0, lastDim);
    takeAxis(item, split.axis, used);
    tensor.sharding.push_back(split);
  }
  if (!entry.has("partial"))
    return;
  for (const JsonView &item : entry.at("partial").items()) {
    tensor.partial.push_back(parseAxis(item, mesh));
    takeAxis(item, tensor.partial.back(), used);
  }
}

void parseZeros(const JsonView &view, Initial &init) {
  std::vector<JsonView> range = view.items();
  if (range.size() != 2)
    view.refuse("must be the first element that is 0 and the one after them");
  init.zerosBegin = range[0].integer(0, INT64_MAX);
  init.zerosEnd = range[1].integer(init.zerosBegin, INT64_MAX);
}

Initial parseInitial(const JsonView &view) {
  Initial init;
  const std::string &kind = view.at("kind").text();
  if (kind == "zeros" || kind == "ones") {
    init.kind = kind == "zeros" ? Initial::Zeros : Initial::Ones;
    return init;
  }
  if (kind == "cosines" || kind == "sines") {
    init.kind = kind == "cosines" ? Initial::Cosines : Initial::Sines;
    init.scale = view.at("scale").number();
    for (const JsonView &item : view.at("frequencies").items())
      init.frequencies.push_back(item.number());
    if (init.frequencies.empty())
      view.at("frequencies").refuse("is empty");
    return init;
  }
  if (kind == "uniform") {
    init.kind = Initial::Uniform;
    init.bound = view.at("bound").number();
    init.stream = view.at("stream").integer(INT64_MIN, INT64_MAX);
    if (!(init.bound >= 0) || !std::isfinite(init.bound))
      view.at("bound").refuse("must be finite and not negative");
    return init;
  }
  if (kind != "normal")
    view.at("kind").refuse("is '" + kind +
                           "', must be normal, uniform, zeros, "
                           "ones, cosines or sines");
  init.kind = Initial::Normal;
  init.mean = view.at("mean").number();
  init.std = view.at("std").number();
  init.stream = view.at("stream").integer(INT64_MIN, INT64_MAX);
  if (!(init.std >= 0) || !std::isfinite(init.std))
    view.at("std").refuse("must be finite and not negative");
  if (view.has("zeros"))
    parseZeros(view.at("zeros"), init);
  return init;
}

/// A row of angles has a frequency per element.
void checkFrequencies(const JsonView &entry, const TensorInfo &tensor) {
  if (!tensor.init || tensor.init->frequencies.empty())
    return;
  int64_t count = static_cast<int64_t>(tensor.init->frequencies.size());
  if (tensor.shape.size() != 2 || tensor.shape[1] != count)
    entry.at("init").refuse(concat("has ", count, " frequencies for a table ",
                                   describeShape(tensor.shape)));
}

void checkLocalShape(const JsonView &entry, const Mesh &mesh,
                     const TensorInfo &tensor) {
  std::vector<int64_t> expected = localShapeOf(tensor, mesh);
  if (tensor.localShape != expected)
    entry.at("local_shape")
        .refuse(concat("is ", describeShape(tensor.localShape),
                       ", the sharding makes it ", describeShape(expected)));
}

void checkOffset(const JsonView &view, const TensorInfo &tensor, int64_t offset,
                 int64_t arenaBytes) {
  if (offset % dtypeBytes(tensor.dtype) != 0)
    view.refuse(concat("is ", offset, ", not a multiple of ",
                       dtypeBytes(tensor.dtype)));
  if (tensor.localBytes() > arenaBytes - offset)
    view.refuse(concat("is ", offset, ", with ", tensor.localBytes(),
                       " bytes it leaves the arena of ", arenaBytes, " bytes"));
}

/// "offset", or with stages "offsets", -1 where a stage has none.
void parsePlace(const JsonView &entry, const Metadata &metadata,
                TensorInfo &tensor) {
  if (metadata.mesh.stageAxis < 0) {
    JsonView offset = entry.at("offset");
    tensor.offset = offset.integer(0, metadata.arenaBytes);
    return checkOffset(offset, tensor, tensor.offset, metadata.arenaBytes);
  }
  JsonView offsets = entry.at("offsets");
  tensor.stageOffsets = offsets.integers(-1, metadata.arenaBytes);
  std::vector<JsonView> items = offsets.items();
  int64_t stages = metadata.mesh.stages(), held = 0;
  if (static_cast<int64_t>(tensor.stageOffsets.size()) != stages)
    offsets.refuse(concat("has ", tensor.stageOffsets.size(),
                          " entries for the ", stages, " stages"));
  for (int64_t stage = 0; stage < stages; ++stage)
    if (tensor.isAt(stage)) {
      ++held;
      checkOffset(items[stage], tensor, tensor.stageOffsets[stage],
                  metadata.arenaBytesAt(stage));
    }
  if (held == 0)
    offsets.refuse("has no stage that holds the tensor");
  tensor.offset = tensor.stageOffsets[tensor.firstStage()];
}
} // namespace

static TensorInfo parseTensor(const JsonView &entry, const Metadata &metadata) {
  TensorInfo tensor;
  JsonView role = entry.at("role"), dtype = entry.at("dtype");
  if (!roleFromName(role.text()))
    role.refuse("is '" + role.text() + "', which is no role");
  if (!dtypeFromName(dtype.text()))
    dtype.refuse("is '" + dtype.text() +
                 "', must be f32, bf16, f64, i32 or i8");
  tensor.role = *roleFromName(role.text());
  tensor.dtype = *dtypeFromName(dtype.text());
  tensor.name = entry.at("name").text();
  tensor.shape = parseShape(entry.at("shape"));
  tensor.fileShape = entry.has("file_shape")
                         ? parseShape(entry.at("file_shape"))
                         : tensor.shape;
  tensor.localShape = parseShape(entry.at("local_shape"));
  if (elementsOf(tensor.fileShape) != tensor.elements())
    entry.at("file_shape")
        .refuse(concat("is ", describeShape(tensor.fileShape),
                       ", it must have the elements of ",
                       describeShape(tensor.shape)));
  parsePlacement(entry, metadata.mesh, tensor);
  if (entry.has("init"))
    tensor.init = parseInitial(entry.at("init"));
  if (tensor.role == Role::Scale)
    tensor.channels = entry.at("channels").integers(0, maxRank);
  checkFrequencies(entry, tensor);
  checkLocalShape(entry, metadata.mesh, tensor);
  parsePlace(entry, metadata, tensor);
  return tensor;
}

//===----------------------------------------------------------------------===//
// Everything else
//===----------------------------------------------------------------------===//

namespace {
constexpr size_t maxAxes = 16;
constexpr int64_t maxCount = int64_t(1) << 40;

Mesh parseMesh(const JsonView &view) {
  Mesh mesh;
  for (const JsonView &item : view.items()) {
    Axis axis{item.at("axis").text(),
              item.at("size").integer(1, TSR_LIMIT_RANKS)};
    for (const Axis &other : mesh.axes)
      if (other.name == axis.name)
        item.refuse("repeats the axis '" + axis.name + "'");
    mesh.axes.push_back(std::move(axis));
    if (mesh.axes.size() > maxAxes || mesh.ranks() > TSR_LIMIT_RANKS)
      view.refuse(concat("has more than ", maxAxes, " axes or ",
                         TSR_LIMIT_RANKS, " ranks"));
  }
  return mesh;
}

void parseStageAxis(const JsonView &view, Mesh &mesh) {
  for (size_t i = 0; i < mesh.axes.size(); ++i)
    if (mesh.axes[i].name == view.text())
      mesh.stageAxis = static_cast<int64_t>(i);
  if (mesh.stageAxis < 0)
    view.refuse("is '" + view.text() + "', which is no axis of the mesh");
}

Generation parseGeneration(const JsonView &view) {
  // Little enough that products of all four do not overflow.
  constexpr int64_t most = 1 << 24;
  Generation sizes;
  sizes.lanes = view.at("lanes").integer(1, TSR_LIMIT_RANKS);
  sizes.slots = view.at("slots").integer(1, most / sizes.lanes);
  sizes.places = view.at("places").integer(1, most);
  sizes.chunk = view.at("prefill_chunk").integer(1, most / sizes.lanes);
  if (view.has("source"))
    sizes.source = view.at("source").integer(1, most / sizes.lanes);
  if (view.has("candidates"))
    sizes.candidates = view.at("candidates").integer(1, most);
  return sizes;
}

Model parseModel(const JsonView &view) {
  Model model;
  model.vocabulary = view.at("vocabulary").integer(1, INT32_MAX);
  model.sequence = view.at("sequence").integer(1, maxCount);
  model.batch = view.at("batch").integer(1, maxCount);
  model.microBatches = view.at("micro_batches").integer(1, maxCount);
  if (model.batch % model.microBatches != 0)
    view.at("batch").refuse(concat("is ", model.batch, ", not a multiple of ",
                                   model.microBatches, " micro-batches"));
  if (view.has("mask_token"))
    model.maskToken = view.at("mask_token").integer(0, model.vocabulary - 1);
  if (view.has("special_tokens"))
    model.special = view.at("special_tokens").integers(0, model.vocabulary - 1);
  std::sort(model.special.begin(), model.special.end());
  if (view.has("ignores_labels"))
    model.causalIgnores = view.at("ignores_labels").integer(0, 1) == 1;
  if (view.has("token_types"))
    model.tokenTypes = view.at("token_types").integer(1, INT32_MAX);
  if (view.has("target"))
    model.decoder = {view.at("target").integer(1, maxCount),
                     view.at("start_token").integer(0, model.vocabulary - 1),
                     view.at("pad_token").integer(0, model.vocabulary - 1)};
  if (view.has("unknown_keys"))
    for (const JsonView &key : view.at("unknown_keys").items())
      model.unknownKeys.push_back(key.text());
  if (view.has("separator"))
    model.separator = view.at("separator").integer(0, model.vocabulary - 1);
  if (view.has("padding"))
    model.padding = view.at("padding").integer(0, model.vocabulary - 1);
  if (view.has("slots"))
    model.generation = parseGeneration(view);
  if (view.has("predictions"))
    model.predictions =
        view.at("predictions").integer(0, std::min(model.sequence, maxCount));
  if (model.batch > maxCount / model.columns())
    view.at("batch").refuse("times the sequence is too large");
  return model;
}

double parseFinite(const JsonView &view, double low, double high) {
  double value = view.number();
  if (!(value >= low && value <= high))
    view.refuse(concat("is ", value, ", must be in [", low, ", ", high, "]"));
  return value;
}

Optimizer parseOptimizer(const JsonView &view) {
  Optimizer optimizer;
  if (view.has("kind"))
    optimizer.kind = view.at("kind").text();
  // A beta of 1 would make the bias correction infinite.
  optimizer.beta1 = parseFinite(view.at("beta1"), 0, std::nextafter(1.0, 0.0));
  optimizer.beta2 = parseFinite(view.at("beta2"), 0, std::nextafter(1.0, 0.0));
  optimizer.lr = parseFinite(view.at("lr"), 0, 1e30);
  optimizer.minLr = parseFinite(view.at("min_lr"), 0, 1e30);
  optimizer.warmupSteps = view.at("warmup_steps").integer(0, maxCount);
  optimizer.totalSteps = view.at("total_steps").integer(0, INT64_MAX);
  if (view.has("schedule")) {
    JsonView name = view.at("schedule");
    std::optional<RateKind> known = rateKindFromName(name.text());
    if (!known)
      name.refuse(
          concat("is '", name.text(), "', must be one of ", rateKindNames()));
    optimizer.schedule = *known;
  }
  if (view.has("decay_steps"))
    optimizer.decaySteps =
        view.at("decay_steps")
            .integer(0, std::max<int64_t>(0, optimizer.totalSteps -
                                                 optimizer.warmupSteps));
  return optimizer;
}

/// `first`: the program's first op.
OpInfo parseOp(const JsonView &view, const Metadata &metadata, size_t first) {
  OpInfo op;
  op.op = view.at("op").text();
  if (view.has("name"))
    op.name = view.at("name").text();
  if (view.has("layer"))
    op.layer = view.at("layer").integer(-1, maxCount);
  // The most that a loop of micro-batches runs, and little enough to be added.
  if (view.has("times"))
    op.times = view.at("times").integer(
        1, std::min<int64_t>(metadata.model.microBatches, INT32_MAX));
  int64_t stages = metadata.mesh.stages();
  if (stages > 1) // they are there stage by stage
    op.stage = view.at("stage").integer(
        metadata.ops.size() == first ? 0 : metadata.ops.back().stage,
        stages - 1);
  return op;
}

/// Reads "ops" of a program; returns the first's number.
size_t parseOps(const JsonView &program, Metadata &metadata) {
  size_t first = metadata.ops.size();
  for (const JsonView &item : program.at("ops").items())
    metadata.ops.push_back(parseOp(item, metadata, first));
  return first;
}

void parseEvaluation(const JsonView &evaluation, Metadata &metadata) {
  if (!metadata.hasEvaluation())
    evaluation.refuse("has no outputs 'evaluation_loss' and "
                      "'evaluation_correct'");
  size_t first = parseOps(evaluation, metadata);
  parseTasks(evaluation, first, metadata);
}

/// The first program, and those beside it in the order of their calls.
void parsePrograms(const JsonView &root, Metadata &metadata) {
  size_t first = parseOps(root, metadata);
  if (root.has("pipeline"))
    parseTasks(root.at("pipeline"), first, metadata);
  metadata.stepOps = metadata.ops.size();
  if (root.has("evaluation"))
    parseEvaluation(root.at("evaluation"), metadata);
  for (const char *name : {"decode", "mixed", "score", "encode"})
    if (root.has(name))
      parseOps(root.at(name), metadata);
}

void parseArena(const JsonView &view, Metadata &metadata) {
  constexpr int64_t limit = TSR_LIMIT_ARENA_BYTES;
  metadata.arenaBytes = view.at("bytes").integer(0, limit);
  if (metadata.mesh.stageAxis >= 0) {
    for (const JsonView &stage : view.at("stages").items())
      metadata.stageArenas.push_back(
          stage.at("bytes").integer(0, metadata.arenaBytes));
    if (static_cast<int64_t>(metadata.stageArenas.size()) !=
        metadata.mesh.stages())
      view.at("stages").refuse(concat("has ", metadata.stageArenas.size(),
                                      " entries for the ",
                                      metadata.mesh.stages(), " stages"));
  }
  if (!view.has("by_kind"))
    return;
  JsonView kinds = view.at("by_kind");
  for (const char *kind :
       {"weights", "weight copies", "gathered weights", "gradients",
        "optimizer", "activations", "workspace", "inputs", "caches"})
    if (kinds.has(kind))
      metadata.arenaKinds.emplace_back(kind, kinds.at(kind).integer(0, limit));
  std::stable_sort(metadata.arenaKinds.begin(), metadata.arenaKinds.end(),
                   [](auto &a, auto &b) { return a.second > b.second; });
}

void parseTensors(const JsonView &view, Metadata &metadata) {
  for (const JsonView &item : view.items()) {
    TensorInfo tensor = parseTensor(item, metadata);
    auto key = std::make_pair(tensor.role, tensor.name);
    if (!metadata.index.emplace(key, metadata.tensors.size()).second)
      item.refuse("repeats " + tensor.describe());
    metadata.tensors.push_back(std::move(tensor));
  }
}

/// State and caches live from step to step: they share no memory.
void checkApart(const JsonView &view, const Metadata &metadata, int64_t stage) {
  std::vector<const TensorInfo *> state;
  for (const TensorInfo &tensor : metadata.tensors)
    if ((isState(tensor.role) || isCache(tensor.role) ||
         tensor.role == Role::Scale) &&
        tensor.isAt(stage))
      state.push_back(&tensor);
  std::sort(state.begin(), state.end(), [&](auto *a, auto *b) {
    return a->offsetAt(stage) < b->offsetAt(stage);
  });
  for (size_t i = 1; i < state.size(); ++i)
    if (state[i - 1]->offsetAt(stage) + state[i - 1]->localBytes() >
        state[i]->offsetAt(stage))
      view.refuse(concat(state[i - 1]->describe(), " overlaps ",
                         state[i]->describe(), " in the arena"));
}

void checkState(const JsonView &view, const Metadata &metadata) {
  for (const TensorInfo &tensor : metadata.tensors) {
    if (!isState(tensor.role))
      continue;
    const TensorInfo *parameter = metadata.find(Role::Parameter, tensor.name);
    if (!parameter || parameter->shape != tensor.shape ||
        parameter->fileShape != tensor.fileShape)
      view.refuse(tensor.describe() + " has no parameter of its shape");
    if (!tensor.partial.empty())
      view.refuse(tensor.describe() + " is state and cannot be partial");
  }
  for (int64_t stage = 0; stage < metadata.mesh.stages(); ++stage)
    checkApart(view, metadata, stage);
}

/// Whether a scale has the dimensions of its parameter that it names, each once
/// and in order.
bool fitsChannels(const TensorInfo &scale, const TensorInfo &parameter) {
  if (scale.channels.size() != scale.shape.size())
    return false;
  int64_t next = 0;
  for (size_t k = 0; k < scale.channels.size(); ++k) {
    const int64_t dim = scale.channels[k];
    if (dim < next || dim >= static_cast<int64_t>(parameter.shape.size()) ||
        parameter.shape[dim] != scale.shape[k])
      return false;
    next = dim + 1;
  }
  return true;
}

/// Parameters of integers have scales, and nothing else has.
void checkScales(const JsonView &view, const Metadata &metadata) {
  for (const TensorInfo &tensor : metadata.tensors) {
    if (tensor.role == Role::Parameter && tensor.dtype == TSR_DTYPE_I8 &&
        !metadata.find(Role::Scale, tensor.name))
      view.refuse(tensor.describe() + " is i8 and has no scale");
    if (tensor.role != Role::Scale)
      continue;
    const TensorInfo *parameter = metadata.find(Role::Parameter, tensor.name);
    const bool isFloat =
        tensor.dtype == TSR_DTYPE_F32 || tensor.dtype == TSR_DTYPE_F64;
    if (!parameter || parameter->dtype != TSR_DTYPE_I8 || !isFloat ||
        !tensor.partial.empty() || !fitsChannels(tensor, *parameter))
      view.refuse(
          tensor.describe() +
          " must be f32 or f64, with the channels of a parameter of i8");
  }
}

void checkInput(const JsonView &view, const Metadata &metadata, Role role,
                const char *name, const std::vector<int64_t> &shape) {
  const TensorInfo *tensor = metadata.find(role, name);
  if (!tensor)
    return;
  bool isInteger = tensor->dtype == TSR_DTYPE_I32;
  if (tensor->shape != shape || isInteger == shape.empty())
    view.refuse(concat(tensor->describe(), " must be ",
                       shape.empty() ? "floating point " : "i32 ",
                       describeShape(shape), ", it is ",
                       dtypeName(tensor->dtype), " ",
                       describeShape(tensor->shape)));
}

void requireTensor(const JsonView &view, const Metadata &metadata, Role role,
                   const std::string &name, const std::vector<int64_t> &shape,
                   bool isInteger) {
  const TensorInfo *tensor = metadata.find(role, name);
  if (!tensor || tensor->shape != shape || !tensor->partial.empty() ||
      isInteger != (tensor->dtype == TSR_DTYPE_I32))
    view.refuse(concat("lacks ", roleName(role), " '", name, "' of ",
                       describeShape(shape)));
}

void requireTensor(const JsonView &view, const Metadata &metadata, Role role,
                   const std::string &name, const std::vector<int64_t> &shape) {
  requireTensor(view, metadata, role, name, shape, role == Role::Input);
}

void checkInputs(const JsonView &view, const Metadata &metadata) {
  const Model &model = metadata.model;
  std::vector<int64_t> tokens = {
      model.microBatches, model.batch / model.microBatches, model.sequence};
  if (model.predictions) // it has no micro-batches
    tokens = {model.batch, model.sequence};
  checkInput(view, metadata, Role::Input, "ids", tokens);
  checkInput(view, metadata, Role::Input, "token_types", tokens);
  checkInput(view, metadata, Role::Input, "segments", tokens);
  tokens.back() = model.labels();
  checkInput(view, metadata, Role::Input, "labels", tokens);
  checkInput(view, metadata, Role::Input, "decoder_ids", tokens);
  checkInput(view, metadata, Role::Input, "decoder_segments", tokens);
  for (const char *name : {"lr", "bias_correction1", "bias_correction2"})
    checkInput(view, metadata, Role::Input, name, {});
  for (const char *name : {"loss", "grad_norm", "applied", "evaluation_loss",
                           "evaluation_correct", "evaluation_count"})
    checkInput(view, metadata, Role::Output, name, {});
}

/// Whether the ranks that share the places of slots have as many each, and
/// together no more than they need for that.
bool dealsPlaces(const TensorInfo &cache, int64_t wanted) {
  const int64_t places = cache.shape[2], held = cache.localShape[2];
  return places >= wanted && places % held == 0 &&
         places - wanted < places / held;
}

/// Of what cross-attention reads.
bool isOfSources(const TensorInfo &cache) {
  const std::string ending = ".source";
  return cache.name.size() > ending.size() &&
         cache.name.compare(cache.name.size() - ending.size(), ending.size(),
                            ending) == 0;
}

/// Slots are copied: a rank has all of those of its lanes.
void checkCaches(const JsonView &view, const Metadata &metadata,
                 const Generation &sizes) {
  for (const TensorInfo &cache : metadata.tensors) {
    if (!isCache(cache.role))
      continue;
    const int64_t places = isOfSources(cache) ? sizes.source : sizes.places;
    if ((cache.shape.size() != 5 || cache.shape[0] != sizes.lanes ||
         cache.shape[1] != sizes.slots || cache.localShape[1] != sizes.slots ||
         !dealsPlaces(cache, places) || !cache.partial.empty()))
      view.refuse(concat(cache.describe(), " must be [", sizes.lanes, ", ",
                         sizes.slots, ", ", places,
                         " or as many more as ranks that share these need, key "
                         "heads, head size], whole in the second and equal on "
                         "all ranks in the third, it is ",
                         describeShape(cache.shape), ", a rank has ",
                         describeShape(cache.localShape)));
  }
}

/// In the place of logits.
void checkCandidates(const JsonView &view, const Metadata &metadata,
                     const std::string &program) {
  const Generation &sizes = *metadata.model.generation;
  const int64_t lanes = sizes.lanes, slots = sizes.slots;
  if (sizes.candidates > metadata.model.vocabulary)
    view.refuse(concat("has ", sizes.candidates,
                       " candidates of a vocabulary "
                       "of ",
                       metadata.model.vocabulary));
  auto require = [&](Role role, const char *name,
                     const std::vector<int64_t> &shape) {
    requireTensor(view, metadata, role, program + name, shape);
  };
  require(Role::Input, "_tokens", {lanes, slots, sizes.places});
  require(Role::Input, "_draws", {lanes, slots, 3});
  for (const char *name : {"_penalties", "_sharpness"})
    requireTensor(view, metadata, Role::Input, program + name, {lanes, slots},
                  /*isInteger=*/false);
  require(Role::Output, "_candidates", {lanes, slots, sizes.candidates, 2});
  require(Role::Output, "_drawn", {lanes, slots, 1, 3});
  require(Role::Output, "_totals", {lanes, slots});
}

/// What a program for generation reads and makes, in the sizes of the model.
void checkGeneration(const JsonView &view, const Metadata &metadata) {
  if (!metadata.model.generation)
    return;
  const Generation &sizes = *metadata.model.generation;
  auto checkRows = [&](const std::string &program, int64_t rows) {
    for (const char *name : {"_ids", "_slots", "_positions"})
      requireTensor(view, metadata, Role::Input, program + name,
                    {sizes.lanes, rows});
    if (sizes.source)
      requireTensor(view, metadata, Role::Input,
                    program + (program == "encode" ? "_segments" : "_sources"),
                    {sizes.lanes, rows});
  };
  auto check = [&](const std::string &program, int64_t rows) {
    checkRows(program, rows);
    requireTensor(view, metadata, Role::Input, program + "_last",
                  {sizes.lanes, sizes.slots});
    if (sizes.candidates)
      checkCandidates(view, metadata, program);
    else
      requireTensor(view, metadata, Role::Output, program + "_logits",
                    {sizes.lanes, sizes.slots, metadata.model.vocabulary});
  };
  check("decode", sizes.slots);
  check("mixed", sizes.mixedRows());
  if (sizes.source && !metadata.model.decoder)
    view.refuse("has sources, but no token that begins their texts");
  if (sizes.source)
    checkRows("encode", sizes.source);
  if (metadata.hasScores()) {
    const std::vector<int64_t> rows = {sizes.lanes, sizes.mixedRows()};
    checkRows("score", sizes.mixedRows());
    requireTensor(view, metadata, Role::Input, "score_labels", rows);
    for (const char *name : {"score_log_probabilities", "score_label_ranks"})
      requireTensor(view, metadata, Role::Output, name, rows);
  }
  checkCaches(view, metadata, sizes);
}

/// What a program that encodes reads and makes, in the sizes of the model.
void checkEncoding(const JsonView &view, const Metadata &metadata) {
  const Model &model = metadata.model;
  if (!model.predictions)
    return;
  const TensorInfo *hidden = metadata.find(Role::Output, "encode_hidden");
  const int64_t width =
      hidden && hidden->shape.size() == 3 ? hidden->shape[2] : 1;
  requireTensor(view, metadata, Role::Input, "ids",
                {model.batch, model.sequence});
  requireTensor(view, metadata, Role::Output, "encode_hidden",
                {model.batch, model.sequence, width});
  if (*model.predictions == 0)
    return;
  requireTensor(view, metadata, Role::Input, "positions",
                {model.batch, *model.predictions});
  requireTensor(view, metadata, Role::Output, "encode_logits",
                {model.batch, *model.predictions, model.vocabulary});
}

void parseConfigFiles(const JsonView &view, Metadata &metadata) {
  for (const char *name : configFileNames) {
    if (!view.has(name))
      continue;
    const std::string &text = view.at(name).text();
    JsonTree parsed = parseJson(concat("'", name, "' of an artifact"), text,
                                json_kinds::config);
    if (!parsed.root.is_object())
      view.at(name).refuse("must be the text of an object");
    metadata.configFiles[name] = text;
  }
}
} // namespace

std::map<std::string, std::string> parseKeys(const JsonView &view) {
  view.requireObject();
  std::map<std::string, std::string> keys;
  for (const auto &entry : view.raw().items())
    keys[entry.key()] = entry.value().dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
  return keys;
}

Metadata parseMetadata(const std::string &source, const std::string &text) {
  static_assert(json_kinds::metadata.bytes == TSR_LIMIT_METADATA_BYTES);
  JsonTree parsed = parseJson(source, text, json_kinds::metadata);
  JsonView root(parsed.root, source);
  root.at("format").integer(1, 1);
  Metadata metadata;
  metadata.device = root.at("target").at("device").text();
  if (root.at("target").has("cpu"))
    metadata.cpu = root.at("target").at("cpu").text();
  if (root.at("target").has("features"))
    for (const JsonView &item : root.at("target").at("features").items())
      metadata.features.push_back(item.text());
  metadata.mesh = parseMesh(root.at("mesh"));
  if (root.has("pipeline"))
    parseStageAxis(root.at("pipeline").at("axis"), metadata.mesh);
  metadata.model = parseModel(root.at("model"));
  metadata.optimizer = parseOptimizer(root.at("optimizer"));
  parseArena(root.at("arena"), metadata);
  parseTensors(root.at("tensors"), metadata);
  parsePrograms(root, metadata);
  if (root.has("config_files"))
    parseConfigFiles(root.at("config_files"), metadata);
  if (root.has("model_keys"))
    metadata.modelKeys = parseKeys(root.at("model_keys"));
  if (root.has("training_keys"))
    metadata.trainingKeys = parseKeys(root.at("training_keys"));
  checkState(root.at("tensors"), metadata);
  checkScales(root.at("tensors"), metadata);
  checkInputs(root.at("tensors"), metadata);
  checkGeneration(root.at("tensors"), metadata);
  checkEncoding(root.at("tensors"), metadata);
  return metadata;
}

} // namespace tessera
