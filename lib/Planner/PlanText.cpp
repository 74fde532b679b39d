//===- PlanText.cpp - plans that were found, as text and JSON -------------===//

#include "tessera/Planner/PlanText.h"
#include "tessera/Options/Counted.h"
#include "tessera/Text/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace llvm;
using namespace tessera;

static std::string secondsText(double seconds) {
  if (seconds >= 1)
    return formatv("{0:f3} s", seconds);
  return formatv("{0:f3} ms", seconds * 1e3);
}

static std::string signedBytes(double bytes) {
  return bytesText(static_cast<int64_t>(bytes));
}

//===----------------------------------------------------------------------===//
// Reasons
//===----------------------------------------------------------------------===//

/// The activities of a device, in words for those who compare plans.
static const char *const kNames[simulate::kActivities] = {
    "products", "attention", "kernels", "network", "bubble"};

std::string tessera::whyWorse(const PlannedStep &step,
                              const PlanningResult &result) {
  if (!step.fits(result.memoryLimit))
    return "does not fit by " +
           signedBytes(static_cast<double>(step.of.bytes) - result.memoryLimit);
  const Evaluation &best = result.steps.front().of;
  size_t most = 0;
  auto excess = [&](size_t i) {
    return step.of.activities[i] - best.activities[i];
  };
  for (size_t i = 1; i < simulate::kActivities; ++i)
    if (excess(i) > excess(most))
      most = i;
  if (&step == &result.steps.front() || excess(most) <= 0)
    return "";
  return formatv("{0} +{1:f1} %", kNames[most],
                 100 * excess(most) / best.seconds);
}

std::vector<const PlannedStep *>
tessera::paretoFront(const PlanningResult &result) {
  std::vector<const PlannedStep *> order, front;
  for (const PlannedStep &step : result.steps)
    if (step.fits(result.memoryLimit))
      order.push_back(&step);
  llvm::stable_sort(order, [](const PlannedStep *a, const PlannedStep *b) {
    return std::pair(a->of.seconds, a->of.bytes) <
           std::pair(b->of.seconds, b->of.bytes);
  });
  for (const PlannedStep *step : order)
    if (front.empty() || step->of.bytes < front.back()->of.bytes)
      front.push_back(step);
  return front;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// "1f1b", "interleaved x3".
static std::string scheduleText(const PlanOptions &plan) {
  if (plan.mesh.sizeOf(MeshAxis::Pipeline) == 1)
    return "-";
  std::string text = nameOf(plan.stages.schedule);
  if (plan.stages.virtualStages > 1)
    text += " x" + std::to_string(plan.stages.virtualStages);
  const std::vector<int64_t> &layers = plan.stages.layers;
  if (layers.empty())
    return text;
  return text + (llvm::all_equal(layers) ? ", equal" : ", own cuts");
}

/// "none", "none, 3 layers full".
static std::string recomputeText(const MemoryOptions &memory) {
  std::map<Recompute, int64_t> layers;
  for (const LayerRange &range : memory.layerRecompute.ranges)
    layers[range.recompute] += range.last - range.first + 1;
  std::string text = nameOf(memory.recompute);
  for (auto [mode, count] : layers)
    text += ", " + counted(count, "layer") + " " + nameOf(mode);
  return text;
}

static std::vector<std::string> rowOf(const PlannedStep &step) {
  const PlanOptions &plan = step.plan;
  return {plan.mesh.axes.empty() ? "dp=1" : plan.mesh.str(),
          std::to_string(plan.sizes.microBatches),
          std::to_string(plan::microBatchOf(plan)),
          scheduleText(plan),
          nameOf(plan.strategies.zero),
          plan.strategies.sequenceParallel ? "yes" : "no",
          recomputeText(plan.memory),
          bytesText(plan.communication.bucketBytes),
          secondsText(step.of.seconds),
          bytesText(step.of.bytes)};
}

static std::vector<std::string> header() {
  return {"mesh", "micro-batches", "of",     "schedule", "zero",
          "sp",   "recompute",     "bucket", "step",     "memory"};
}

static std::string tableOf(const PlanningResult &result, size_t plans,
                           size_t width) {
  std::vector<std::string> titles = header();
  titles.push_back("against the best");
  Table table(titles);
  for (const PlannedStep &step : ArrayRef(result.steps).take_front(plans)) {
    std::vector<std::string> row = rowOf(step);
    row.push_back(whyWorse(step, result));
    table.add(row);
  }
  table.mayLeaveOut({"of", "bucket", "zero", "sp"});
  return table.str(width);
}

static std::string frontOf(const PlanningResult &result, size_t width) {
  Table table(header());
  for (const PlannedStep *step : paretoFront(result))
    table.add(rowOf(*step));
  table.mayLeaveOut({"of", "zero", "sp"});
  return table.str(width);
}

namespace {

/// A whole training with the best plan.
struct Training {
  double seconds = 0;
  int64_t nodes = 0; ///< Nodes that its ranks are on.
  double joules = 0; ///< If all of them are at full load; 0: not known.
};

} // namespace

static Training trainingOf(const PlanText &found) {
  const Evaluation &best = found.result.steps.front().of;
  int64_t ofNode = found.cluster.sharedBy(best.ranks).devicesPerNode;
  Training training;
  training.seconds =
      found.asked.tokens / static_cast<double>(best.tokens) * best.seconds;
  training.nodes = llvm::divideCeil(best.ranks, ofNode);
  training.joules = training.seconds * found.cluster.nodePower *
                    static_cast<double>(training.nodes);
  return training;
}

static std::string trainingText(const PlanText &found) {
  if (found.asked.tokens == 0)
    return "";
  constexpr double day = 86400, megawattHour = 3.6e9;
  Training training = trainingOf(found);
  std::string text =
      formatv("\n{0} tokens take {1:f1} days", countText(found.asked.tokens),
              training.seconds / day);
  if (training.joules == 0)
    return text + "; for their energy, the cluster's file lacks "
                  "'nodes.power_watts'\n";
  return text + formatv(" and at most {0:f3} MWh, at {1:f1} kW of {2}\n",
                        training.joules / megawattHour,
                        found.cluster.nodePower / 1e3,
                        counted(training.nodes, "node"))
                    .str();
}

std::string PlanText::text(size_t width) const {
  std::string text = formatv(
      "{0} to begin with, {1}, {2} compiled whole, of which {3} fit into {4}\n",
      counted(static_cast<int64_t>(result.first), "plan"),
      counted(static_cast<int64_t>(result.sampled), "sample"),
      result.steps.size(), result.fitting, signedBytes(result.memoryLimit));
  text += formatv("estimates were at most {0:f1} % off; {1}\n\n",
                  100 * result.largestError,
                  result.isComplete ? "no estimate of what is left is better"
                                    : "--evaluations ended the search");
  text += tableOf(result, static_cast<size_t>(asked.plans), width);
  text += "\ntime against memory: no other plan is better in both\n";
  return text + frontOf(result, width) + trainingText(*this);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static json::Object activitiesJson(const Evaluation &of) {
  json::Object activities;
  for (size_t i = 0; i < simulate::kActivities; ++i)
    activities[kNames[i]] = of.activities[i];
  return activities;
}

static json::Object jsonOf(const PlannedStep &step, const PlanText &found) {
  json::Object options;
  for (const auto &[name, text] : plan::chosenOptions(found.space, step.plan))
    options[name] = text;
  json::Object result{{"options", std::move(options)},
                      {"step_seconds", step.of.seconds},
                      {"memory_bytes", step.of.bytes},
                      {"fits", step.fits(found.result.memoryLimit)},
                      {"ranks", step.of.ranks},
                      {"seconds", activitiesJson(step.of)},
                      {"why", whyWorse(step, found.result)}};
  if (step.estimate) {
    result["estimated_seconds"] = step.estimate->seconds;
    result["estimated_memory_bytes"] = step.estimate->bytes;
  }
  return result;
}

json::Value PlanText::json() const {
  json::Array plans, front;
  for (const PlannedStep &step : result.steps)
    plans.push_back(jsonOf(step, *this));
  for (const PlannedStep *step : paretoFront(result))
    front.push_back(jsonOf(*step, *this));
  json::Object root{{"cluster", cluster.name},
                    {"plans_to_begin_with", static_cast<int64_t>(result.first)},
                    {"samples", static_cast<int64_t>(result.sampled)},
                    {"complete", result.isComplete},
                    {"largest_error_of_estimates", result.largestError},
                    {"memory_limit_bytes", result.memoryLimit},
                    {"plans", std::move(plans)},
                    {"pareto", std::move(front)}};
  if (asked.tokens > 0) {
    Training training = trainingOf(*this);
    json::Object whole{{"tokens", asked.tokens},
                       {"seconds", training.seconds},
                       {"nodes", training.nodes}};
    if (training.joules > 0)
      whole["joules"] = training.joules;
    root["training"] = std::move(whole);
  }
  return root;
}

//===----------------------------------------------------------------------===//
// Two plans
//===----------------------------------------------------------------------===//

static void addOptions(Table &table, const ExplainedPlan &first,
                       const ExplainedPlan &second) {
  std::map<std::string, std::array<std::string, 2>> rows;
  for (const auto &[name, text] : first.options)
    rows[name][0] = text;
  for (const auto &[name, text] : second.options)
    rows[name][1] = text;
  for (const auto &[name, texts] : rows)
    if (texts[0] != texts[1])
      table.add({"--" + name, texts[0].empty() ? "-" : texts[0],
                 texts[1].empty() ? "-" : texts[1], ""});
}

static void addSeconds(Table &table, const std::string &name, double first,
                       double second) {
  std::string change = formatv("{0}{1}", second < first ? "-" : "+",
                               secondsText(std::abs(second - first)));
  table.add({name, secondsText(first), secondsText(second), change});
}

static void addMemory(Table &table, const Evaluation &first,
                      const Evaluation &second) {
  std::map<std::string, std::array<int64_t, 2>> rows;
  for (const auto &[kind, bytes] : first.memory)
    rows[kind][0] = bytes;
  for (const auto &[kind, bytes] : second.memory)
    rows[kind][1] = bytes;
  auto add = [&](const std::string &name, int64_t before, int64_t after) {
    table.add(
        {name, bytesText(before), bytesText(after),
         (after < before ? "-" : "+") + bytesText(std::abs(after - before))});
  };
  add("memory", first.bytes, second.bytes);
  for (const auto &[kind, bytes] : rows)
    add("  " + kind, bytes[0], bytes[1]);
}

std::string tessera::compareSteps(const ExplainedPlan &first,
                                  const ExplainedPlan &second, size_t width) {
  Table table({"", "first", "second", "change"});
  addOptions(table, first, second);
  addSeconds(table, "step", first.of.seconds, second.of.seconds);
  for (size_t i = 0; i < simulate::kActivities; ++i)
    addSeconds(table, std::string("  ") + kNames[i], first.of.activities[i],
               second.of.activities[i]);
  addMemory(table, first.of, second.of);
  return table.str(width);
}

static json::Object jsonOf(const ExplainedPlan &plan) {
  json::Object options, memory;
  for (const auto &[name, text] : plan.options)
    options[name] = text;
  for (const auto &[kind, bytes] : plan.of.memory)
    memory[kind] = bytes;
  return json::Object{
      {"options", std::move(options)},       {"step_seconds", plan.of.seconds},
      {"seconds", activitiesJson(plan.of)},  {"memory_bytes", plan.of.bytes},
      {"memory_by_kind", std::move(memory)}, {"ranks", plan.of.ranks}};
}

json::Value tessera::compareStepsJson(const ExplainedPlan &first,
                                      const ExplainedPlan &second) {
  return json::Object{{"first", jsonOf(first)}, {"second", jsonOf(second)}};
}
