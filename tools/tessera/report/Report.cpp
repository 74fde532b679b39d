//===- Report.cpp - what an artifact's metadata says of its program -------===//

#include "tools/tessera/report/Report.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Options/Counted.h"
#include "tools/tessera/options/TextWrap.h"
#include "tools/tessera/report/ArenaReport.h"
#include "tools/tessera/report/JsonList.h"
#include "tools/tessera/report/Place.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Table.h"
#include "tools/tessera/report/Theory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

/// What names the processor in the metadata of a target.
static const char *processorKey(const std::string &device) {
  return device == nameOf(DeviceKind::Cuda) ? "arch" : "cpu";
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static std::string stringOf(const json::Object *object, StringRef key) {
  std::optional<StringRef> text;
  if (object)
    text = object->getString(key);
  return text.value_or("").str();
}

static int64_t integerOf(const json::Object *object, StringRef key,
                         int64_t otherwise = 0) {
  return object ? object->getInteger(key).value_or(otherwise) : otherwise;
}

static int64_t elementsOf(const json::Array *shape) {
  int64_t elements = 1;
  if (shape)
    for (const json::Value &size : *shape)
      elements *= size.getAsInteger().value_or(0);
  return elements;
}

/// The size of an activation, as the model's own config has it.
static int64_t hiddenSize(const json::Object &root) {
  Expected<json::Value> config =
      parseJson(stringOf(root.getObject("config_files"), "config.json"),
                json_kinds::config);
  if (!config) {
    consumeError(config.takeError());
    return 0;
  }
  int64_t size = integerOf(config->getAsObject(), "n_embd");
  return size ? size : integerOf(config->getAsObject(), "hidden_size");
}

void Report::readModel(const json::Object &root) {
  const json::Object *model = root.getObject("model");
  hidden = hiddenSize(root);
  family = stringOf(model, "family");
  layers = integerOf(model, "layers");
  vocabulary = integerOf(model, "vocabulary");
  sequence = integerOf(model, "sequence");
  target = integerOf(model, "target", 0);
  batch = integerOf(model, "batch");
  microBatches = integerOf(model, "micro_batches", 1);
  if (int64_t slots = integerOf(model, "slots")) {
    const json::Object *mixed = root.getObject("mixed");
    int64_t lanes = integerOf(model, "lanes", 1);
    generation = {lanes * slots, integerOf(model, "places"),
                  lanes * integerOf(model, "prefill_chunk"),
                  static_cast<double>(integerOf(mixed, "flops_per_rank")),
                  integerOf(model, "candidates", 0)};
  }
  if (int64_t predictions = integerOf(model, "predictions", -1);
      predictions >= 0)
    encoding = {predictions};
  precision = stringOf(&root, "precision");
  if (const json::Array *tensors = root.getArray("tensors"))
    int8Matrices = llvm::count_if(*tensors, [](const json::Value &tensor) {
      return stringOf(tensor.getAsObject(), "role") == "scale";
    });
  readLearningRate(root.getObject("optimizer"));
  device = stringOf(root.getObject("target"), "device");
  processor = stringOf(root.getObject("target"), processorKey(device));
  if (LayerModes modes; modes.read(root))
    layerModes = std::move(modes);
  const json::Object *again = root.getObject("recompute");
  recompute = stringOf(again, "mode");
  if (int64_t count = integerOf(again, "layers", -1); count >= 0)
    recompute += ", first " + counted(count, "layer");
  std::string ranges = stringOf(again, "ranges");
  if (recompute == nameOf(Recompute::None) && ranges.empty())
    recompute.clear();
  if (!ranges.empty())
    recompute += ", layers " + ranges;
  if (const json::Array *axes = root.getArray("mesh"))
    for (const json::Value &axis : *axes) {
      int64_t size = integerOf(axis.getAsObject(), "size", 1);
      ranks *= size;
      mesh += (mesh.empty() ? "" : ",") + stringOf(axis.getAsObject(), "axis") +
              "=" + std::to_string(size);
    }
}

/// An artifact that says nothing of the kind of its schedule has a cosine.
void Report::readLearningRate(const json::Object *optimizer) {
  if (!optimizer)
    return;
  learningRate.largest = optimizer->getNumber("lr").value_or(0);
  learningRate.smallest = optimizer->getNumber("min_lr").value_or(0);
  learningRate.warmupSteps = integerOf(optimizer, "warmup_steps", 0);
  learningRate.totalSteps = integerOf(optimizer, "total_steps", 0);
  learningRate.decaySteps = integerOf(optimizer, "decay_steps", 0);
  if (auto kind =
          fromName<LearningRateSchedule>(stringOf(optimizer, "schedule")))
    learningRate.schedule = *kind;
}

void Report::readTensors(const json::Object &root) {
  const json::Array *tensors = root.getArray("tensors");
  if (!tensors)
    return;
  for (const json::Value &value : *tensors) {
    const json::Object *tensor = value.getAsObject();
    if (stringOf(tensor, "role") != "parameter")
      continue;
    int64_t elements = elementsOf(tensor->getArray("shape"));
    parameters += elements;
    hasAdapters |= stringOf(tensor, "name").rfind("base_model.model.", 0) == 0;
    if (!tensor->getBoolean("frozen").value_or(false))
      trainedParameters += elements;
    parametersOfRank += elementsOf(tensor->getArray("local_shape"));
  }
  if (!pipeline)
    return;
  parametersOfRank = 0;
  for (const PipelineReport::Stage &stage : pipeline->stages)
    parametersOfRank = std::max(parametersOfRank, stage.parameters);
}

void Report::readArena(const json::Object &root) {
  if (const json::Object *measured = root.getObject("evaluation"))
    evaluation = {static_cast<double>(integerOf(measured, "flops_per_rank")),
                  integerOf(measured, "adds")};
  const json::Object *arena = root.getObject("arena");
  arenaBytes = integerOf(arena, "bytes");
  if (arena)
    arenaJson = arenaReport(*arena);
  const json::Object *kinds = arena ? arena->getObject("by_kind") : nullptr;
  if (!kinds)
    return;
  for (const auto &[kind, value] : *kinds)
    if (int64_t bytes = value.getAsInteger().value_or(0))
      memory.push_back({kind.str(), bytes});
  llvm::sort(memory, [](const auto &a, const auto &b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
}

static bool isCollective(StringRef op) {
  return op == "all_reduce" || op == "all_gather" || op == "reduce_scatter" ||
         op == "all_to_all" || op == "exchange_rows" || op == "broadcast" ||
         op == "shift" || op == "zigzag" || op == "send" || op == "receive" ||
         op == "all_gather_coalesced" || op == "reduce_scatter_coalesced";
}

/// "bucket 3 of stage 1" -> "bucket # of stage 1", and its number; -1: none.
static int64_t markBucket(std::string &name) {
  StringRef rest = name;
  if (!rest.consume_front("bucket "))
    return -1;
  rest.consume_front("of shards ");
  size_t prefix = name.size() - rest.size();
  uint64_t number = 0;
  if (rest.consumeInteger(10, number) ||
      !(rest.empty() || rest.starts_with(" ")))
    return -1;
  name = (StringRef(name).take_front(prefix) + "#" + rest).str();
  return static_cast<int64_t>(number);
}

static CollectiveGroup groupOf(const json::Object &op, Window window) {
  CollectiveGroup group;
  std::string name = stringOf(&op, "op");
  StringRef kind = name;
  kind.consume_back("_coalesced"); // the number of tensors tells it
  group.kind = kind.str();
  int64_t layer = integerOf(&op, "layer", -1);
  group.place = placeOf(stringOf(&op, "name"), layer);
  if (int64_t bucket = markBucket(group.place); bucket >= 0) {
    group.isBucket = true;
    group.numbers.insert(bucket);
  }
  group.phase = stringOf(&op, "phase");
  group.reason = stringOf(&op, "reason");
  group.bytesOfCall = group.leastBytes = integerOf(&op, "bytes");
  group.calls = integerOf(&op, "times", 1);
  group.tensors = group.calls * integerOf(&op, "tensors", 1);
  group.bytesOfStep = group.calls * group.bytesOfCall;
  if (window.end) {
    group.asyncCalls = group.calls;
    group.windows[integerOf(&op, "stage")].push_back(window);
  }
  if (layer >= 0)
    group.numbers.insert(layer);
  if (const json::Array *axes = op.getArray("axes"))
    for (const json::Value &axis : *axes)
      group.axes += (group.axes.empty() ? "" : ",") +
                    axis.getAsString().value_or("").str();
  return group;
}

bool CollectiveGroup::isAlike(const CollectiveGroup &other) const {
  return kind == other.kind && axes == other.axes && place == other.place &&
         phase == other.phase && reason == other.reason &&
         isBucket == other.isBucket &&
         (isBucket || bytesOfCall == other.bytesOfCall) &&
         numbers.empty() == other.numbers.empty();
}

void CollectiveGroup::add(const CollectiveGroup &other) {
  calls += other.calls;
  tensors += other.tensors;
  bytesOfCall = std::max(bytesOfCall, other.bytesOfCall);
  leastBytes = std::min(leastBytes, other.leastBytes);
  bytesOfStep += other.bytesOfStep;
  asyncCalls += other.asyncCalls;
  numbers.insert(other.numbers.begin(), other.numbers.end());
  for (const auto &[stage, more] : other.windows)
    llvm::append_range(windows[stage], more);
}

void Report::readCollective(const json::Object &op, Window window) {
  CollectiveGroup group = groupOf(op, window);
  auto same = llvm::find_if(collectives, [&](const CollectiveGroup &other) {
    return other.isAlike(group);
  });
  if (same == collectives.end())
    collectives.push_back(std::move(group));
  else
    same->add(group);
}

void Report::readOp(const json::Object &op, std::vector<ProgramWork> &work) {
  int64_t stage = integerOf(&op, "stage");
  if (stage < 0 || stage >= programs())
    return;
  std::string name = stringOf(&op, "op");
  int64_t times = integerOf(&op, "times", 1);
  double once = op.getNumber("flops").value_or(0);
  double count = once * static_cast<double>(times);
  flops[stage] += count;
  if (stringOf(&op, "phase") == "recompute")
    recomputed[stage] += count;
  // Owners run much the same programs, so only one is shown.
  bool isShown = !owners || stage == owners->busiest;
  Window window{work[stage].calls(), integerOf(&op, "wait")};
  if (isCollective(name) && isShown)
    readCollective(op, window);
  bool computes = !isCollective(name) && name != "wait";
  work[stage].add(computes ? Work{1, once} : Work(), times);
}

Error Report::readOps(ArrayRef<StringRef> ops) {
  size_t count = pipeline ? pipeline->stages.size()
                 : owners ? owners->owners.size()
                          : 1;
  flops.assign(count, 0);
  recomputed.assign(count, 0);
  std::vector<ProgramWork> work;
  for (size_t stage = 0; stage < count; ++stage)
    work.emplace_back(pipeline ? pipeline->tasks[stage] : ProgramTasks());
  for (StringRef text : ops) {
    Expected<json::Value> value = parseJson(text, json_kinds::metadata);
    if (!value)
      return value.takeError();
    if (const json::Object *op = value->getAsObject())
      readOp(*op, work);
  }
  for (size_t stage = 0; stage < count; ++stage)
    addWorkBeside(static_cast<int64_t>(stage), WorkInTime(work[stage]));
  return Error::success();
}

void Report::addWorkBeside(int64_t stage, const WorkInTime &work) {
  for (CollectiveGroup &group : collectives) {
    auto own = group.windows.find(stage);
    if (own == group.windows.end())
      continue;
    Work inside = work.inside(own->second);
    group.beside.ops = std::max(group.beside.ops, inside.ops);
    group.beside.flops = std::max(group.beside.flops, inside.flops);
    group.windows.erase(own);
  }
}

void Report::readCausalWork(const json::Object &root) {
  const json::Object *numbers = root.getObject("report");
  const json::Array *slices =
      numbers ? numbers->getArray("causal_work") : nullptr;
  if (slices)
    for (const json::Value &share : *slices)
      causalWork.push_back(share.getAsNumber().value_or(0));
}

static bool printMalformed(Error error) {
  return !printError("the artifact's metadata is malformed: " +
                     toString(std::move(error)));
}

/// Prints an error and returns null if the text is no JSON object.
static std::optional<json::Object> readObject(StringRef metadata) {
  Expected<json::Value> value = parseJson(metadata, json_kinds::metadata);
  if (!value) {
    printMalformed(value.takeError());
    return std::nullopt;
  }
  json::Object *root = value->getAsObject();
  if (root)
    return std::move(*root);
  printError("the artifact's metadata is not a JSON object");
  return std::nullopt;
}

bool Report::read(StringRef metadata) {
  JsonList ops = takeList(metadata, "ops");
  std::optional<json::Object> root = readObject(ops.rest);
  if (!root)
    return false;
  readModel(*root);
  if (PipelineReport stages; stages.read(*root))
    pipeline = std::move(stages);
  if (OwnersReport server; server.read(*root))
    owners = std::move(server);
  readTensors(*root);
  tensors.read(*root);
  readArena(*root);
  if (Error error = readOps(ops.entries))
    return printMalformed(std::move(error));
  readCausalWork(*root);
  return true;
}

bool Report::readHeadline(StringRef metadata) {
  std::optional<json::Object> root = readObject(takeList(metadata, "ops").rest);
  if (!root)
    return false;
  readModel(*root);
  readTensors(*root);
  arenaBytes = integerOf(root->getObject("arena"), "bytes");
  return true;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

std::string CollectiveGroup::where() const { return placeText(place, numbers); }

size_t Report::busiest() const {
  return llvm::max_element(flops) - flops.begin();
}

std::string Report::headline() const {
  return formatv("{0}, {1} ({2}), {3} parameters, {4} per rank",
                 family.empty() ? "model" : printableValue(family),
                 mesh.empty() ? "serial" : printableValue(mesh),
                 counted(ranks, "rank"),
                 countText(static_cast<double>(parameters)),
                 bytesText(arenaBytes))
      .str();
}

std::string Report::collectivesText(size_t width) const {
  if (collectives.empty())
    return "communication: none\n";
  Table table({"where", "phase", "axis", "collective", "calls", "tensors",
               "bytes of one", "bytes/step", "async", "ops beside",
               "flops beside", "reason"});
  table.mayWrap("where", 22);
  table.mayLeaveOut({"reason", "ops beside", "bytes of one", "tensors", "async",
                     "flops beside"});
  int64_t total = 0;
  for (const CollectiveGroup &group : collectives) {
    bool isAsync = group.asyncCalls > 0;
    table.add({group.where(), group.phase.empty() ? "-" : group.phase,
               group.axes, group.kind, std::to_string(group.calls),
               std::to_string(group.tensors),
               (group.leastBytes < group.bytesOfCall ? "<= " : "") +
                   std::to_string(group.bytesOfCall),
               std::to_string(group.bytesOfStep),
               isAsync ? std::to_string(group.asyncCalls) : "-",
               isAsync ? std::to_string(group.beside.ops) : "-",
               isAsync ? countText(group.beside.flops) : "-", group.reason});
    total += group.bytesOfStep;
  }
  return formatv("communication per step and {0}: {1} in buffers\n{2}",
                 pipeline ? "a rank of each stage" : "rank", bytesText(total),
                 table.str(width))
      .str();
}

std::string Report::causalWorkText() const {
  std::string text;
  raw_string_ostream out(text);
  interleaveComma(causalWork, out, [&](double share) {
    out << formatv("{0:f1} %", 100 * share);
  });
  double most = *llvm::max_element(causalWork);
  out << formatv(" (the slowest has {0:f2} times the mean)",
                 most * static_cast<double>(causalWork.size()));
  return text;
}

/// "1.2 M on each rank", or of which ranks it is if others have less.
std::string Report::ofRank(const std::string &most, size_t program,
                           bool isAlike) const {
  if (isAlike)
    return most + " on each rank";
  return formatv("at most {0} on a rank, {1} {2}", most,
                 pipeline ? "of stage" : "number", program)
      .str();
}

static bool areAlike(const std::vector<double> &numbers) {
  return llvm::all_equal(numbers);
}

double Report::modelFlops() const {
  double all = 0;
  for (size_t i = 0; i < flops.size(); ++i)
    all += (flops[i] - recomputed[i]) * static_cast<double>(ranks / programs());
  return all;
}

std::string Report::flopsText() const {
  double most = flops[busiest()], again = recomputed[busiest()];
  if (most <= 0)
    return "";
  double all = 0;
  for (double each : flops)
    all += each * static_cast<double>(ranks / programs());
  std::string text =
      "flops per step: " + ofRank(countText(most), busiest(), areAlike(flops)) +
      "; " + countText(all) + " over all ranks\n";
  if (!recompute.empty())
    text += formatv("recomputed in backward: {0}, {1} of these flops ({2:f1} "
                    "%)\n",
                    recompute, countText(again), 100 * again / most)
                .str();
  return text;
}

std::string Report::stepText() const {
  if (generation)
    return formatv("generation: {0} of up to {1}; prompts by {2} a step{3}",
                   counted(generation->requests, "request"),
                   counted(generation->length, "token"),
                   counted(generation->chunk, "token"),
                   generation->candidates
                       ? "; steps leave " +
                             counted(generation->candidates, "candidate")
                       : "")
        .str();
  if (encoding)
    return formatv("encoding: {0} of up to {1}{2}", counted(batch, "text"),
                   counted(sequence, "token"),
                   encoding->predictions
                       ? ", probabilities at up to " +
                             counted(encoding->predictions, "position") +
                             " of each"
                       : "")
        .str();
  return formatv("step: {0} of {1}{2} in {3}", counted(batch, "sequence"),
                 counted(sequence, "token"),
                 target ? " and targets of " + std::to_string(target) : "",
                 counted(microBatches, "micro-batch"))
      .str();
}

std::string Report::evaluationText() const {
  if (!evaluation)
    return "";
  std::string adds =
      evaluation->adds ? bytesText(evaluation->adds) : std::string("nothing");
  return formatv("evaluation of a batch: {0} flops on each rank{1}; adds {2} "
                 "to memory\n",
                 countText(evaluation->flops),
                 pipeline ? " of the busiest stage" : "", adds)
      .str();
}

std::string Report::parametersText() const {
  std::vector<double> counts;
  if (pipeline)
    for (const PipelineReport::Stage &stage : pipeline->stages)
      counts.push_back(static_cast<double>(stage.parameters));
  size_t most = counts.empty() ? 0 : llvm::max_element(counts) - counts.begin();
  return ofRank(std::to_string(parametersOfRank), most, areAlike(counts));
}

/// Which part of the parameters is trained; "" where all are.
std::string Report::trainedText() const {
  if (trainedParameters == parameters)
    return "";
  return formatv(", {0} trained ({1:f2} %)", trainedParameters,
                 100.0 * static_cast<double>(trainedParameters) /
                     static_cast<double>(std::max<int64_t>(1, parameters)));
}

std::string Report::memoryText(size_t width) const {
  std::vector<double> bytes;
  if (pipeline)
    for (const PipelineReport::Stage &stage : pipeline->stages)
      bytes.push_back(static_cast<double>(stage.arenaBytes));
  std::string text = formatv("memory per rank: {0} bytes ({1})", arenaBytes,
                             bytesText(arenaBytes));
  if (!areAlike(bytes))
    text += formatv(" in stage {0}, the most",
                    llvm::max_element(bytes) - bytes.begin());
  text += "\n";
  Table table({"kind", "bytes", ""});
  for (const auto &[kind, bytes] : memory)
    table.add({kind, std::to_string(bytes), bytesText(bytes)});
  return text + (table.empty() ? "" : table.str(width));
}

/// A weight is half a scale from the nearest integer times it, and a scale is
/// the largest of a channel over 127.
static constexpr double kInt8Bound = 1.0 / 254;

std::string Report::weightsText() const {
  return formatv("weights: {0} in int8, a scale for each output channel; an "
                 "output differs by at most {1:f2} % of its channel's largest "
                 "weight times the sum of the absolute inputs",
                 int8Matrices == 1 ? "1 matrix"
                                   : std::to_string(int8Matrices) + " matrices",
                 100 * kInt8Bound);
}

std::string Report::text(size_t width) const {
  std::string text;
  raw_string_ostream out(text);
  auto line = [&](const std::string &words) {
    out << wrapText(words, width, 2) << "\n";
  };
  if (signer && !signer->empty())
    line("signed by: key " + *signer);
  line(formatv("model: {0}, {1}, vocabulary {2}", family,
               counted(layers, "layer"), vocabulary));
  line(stepText());
  line(formatv("mesh: {0}, {1} on {2} ({3}), {4}",
               mesh.empty() ? "serial" : mesh, counted(ranks, "rank"), device,
               processor, precision));
  line(formatv("parameters: {0} ({1}){2}", parameters, parametersText(),
               trainedText()));
  if (int8Matrices)
    line(weightsText());
  out << flopsText() << evaluationText();
  if (causalWork.size() > 1)
    line("causal attention of the ranks of a sequence: " + causalWorkText());
  out << memoryText(width);
  if (pipeline)
    out << pipeline->text(width);
  if (owners)
    out << owners->text(width);
  out << collectivesText(width);
  return text;
}

json::Value Report::json() const {
  json::Array groups, formulas;
  for (const CollectiveGroup &g : collectives)
    groups.push_back(json::Object{
        {"collective", g.kind},
        {"axes", g.axes},
        {"where", g.where()},
        {"layers", g.isBucket ? 0 : static_cast<int64_t>(g.numbers.size())},
        {"phase", g.phase},
        {"reason", g.reason},
        {"calls", g.calls},
        {"tensors", g.tensors},
        {"bytes_of_call", g.bytesOfCall},
        {"async_calls", g.asyncCalls},
        {"ops_beside", g.beside.ops},
        {"flops_beside", g.beside.flops},
        {"bytes_of_step", g.bytesOfStep}});
  for (const Theory &theory : theoryOf(*this)) {
    for (size_t row : theory.rows)
      (*groups[row].getAsObject())["theory"] =
          static_cast<int64_t>(formulas.size());
    formulas.push_back(theory.json());
  }
  json::Object all{
      {"model", json::Object{{"family", family},
                             {"layers", layers},
                             {"vocabulary", vocabulary},
                             {"sequence", sequence},
                             {"batch", batch},
                             {"micro_batches", microBatches}}},
      {"mesh", mesh},
      {"ranks", ranks},
      {"precision", precision},
      {"target",
       json::Object{{"device", device}, {processorKey(device), processor}}},
      {"parameters", parameters},
      {"parameters_of_rank", parametersOfRank},
      {"trained_parameters", trainedParameters},
      {"flops_of_rank", flops[busiest()]},
      {"causal_work", json::Array(causalWork)},
      {"recompute", json::Object{{"mode", recompute},
                                 {"flops_of_rank", recomputed[busiest()]}}},
      {"memory", json::Object(arenaJson)},
      {"tensors", tensors.json()},
      {"collectives", std::move(groups)},
      {"theory", std::move(formulas)}};
  if (evaluation)
    all["evaluation"] = json::Object{{"flops_of_rank", evaluation->flops},
                                     {"added_bytes", evaluation->adds}};
  if (int8Matrices)
    all["int8"] = json::Object{{"matrices", int8Matrices},
                               {"error_of_output", kInt8Bound}};
  if (generation)
    all["generation"] = json::Object{{"requests", generation->requests},
                                     {"length", generation->length},
                                     {"prefill_chunk", generation->chunk},
                                     {"candidates", generation->candidates},
                                     {"mixed_flops", generation->flops}};
  if (encoding)
    all["encoding"] = json::Object{{"predictions", encoding->predictions}};
  if (signer)
    all["signer"] =
        signer->empty() ? json::Value(nullptr) : json::Value(*signer);
  if (pipeline)
    all["pipeline"] = pipeline->json();
  if (owners)
    all["parameter_server"] = owners->json();
  return all;
}
