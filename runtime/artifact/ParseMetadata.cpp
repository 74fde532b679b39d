//===- ParseMetadata.cpp - the metadata of an artifact, from its JSON -----===//
#include "runtime/artifact/CheckTensors.h"
#include "runtime/artifact/FieldView.h"
#include "runtime/artifact/Metadata.h"
#include "runtime/artifact/ParseTasks.h"
#include "runtime/artifact/Sharding.h"
#include "runtime/support/DType.h"
#include "runtime/support/JsonLimits.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <cmath>

namespace tessera {

//===----------------------------------------------------------------------===//
// One entry of "tensors"
//===----------------------------------------------------------------------===//

namespace {
constexpr size_t maxRank = 16;

std::vector<int64_t> parseShape(const JsonView &view) {
  std::vector<int64_t> shape =
      view.integers(fields::Tensor::shape.low, fields::Tensor::shape.high);
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
  for (const JsonView &item : at(entry, fields::Tensor::sharding).items()) {
    Split split;
    split.axis = parseAxis(at(item, fields::Split::axis), mesh);
    split.dim = integerAt(item, fields::Split::dim, 0, lastDim);
    takeAxis(item, split.axis, used);
    tensor.sharding.push_back(split);
  }
  if (!has(entry, fields::Tensor::partial))
    return;
  for (const JsonView &item : at(entry, fields::Tensor::partial).items()) {
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
  const std::string &kind = at(view, fields::Initial::kind).text();
  if (kind == "zeros" || kind == "ones") {
    init.kind = kind == "zeros" ? Initial::Zeros : Initial::Ones;
    return init;
  }
  if (kind == "cosines" || kind == "sines") {
    init.kind = kind == "cosines" ? Initial::Cosines : Initial::Sines;
    init.scale = at(view, fields::Initial::scale).number();
    for (const JsonView &item : at(view, fields::Initial::frequencies).items())
      init.frequencies.push_back(item.number());
    if (init.frequencies.empty())
      at(view, fields::Initial::frequencies).refuse("is empty");
    return init;
  }
  if (kind == "uniform") {
    init.kind = Initial::Uniform;
    init.bound = at(view, fields::Initial::bound).number();
    init.stream = integerAt(view, fields::Initial::stream);
    if (!(init.bound >= 0) || !std::isfinite(init.bound))
      at(view, fields::Initial::bound)
          .refuse("must be finite and not negative");
    return init;
  }
  if (kind != "normal")
    at(view, fields::Initial::kind)
        .refuse("is '" + kind +
                "', must be normal, uniform, zeros, "
                "ones, cosines or sines");
  init.kind = Initial::Normal;
  init.mean = at(view, fields::Initial::mean).number();
  init.std = at(view, fields::Initial::std).number();
  init.stream = integerAt(view, fields::Initial::stream);
  if (!(init.std >= 0) || !std::isfinite(init.std))
    at(view, fields::Initial::std).refuse("must be finite and not negative");
  if (has(view, fields::Initial::zeros))
    parseZeros(at(view, fields::Initial::zeros), init);
  return init;
}

/// A row of angles has a frequency per element.
void checkFrequencies(const JsonView &entry, const TensorInfo &tensor) {
  if (!tensor.init || tensor.init->frequencies.empty())
    return;
  int64_t count = static_cast<int64_t>(tensor.init->frequencies.size());
  if (tensor.shape.size() != 2 || tensor.shape[1] != count)
    at(entry, fields::Tensor::init)
        .refuse(concat("has ", count, " frequencies for a table ",
                       describeShape(tensor.shape)));
}

void checkLocalShape(const JsonView &entry, const Mesh &mesh,
                     const TensorInfo &tensor) {
  std::vector<int64_t> expected = localShapeOf(tensor, mesh);
  if (tensor.localShape != expected)
    at(entry, fields::Tensor::localShape)
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
    JsonView offset = at(entry, fields::Tensor::offset);
    tensor.offset = offset.integer(0, metadata.arenaBytes);
    return checkOffset(offset, tensor, tensor.offset, metadata.arenaBytes);
  }
  JsonView offsets = at(entry, fields::Tensor::offsets);
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
  JsonView role = at(entry, fields::Tensor::role),
           dtype = at(entry, fields::Tensor::dtype);
  if (!roleFromName(role.text()))
    role.refuse("is '" + role.text() + "', which is no role");
  if (!dtypeFromName(dtype.text()))
    dtype.refuse("is '" + dtype.text() +
                 "', must be f32, bf16, f64, i32 or i8");
  tensor.role = *roleFromName(role.text());
  tensor.dtype = *dtypeFromName(dtype.text());
  tensor.name = at(entry, fields::Tensor::name).text();
  tensor.shape = parseShape(at(entry, fields::Tensor::shape));
  tensor.fileShape = has(entry, fields::Tensor::fileShape)
                         ? parseShape(at(entry, fields::Tensor::fileShape))
                         : tensor.shape;
  tensor.localShape = parseShape(at(entry, fields::Tensor::localShape));
  if (elementsOf(tensor.fileShape) != tensor.elements())
    at(entry, fields::Tensor::fileShape)
        .refuse(concat("is ", describeShape(tensor.fileShape),
                       ", it must have the elements of ",
                       describeShape(tensor.shape)));
  parsePlacement(entry, metadata.mesh, tensor);
  if (has(entry, fields::Tensor::init))
    tensor.init = parseInitial(at(entry, fields::Tensor::init));
  if (tensor.role == Role::Scale)
    tensor.channels = integersAt(entry, fields::Tensor::channels);
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

Mesh parseMesh(const JsonView &view) {
  Mesh mesh;
  for (const JsonView &item : view.items()) {
    Axis axis{at(item, fields::Axis::name).text(),
              integerAt(item, fields::Axis::size)};
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
  sizes.lanes = integerAt(view, fields::Model::lanes);
  sizes.slots = integerAt(view, fields::Model::slots, 1, most / sizes.lanes);
  sizes.places = integerAt(view, fields::Model::places);
  sizes.chunk =
      integerAt(view, fields::Model::prefillChunk, 1, most / sizes.lanes);
  if (has(view, fields::Model::source))
    sizes.source =
        integerAt(view, fields::Model::source, 1, most / sizes.lanes);
  if (has(view, fields::Model::candidates))
    sizes.candidates = integerAt(view, fields::Model::candidates);
  return sizes;
}

Model parseModel(const JsonView &view) {
  Model model;
  model.vocabulary = integerAt(view, fields::Model::vocabulary);
  model.sequence = integerAt(view, fields::Model::sequence);
  model.batch = integerAt(view, fields::Model::batch);
  model.microBatches = integerAt(view, fields::Model::microBatches);
  if (model.batch % model.microBatches != 0)
    at(view, fields::Model::batch)
        .refuse(concat("is ", model.batch, ", not a multiple of ",
                       model.microBatches, " micro-batches"));
  if (has(view, fields::Model::maskToken))
    model.maskToken =
        integerAt(view, fields::Model::maskToken, 0, model.vocabulary - 1);
  if (has(view, fields::Model::specialTokens))
    model.special = at(view, fields::Model::specialTokens)
                        .integers(0, model.vocabulary - 1);
  std::sort(model.special.begin(), model.special.end());
  if (has(view, fields::Model::ignoresLabels))
    model.causalIgnores = integerAt(view, fields::Model::ignoresLabels) == 1;
  if (has(view, fields::Model::tokenTypes))
    model.tokenTypes = integerAt(view, fields::Model::tokenTypes);
  if (has(view, fields::Model::target))
    model.decoder = {
        integerAt(view, fields::Model::target),
        integerAt(view, fields::Model::startToken, 0, model.vocabulary - 1),
        integerAt(view, fields::Model::padToken, 0, model.vocabulary - 1)};
  if (has(view, fields::Model::unknownKeys))
    for (const JsonView &key : at(view, fields::Model::unknownKeys).items())
      model.unknownKeys.push_back(key.text());
  if (has(view, fields::Model::separator))
    model.separator =
        integerAt(view, fields::Model::separator, 0, model.vocabulary - 1);
  if (has(view, fields::Model::padding))
    model.padding =
        integerAt(view, fields::Model::padding, 0, model.vocabulary - 1);
  if (has(view, fields::Model::slots))
    model.generation = parseGeneration(view);
  if (has(view, fields::Model::predictions))
    model.predictions =
        integerAt(view, fields::Model::predictions, 0, model.sequence);
  if (model.batch > fields::Model::batch.high / model.columns())
    at(view, fields::Model::batch).refuse("times the sequence is too large");
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
  if (has(view, fields::Optimizer::kind))
    optimizer.kind = at(view, fields::Optimizer::kind).text();
  // A beta of 1 would make the bias correction infinite.
  optimizer.beta1 = parseFinite(at(view, fields::Optimizer::beta1), 0,
                                std::nextafter(1.0, 0.0));
  optimizer.beta2 = parseFinite(at(view, fields::Optimizer::beta2), 0,
                                std::nextafter(1.0, 0.0));
  optimizer.lr = parseFinite(at(view, fields::Optimizer::lr), 0, 1e30);
  optimizer.minLr = parseFinite(at(view, fields::Optimizer::minLr), 0, 1e30);
  optimizer.warmupSteps = integerAt(view, fields::Optimizer::warmupSteps);
  optimizer.totalSteps = integerAt(view, fields::Optimizer::totalSteps);
  if (has(view, fields::Optimizer::schedule)) {
    JsonView name = at(view, fields::Optimizer::schedule);
    std::optional<RateKind> known = rateKindFromName(name.text());
    if (!known)
      name.refuse(
          concat("is '", name.text(), "', must be one of ", rateKindNames()));
    optimizer.schedule = *known;
  }
  if (has(view, fields::Optimizer::decaySteps))
    optimizer.decaySteps = integerAt(
        view, fields::Optimizer::decaySteps, 0,
        std::max<int64_t>(0, optimizer.totalSteps - optimizer.warmupSteps));
  return optimizer;
}

/// `first`: the program's first op.
OpInfo parseOp(const JsonView &view, const Metadata &metadata, size_t first) {
  OpInfo op;
  op.op = at(view, fields::Call::op).text();
  if (has(view, fields::Call::name))
    op.name = at(view, fields::Call::name).text();
  if (has(view, fields::Call::layer))
    op.layer = integerAt(view, fields::Call::layer);
  // The most that a loop of micro-batches runs, and little enough to be added.
  if (has(view, fields::Call::times))
    op.times =
        integerAt(view, fields::Call::times, 1,
                  std::min<int64_t>(metadata.model.microBatches, INT32_MAX));
  int64_t stages = metadata.mesh.stages();
  if (stages > 1) // they are there stage by stage
    op.stage =
        integerAt(view, fields::Call::stage,
                  metadata.ops.size() == first ? 0 : metadata.ops.back().stage,
                  stages - 1);
  return op;
}

/// Reads "ops" of a program; returns the first's number.
size_t parseOps(const JsonView &program, Metadata &metadata) {
  size_t first = metadata.ops.size();
  for (const JsonView &item : program.at(kCallsKey).items())
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
  if (has(root, fields::Program::pipeline))
    parseTasks(at(root, fields::Program::pipeline), first, metadata);
  metadata.stepOps = metadata.ops.size();
  if (has(root, fields::Program::evaluation))
    parseEvaluation(at(root, fields::Program::evaluation), metadata);
  for (const ProgramField &field :
       {fields::Program::decode, fields::Program::mixed, fields::Program::score,
        fields::Program::encode})
    if (has(root, field))
      parseOps(at(root, field), metadata);
}

void parseArena(const JsonView &view, Metadata &metadata) {
  metadata.arenaBytes = integerAt(view, fields::Arena::bytes);
  if (metadata.mesh.stageAxis >= 0) {
    for (const JsonView &stage : at(view, fields::Arena::stages).items())
      metadata.stageArenas.push_back(
          integerAt(stage, fields::Arena::bytes, 0, metadata.arenaBytes));
    if (static_cast<int64_t>(metadata.stageArenas.size()) !=
        metadata.mesh.stages())
      at(view, fields::Arena::stages)
          .refuse(concat("has ", metadata.stageArenas.size(),
                         " entries for the ", metadata.mesh.stages(),
                         " stages"));
  }
  if (!has(view, fields::Arena::byKind))
    return;
  JsonView kinds = at(view, fields::Arena::byKind);
  for (const char *kind :
       {"weights", "weight copies", "gathered weights", "gradients",
        "optimizer", "activations", "workspace", "inputs", "caches"})
    if (kinds.has(kind))
      metadata.arenaKinds.emplace_back(
          kind, kinds.at(kind).integer(fields::Arena::byKind.low,
                                       fields::Arena::byKind.high));
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

static void parseTarget(const JsonView &view, Metadata &metadata) {
  metadata.device = at(view, fields::Target::device).text();
  if (has(view, fields::Target::cpu))
    metadata.cpu = at(view, fields::Target::cpu).text();
  if (has(view, fields::Target::features))
    for (const JsonView &item : at(view, fields::Target::features).items())
      metadata.features.push_back(item.text());
}

Metadata parseMetadata(const std::string &source, const std::string &text) {
  static_assert(json_kinds::metadata.bytes == TSR_LIMIT_METADATA_BYTES);
  JsonTree parsed = parseJson(source, text, json_kinds::metadata);
  JsonView root(parsed.root, source);
  integerAt(root, fields::Program::format);
  Metadata metadata;
  parseTarget(at(root, fields::Program::target), metadata);
  metadata.mesh = parseMesh(at(root, fields::Program::mesh));
  if (has(root, fields::Program::pipeline))
    parseStageAxis(
        at(at(root, fields::Program::pipeline), fields::Pipeline::axis),
        metadata.mesh);
  metadata.model = parseModel(at(root, fields::Program::model));
  metadata.optimizer = parseOptimizer(at(root, fields::Program::optimizer));
  parseArena(at(root, fields::Program::arena), metadata);
  parseTensors(at(root, fields::Program::tensors), metadata);
  parsePrograms(root, metadata);
  if (has(root, fields::Program::configFiles))
    parseConfigFiles(at(root, fields::Program::configFiles), metadata);
  if (has(root, fields::Program::modelKeys))
    metadata.modelKeys = parseKeys(at(root, fields::Program::modelKeys));
  if (has(root, fields::Program::trainingKeys))
    metadata.trainingKeys = parseKeys(at(root, fields::Program::trainingKeys));
  checkTensors(at(root, fields::Program::tensors), metadata);
  return metadata;
}

} // namespace tessera
