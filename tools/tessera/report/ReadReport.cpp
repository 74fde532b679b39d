//===- ReadReport.cpp - reads an artifact's metadata ----------------------===//

#include "tools/tessera/report/JsonList.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Report.h"
#include <algorithm>
#include <map>

using namespace llvm;
using namespace tessera;

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
  processor =
      stringOf(root.getObject("target"), device == "cuda" ? "arch" : "cpu");
  const json::Object *again = root.getObject("recompute");
  recompute = stringOf(again, "mode");
  if (int64_t count = integerOf(again, "layers", -1); count >= 0)
    recompute += ", first " + std::to_string(count) + " layers";
  if (recompute == "none")
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
    // Of owners, who run much the same, only one is shown.
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
