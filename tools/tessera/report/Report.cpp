//===- Report.cpp - what an artifact's metadata says of its program -------===//

#include "tools/tessera/report/Report.h"
#include "tessera/Options/PlanOptions.h"
#include "tools/tessera/report/JsonList.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Table.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <map>

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

void Report::readModel(const json::Object &root) {
  const json::Object *model = root.getObject("model");
  family = stringOf(model, "family");
  layers = integerOf(model, "layers");
  vocabulary = integerOf(model, "vocabulary");
  sequence = integerOf(model, "sequence");
  target = integerOf(model, "target", 0);
  batch = integerOf(model, "batch");
  microBatches = integerOf(model, "micro_batches", 1);
  precision = stringOf(&root, "precision");
  device = stringOf(root.getObject("target"), "device");
  processor = stringOf(root.getObject("target"), processorKey(device));
  const json::Object *again = root.getObject("recompute");
  recompute = stringOf(again, "mode");
  if (int64_t count = integerOf(again, "layers", -1); count >= 0)
    recompute += ", first " + std::to_string(count) + " layers";
  if (recompute == nameOf(Recompute::None))
    recompute.clear();
  if (const json::Array *axes = root.getArray("mesh"))
    for (const json::Value &axis : *axes) {
      int64_t size = integerOf(axis.getAsObject(), "size", 1);
      ranks *= size;
      mesh += (mesh.empty() ? "" : ",") + stringOf(axis.getAsObject(), "axis") +
              "=" + std::to_string(size);
    }
}

void Report::readTensors(const json::Object &root) {
  const json::Array *tensors = root.getArray("tensors");
  if (!tensors)
    return;
  for (const json::Value &value : *tensors) {
    const json::Object *tensor = value.getAsObject();
    if (stringOf(tensor, "role") != "parameter")
      continue;
    parameters += elementsOf(tensor->getArray("shape"));
    parametersOfRank += elementsOf(tensor->getArray("local_shape"));
  }
  if (!pipeline)
    return;
  parametersOfRank = 0;
  for (const PipelineReport::Stage &stage : pipeline->stages)
    parametersOfRank = std::max(parametersOfRank, stage.parameters);
}

void Report::readArena(const json::Object &root) {
  const json::Object *arena = root.getObject("arena");
  arenaBytes = integerOf(arena, "bytes");
  const json::Object *kinds = arena ? arena->getObject("by_kind") : nullptr;
  if (!kinds)
    return;
  for (const auto &[kind, bytes] : *kinds)
    memory.push_back({kind.str(), bytes.getAsInteger().value_or(0)});
  llvm::sort(memory, [](const auto &a, const auto &b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
}

static bool isCollective(StringRef op) {
  return op == "all_reduce" || op == "all_gather" || op == "reduce_scatter" ||
         op == "all_to_all" || op == "broadcast" || op == "shift" ||
         op == "zigzag" || op == "send" || op == "receive";
}

/// "h.3.mlp" -> "mlp"; other names stay.
static std::string withoutLayer(StringRef name, int64_t layer) {
  std::string prefix = "h." + std::to_string(layer) + ".";
  name.consume_front(prefix);
  return name.str();
}

static CollectiveGroup groupOf(const json::Object &op) {
  CollectiveGroup group;
  group.kind = stringOf(&op, "op");
  int64_t layer = integerOf(&op, "layer", -1);
  group.place = withoutLayer(stringOf(&op, "name"), layer);
  group.phase = stringOf(&op, "phase");
  group.reason = stringOf(&op, "reason");
  group.bytesOfCall = integerOf(&op, "bytes");
  group.calls = integerOf(&op, "times", 1);
  if (const json::Object *beside = op.getObject("overlap")) {
    group.asyncCalls = group.calls;
    group.besideOps = group.calls * integerOf(beside, "ops");
    group.besideFlops = static_cast<double>(group.calls) *
                        beside->getNumber("flops").value_or(0);
  }
  if (layer >= 0)
    group.layers.insert(layer);
  if (const json::Array *axes = op.getArray("axes"))
    for (const json::Value &axis : *axes)
      group.axes += (group.axes.empty() ? "" : ",") +
                    axis.getAsString().value_or("").str();
  return group;
}

void Report::readCollective(const json::Object &op) {
  CollectiveGroup group = groupOf(op);
  auto same = llvm::find_if(collectives, [&](const CollectiveGroup &g) {
    return g.kind == group.kind && g.axes == group.axes &&
           g.place == group.place && g.phase == group.phase &&
           g.reason == group.reason && g.bytesOfCall == group.bytesOfCall &&
           g.layers.empty() == group.layers.empty();
  });
  if (same == collectives.end()) {
    collectives.push_back(std::move(group));
    return;
  }
  same->calls += group.calls;
  same->asyncCalls += group.asyncCalls;
  same->besideOps += group.besideOps;
  same->besideFlops += group.besideFlops;
  same->layers.insert(group.layers.begin(), group.layers.end());
}

Error Report::readOps(ArrayRef<StringRef> ops) {
  std::map<int64_t, double> flopsOfStage;
  for (StringRef text : ops) {
    Expected<json::Value> value = json::parse(text);
    if (!value)
      return value.takeError();
    const json::Object *op = value->getAsObject();
    if (!op)
      continue;
    double flops = op->getNumber("flops").value_or(0) *
                   static_cast<double>(integerOf(op, "times", 1));
    flopsOfStage[integerOf(op, "stage")] += flops;
    if (stringOf(op, "phase") == "recompute")
      recomputedFlops += flops;
    // Owners run much the same programs, so only one is shown.
    bool isShown = !owners || integerOf(op, "stage") == owners->busiest;
    if (isCollective(stringOf(op, "op")) && isShown)
      readCollective(*op);
  }
  int64_t stages = pipeline ? pipeline->stages.size()
                   : owners ? owners->owners.size()
                            : 1;
  for (auto [stage, flops] : flopsOfStage) {
    flopsOfRank = std::max(flopsOfRank, flops);
    flopsOfAll += flops * static_cast<double>(ranks / stages);
  }
  return Error::success();
}

void Report::readCausalWork(const json::Object &root) {
  const json::Object *numbers = root.getObject("report");
  const json::Array *slices =
      numbers ? numbers->getArray("causal_work") : nullptr;
  if (slices)
    for (const json::Value &share : *slices)
      causalWork.push_back(share.getAsNumber().value_or(0));
}

bool Report::read(StringRef metadata) {
  auto isMalformed = [](Error error) {
    return !printError("the artifact's metadata is malformed: " +
                       toString(std::move(error)));
  };
  JsonList ops = takeList(metadata, "ops");
  Expected<json::Value> value = json::parse(ops.rest);
  if (!value)
    return isMalformed(value.takeError());
  const json::Object *root = value->getAsObject();
  if (!root)
    return !printError("the artifact's metadata is not a JSON object");
  readModel(*root);
  if (PipelineReport stages; stages.read(*root))
    pipeline = std::move(stages);
  if (OwnersReport server; server.read(*root))
    owners = std::move(server);
  readTensors(*root);
  readArena(*root);
  if (Error error = readOps(ops.entries))
    return isMalformed(std::move(error));
  readCausalWork(*root);
  return true;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

std::string CollectiveGroup::where() const {
  if (layers.empty())
    return place.empty() ? "-" : place;
  std::string range = "h." + std::to_string(*layers.begin());
  if (layers.size() > 1)
    range += "-" + std::to_string(*layers.rbegin());
  return range + "." + place;
}

std::string CollectiveGroup::overlap() const {
  if (asyncCalls == 0)
    return "-";
  std::string text =
      formatv("{0} ops, {1} flops", besideOps, countText(besideFlops));
  return asyncCalls == calls ? text
                             : formatv("{0} calls: {1}", asyncCalls, text);
}

std::string Report::headline() const {
  return formatv("{0}, {1} ({2} rank{3}), {4} parameters, {5} per rank",
                 family.empty() ? "model" : family,
                 mesh.empty() ? "serial" : mesh, ranks, ranks == 1 ? "" : "s",
                 countText(static_cast<double>(parameters)),
                 bytesText(arenaBytes))
      .str();
}

std::string Report::collectivesText() const {
  if (collectives.empty())
    return "communication: none\n";
  Table table({"where", "phase", "axis", "collective", "calls", "bytes of one",
               "bytes per step", "computed beside", "reason"});
  int64_t total = 0;
  for (const CollectiveGroup &group : collectives) {
    table.add({group.where(), group.phase.empty() ? "-" : group.phase,
               group.axes, group.kind, std::to_string(group.calls),
               std::to_string(group.bytesOfCall),
               std::to_string(group.bytesOfStep()), group.overlap(),
               group.reason});
    total += group.bytesOfStep();
  }
  return formatv("communication per step and {0}: {1} in buffers\n{2}",
                 pipeline ? "a rank of each stage" : "rank", bytesText(total),
                 table.str())
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

std::string Report::text() const {
  std::string text;
  raw_string_ostream out(text);
  if (signer && !signer->empty())
    out << "signed by: key " << *signer << "\n";
  out << "model: " << family << ", " << layers << " layers, vocabulary "
      << vocabulary << "\n";
  out << "step: " << batch << " sequences of " << sequence << " tokens"
      << (target ? " and targets of " + std::to_string(target) : "") << " in "
      << microBatches << " micro-batch" << (microBatches == 1 ? "" : "es")
      << "\n";
  out << "mesh: " << (mesh.empty() ? "serial" : mesh) << ", " << ranks
      << " rank" << (ranks == 1 ? "" : "s") << " on " << device << " ("
      << processor << "), " << precision << "\n";
  out << "parameters: " << parameters << " (" << parametersOfRank
      << " on each rank)\n";
  if (flopsOfRank > 0)
    out << "flops per step: " << countText(flopsOfRank) << " on each rank, "
        << countText(flopsOfAll) << " over all ranks\n";
  if (!recompute.empty())
    out << "recomputed in backward: " << recompute << ", "
        << countText(recomputedFlops)
        << formatv(" of these flops ({0:f1} %)\n",
                   100 * recomputedFlops / std::max(flopsOfRank, 1.0));
  if (causalWork.size() > 1)
    out << "causal attention of the ranks of a sequence: " << causalWorkText()
        << "\n";
  out << "memory per rank: " << arenaBytes << " bytes ("
      << bytesText(arenaBytes) << ")\n";
  Table table({"kind", "bytes", ""});
  for (const auto &[kind, bytes] : memory)
    table.add({kind, std::to_string(bytes), bytesText(bytes)});
  if (!table.empty())
    out << table.str();
  if (pipeline)
    out << pipeline->text();
  if (owners)
    out << owners->text();
  out << collectivesText();
  return text;
}

json::Value Report::json() const {
  json::Object kinds;
  for (const auto &[kind, bytes] : memory)
    kinds[kind] = bytes;
  json::Array groups;
  for (const CollectiveGroup &g : collectives)
    groups.push_back(
        json::Object{{"collective", g.kind},
                     {"axes", g.axes},
                     {"where", g.where()},
                     {"layers", static_cast<int64_t>(g.layers.size())},
                     {"phase", g.phase},
                     {"reason", g.reason},
                     {"calls", g.calls},
                     {"bytes_of_call", g.bytesOfCall},
                     {"async_calls", g.asyncCalls},
                     {"ops_beside", g.besideOps},
                     {"flops_beside", g.besideFlops},
                     {"bytes_of_step", g.bytesOfStep()}});
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
      {"flops_of_rank", flopsOfRank},
      {"causal_work", json::Array(causalWork)},
      {"recompute",
       json::Object{{"mode", recompute}, {"flops_of_rank", recomputedFlops}}},
      {"memory",
       json::Object{{"bytes", arenaBytes}, {"by_kind", std::move(kinds)}}},
      {"collectives", std::move(groups)}};
  if (signer)
    all["signer"] =
        signer->empty() ? json::Value(nullptr) : json::Value(*signer);
  if (pipeline)
    all["pipeline"] = pipeline->json();
  if (owners)
    all["parameter_server"] = owners->json();
  return all;
}
