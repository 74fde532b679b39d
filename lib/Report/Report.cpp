//===- Report.cpp - what an artifact's metadata says of its program -------===//

#include "tessera/Report/Report.h"
#include "lib/Report/ArenaReport.h"
#include "lib/Report/Theory.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Options/Counted.h"
#include "tessera/Program/ProgramJson.h"
#include "tessera/Text/Table.h"
#include "tessera/Text/TextWrap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;
using program::Call;
using program::Tensor;

/// Returns the key that names the processor in the metadata of a target.
static const char *processorKey(const std::string &device) {
  return device == nameOf(DeviceKind::Cuda) ? "arch" : "cpu";
}

//===----------------------------------------------------------------------===//
// Facts that follow from a program
//===----------------------------------------------------------------------===//

/// The size of an activation, as the model's own config has it.
static int64_t hiddenSize(const program::Program &program) {
  auto text = program.configFiles.find("config.json");
  if (text == program.configFiles.end())
    return 0;
  Expected<json::Value> config = parseJson(text->second, json_kinds::config);
  if (!config) {
    consumeError(config.takeError());
    return 0;
  }
  const json::Object *keys = config->getAsObject();
  for (const char *key : {"n_embd", "hidden_size"})
    if (int64_t size = keys ? keys->getInteger(key).value_or(0) : 0)
      return size;
  return 0;
}

static std::string recomputeText(const program::Program &program) {
  if (!program.recompute)
    return "";
  const program::Recomputation &again = *program.recompute;
  std::string text = again.mode;
  if (again.layers >= 0)
    text += ", first " + counted(again.layers, "layer");
  if (text == nameOf(Recompute::None) && again.ranges.empty())
    text.clear();
  return again.ranges.empty() ? text : text + ", layers " + again.ranges;
}

/// An artifact that says nothing of the kind of its schedule has a cosine.
LearningRateOptions Report::learningRate() const {
  const program::Optimizer &optimizer = program.optimizer;
  LearningRateOptions rate;
  rate.largest = optimizer.lr;
  rate.smallest = optimizer.minLr;
  rate.warmupSteps = optimizer.warmupSteps;
  rate.totalSteps = optimizer.totalSteps;
  rate.decaySteps = optimizer.decaySteps;
  if (auto kind = fromName<LearningRateSchedule>(optimizer.schedule))
    rate.schedule = *kind;
  return rate;
}

void Report::countTensors() {
  for (const Tensor &tensor : program.tensors) {
    int8Matrices += tensor.role == "scale";
    if (tensor.role != "parameter")
      continue;
    parameters += tensor.elements();
    hasAdapters |= StringRef(tensor.name).starts_with("base_model.model.");
    if (!tensor.frozen)
      trainedParameters += tensor.elements();
    parametersOfRank += tensor.elementsOfRank();
  }
  if (!pipeline)
    return;
  parametersOfRank = 0;
  for (const PipelineReport::Stage &stage : pipeline->stages)
    parametersOfRank = std::max(parametersOfRank, stage.parameters);
}

void Report::listMemory() {
  for (const auto &[kind, bytes] : program.arena.byKind)
    if (bytes)
      memory.push_back({kind, bytes});
  llvm::sort(memory, [](const auto &a, const auto &b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
}

void Report::addCall(const Call &call, std::vector<ProgramWork> &work) {
  int64_t stage = call.stage.value_or(0);
  auto once = static_cast<double>(call.flops);
  double count = once * static_cast<double>(call.times);
  flops[stage] += count;
  if (call.recomputes())
    recomputed[stage] += count;
  hasExperts |= call.role == program::CallRole::Routing;
  // Owners run much the same programs, so only one is shown.
  bool isShown = !owners || stage == owners->busiest;
  if (call.communicates() && isShown)
    addCollective(collectives, call, {work[stage].calls(), call.wait});
  bool computes = !call.communicates() && call.kind != program::CallKind::Wait;
  work[stage].add(computes ? Work{1, once} : Work(), call.times);
}

Error Report::addCalls(StringRef metadata) {
  auto count = static_cast<size_t>(program.stages());
  flops.assign(count, 0);
  recomputed.assign(count, 0);
  std::vector<ProgramWork> work;
  for (size_t stage = 0; stage < count; ++stage)
    work.emplace_back(pipeline ? pipeline->tasks[stage]
                               : program::StageTasks());
  Error error = program::readCalls(metadata, program, [&](Call &call) {
    addCall(call, work);
    return Error::success();
  });
  if (error)
    return error;
  for (size_t stage = 0; stage < count; ++stage)
    addWorkBeside(collectives, static_cast<int64_t>(stage),
                  WorkInTime(work[stage]));
  return Error::success();
}

static Error malformed(Error error) {
  return createStringError("the artifact's metadata is malformed: " +
                           toString(std::move(error)));
}

Error Report::readWithoutCalls(StringRef metadata) {
  Expected<program::Program> read = program::readProgram(metadata);
  if (!read)
    return malformed(read.takeError());
  program = std::move(*read);
  hidden = hiddenSize(program);
  recompute = recomputeText(program);
  auto simulated = PipelineReport::of(program);
  if (!simulated)
    return malformed(simulated.takeError());
  pipeline = std::move(*simulated);
  owners = OwnersReport::of(program);
  countTensors();
  tensors.read(program);
  listMemory();
  return Error::success();
}

Error Report::read(StringRef metadata) {
  if (Error error = readWithoutCalls(metadata))
    return error;
  if (Error error = addCalls(metadata))
    return malformed(std::move(error));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

std::string Report::processor() const {
  const program::Target &target = program.target;
  return target.device == nameOf(DeviceKind::Cuda) ? target.arch : target.cpu;
}

size_t Report::busiest() const {
  return llvm::max_element(flops) - flops.begin();
}

std::string Report::headline() const {
  return formatv("{0}, {1} ({2}), {3} parameters, {4} per rank",
                 program.model.family.empty()
                     ? "model"
                     : printableValue(program.model.family),
                 program.mesh.empty() ? "serial"
                                      : printableValue(program.mesh.text()),
                 counted(ranks(), "rank"),
                 countText(static_cast<double>(parameters)),
                 bytesText(program.arena.bytes))
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
    table.add({group.where(), nameOf(group.phase), group.axesText(), group.kind,
               std::to_string(group.calls), std::to_string(group.tensors),
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
  interleaveComma(program.totals.causalWork, out, [&](double share) {
    out << formatv("{0:f1} %", 100 * share);
  });
  double most = *llvm::max_element(program.totals.causalWork);
  out << formatv(" (the slowest has {0:f2} times the mean)",
                 most * static_cast<double>(program.totals.causalWork.size()));
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
    all +=
        (flops[i] - recomputed[i]) * static_cast<double>(ranks() / programs());
  return all;
}

std::string Report::flopsText() const {
  double most = flops[busiest()], again = recomputed[busiest()];
  if (most <= 0)
    return "";
  double all = 0;
  for (double each : flops)
    all += each * static_cast<double>(ranks() / programs());
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
  const program::Model &model = program.model;
  if (program.generates())
    return formatv("generation: {0} of up to {1}; prompts by {2} a step{3}",
                   counted(requests(), "request"),
                   counted(model.places, "token"),
                   counted(model.lanes * model.prefillChunk, "token"),
                   model.candidates ? "; steps leave " +
                                          counted(model.candidates, "candidate")
                                    : "")
        .str();
  if (program.encodes())
    return formatv(
               "encoding: {0} of up to {1}{2}", counted(model.batch, "text"),
               counted(model.sequence, "token"),
               *model.predictions
                   ? ", probabilities at up to " +
                         counted(*model.predictions, "position") + " of each"
                   : "")
        .str();
  return formatv("step: {0} of {1}{2} in {3}", counted(model.batch, "sequence"),
                 counted(model.sequence, "token"),
                 model.target
                     ? " and targets of " + std::to_string(*model.target)
                     : "",
                 counted(model.microBatches, "micro-batch"))
      .str();
}

std::string Report::evaluationText() const {
  if (!program.evaluation)
    return "";
  const program::Beside &evaluation = *program.evaluation;
  std::string adds =
      evaluation.adds ? bytesText(evaluation.adds) : std::string("nothing");
  return formatv("evaluation of a batch: {0} flops on each rank{1}; adds {2} "
                 "to memory\n",
                 countText(static_cast<double>(evaluation.flopsOfRank)),
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

/// Describes the part of the parameters that is trained; "" if all are.
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
  std::string text =
      formatv("memory per rank: {0} bytes ({1})", program.arena.bytes,
              bytesText(program.arena.bytes));
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
  const program::Model &model = program.model;
  line(formatv("model: {0}, {1}, vocabulary {2}", model.family,
               counted(model.layers, "layer"), model.vocabulary));
  line(stepText());
  line(formatv("mesh: {0}, {1} on {2} ({3}), {4}",
               program.mesh.empty() ? "serial" : program.mesh.text(),
               counted(ranks(), "rank"), program.target.device, processor(),
               program.precision));
  line(formatv("parameters: {0} ({1}){2}", parameters, parametersText(),
               trainedText()));
  if (int8Matrices)
    line(weightsText());
  out << flopsText() << evaluationText();
  if (program.totals.causalWork.size() > 1)
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
        {"axes", g.axesText()},
        {"where", g.where()},
        {"layers", g.isBucket ? 0 : static_cast<int64_t>(g.numbers.size())},
        {"phase", nameOf(g.phase)},
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
  const program::Model &model = program.model;
  const std::string &device = program.target.device;
  json::Object all{
      {"model", json::Object{{"family", model.family},
                             {"layers", model.layers},
                             {"vocabulary", model.vocabulary},
                             {"sequence", model.sequence},
                             {"batch", model.batch},
                             {"micro_batches", model.microBatches}}},
      {"mesh", program.mesh.text()},
      {"ranks", ranks()},
      {"precision", program.precision},
      {"target",
       json::Object{{"device", device}, {processorKey(device), processor()}}},
      {"parameters", parameters},
      {"parameters_of_rank", parametersOfRank},
      {"trained_parameters", trainedParameters},
      {"flops_of_rank", flops[busiest()]},
      {"causal_work", json::Array(program.totals.causalWork)},
      {"recompute", json::Object{{"mode", recompute},
                                 {"flops_of_rank", recomputed[busiest()]}}},
      {"memory", arenaReport(program.arena)},
      {"tensors", tensors.json()},
      {"collectives", std::move(groups)},
      {"theory", std::move(formulas)}};
  if (program.evaluation)
    all["evaluation"] = json::Object{
        {"flops_of_rank", static_cast<double>(program.evaluation->flopsOfRank)},
        {"added_bytes", program.evaluation->adds}};
  if (int8Matrices)
    all["int8"] = json::Object{{"matrices", int8Matrices},
                               {"error_of_output", kInt8Bound}};
  if (program.generates()) {
    int64_t mixed = program.mixed ? program.mixed->flopsOfRank : 0;
    all["generation"] =
        json::Object{{"requests", requests()},
                     {"length", model.places},
                     {"prefill_chunk", model.lanes * model.prefillChunk},
                     {"candidates", model.candidates},
                     {"mixed_flops", static_cast<double>(mixed)}};
  }
  if (program.encodes())
    all["encoding"] = json::Object{{"predictions", *model.predictions}};
  if (signer)
    all["signer"] =
        signer->empty() ? json::Value(nullptr) : json::Value(*signer);
  if (pipeline)
    all["pipeline"] = pipeline->json();
  if (owners)
    all["parameter_server"] = owners->json();
  return all;
}
