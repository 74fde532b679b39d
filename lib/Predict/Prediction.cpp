//===- Prediction.cpp - a simulated step, for people and programs ---------===//

#include "tessera/Predict/Prediction.h"
#include "lib/Predict/Timeline.h"
#include "tessera/Options/Counted.h"
#include "tessera/Text/Table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::simulate;

double Prediction::tokensPerSecond() const {
  return static_cast<double>(program.tokens) / times.seconds;
}

double Prediction::flopsPerDevice() const {
  return program.modelFlops / times.seconds /
         static_cast<double>(program.ranks());
}

double Prediction::utilization() const {
  return flopsPerDevice() / cluster.device.products.at(program.precision).peak;
}

bool Prediction::fits() const {
  return static_cast<double>(program.bytesPerRank) <=
         cluster.device.memoryBytes;
}

/// 0.0123 -> "12.3 ms".
static std::string secondsText(double seconds) {
  if (seconds >= 1)
    return formatv("{0:f2} s", seconds);
  if (seconds >= 1e-3)
    return formatv("{0:f2} ms", seconds * 1e3);
  return formatv("{0:f1} us", seconds * 1e6);
}

static std::string stageTable(const Prediction &prediction, size_t width) {
  std::vector<std::string> header{prediction.program.stageAxis < 0 ? "rank"
                                                                   : "stage"};
  for (size_t activity = 0; activity < kActivities; ++activity)
    header.push_back(nameOf(static_cast<Activity>(activity)));
  Table table(header);
  for (const auto &[number, stage] : enumerate(prediction.times.stages)) {
    std::vector<std::string> row{
        prediction.program.stageAxis < 0 ? "each" : std::to_string(number)};
    for (double seconds : stage.seconds)
      row.push_back(
          formatv("{0:f1} %", 100 * seconds / prediction.times.seconds));
    table.add(row);
  }
  return table.str(width);
}

std::string Prediction::text(size_t width) const {
  std::string text = formatv(
      "a step takes {0} on {1}: {2} tokens/s, {3}flop/s per device "
      "({4:f1} % of its peak)\n",
      secondsText(times.seconds), cluster.name, countText(tokensPerSecond()),
      countText(flopsPerDevice()), 100 * utilization());
  text += formatv("memory: {0} of {1} on the device that needs most{2}\n",
                  bytesText(program.bytesPerRank),
                  bytesText(static_cast<int64_t>(cluster.device.memoryBytes)),
                  fits() ? "" : "; it does not fit");
  if (softwareMemory)
    text += "\n" + softwareMemory->text(width);
  text += "\nwhat a device does with the time of a step\n";
  text += stageTable(*this, width);
  return measured ? text + comparison(width) : text;
}

/// Adds a row for each activity that takes time, simulated or measured.
static void addRows(Table &table, const StageTimes &simulated,
                    const MeasuredStage &ran) {
  auto row = [&](std::string activity, std::optional<double> before,
                 double after) {
    if (before.value_or(0) <= 0 && after <= 0)
      return;
    table.add({std::to_string(ran.stage), std::move(activity),
               before ? secondsText(*before) : "-", secondsText(after),
               before.value_or(0) > 0 ? formatv("{0:f2}", after / *before).str()
                                      : "-"});
  };
  for (size_t activity = 0; activity < kActivities; ++activity)
    row(nameOf(static_cast<Activity>(activity)), simulated.seconds[activity],
        ran.seconds[activity]);
  row("between calls", std::nullopt, ran.between);
}

std::string Prediction::comparison(size_t width) const {
  Table table({"stage", "activity", "simulated", "measured", "ratio"});
  for (const MeasuredStage &stage : measured->stages())
    addRows(table, times.stages[stage.stage], stage);
  return formatv("\na measured step took {0}, {1:f2} times the simulated one; "
                 "its ranks' mean\n",
                 secondsText(measured->seconds),
                 measured->seconds / times.seconds)
             .str() +
         table.str(width);
}

json::Value Prediction::json() const {
  json::Array stages;
  for (const auto &[number, stage] : enumerate(times.stages)) {
    json::Object seconds, axes;
    for (size_t activity = 0; activity < kActivities; ++activity)
      seconds[nameOf(static_cast<Activity>(activity))] =
          stage.seconds[activity];
    for (auto [axis, value] : zip(program.mesh, stage.collectives))
      if (value > 0)
        axes[axis.name] = value;
    stages.push_back(
        json::Object{{"end", stage.end},
                     {"rank", program.firstRankOf(number)},
                     {"seconds", std::move(seconds)},
                     {"communication", std::move(axes)},
                     {"timeline", timelineJson(program.stages[number], stage,
                                               kSegmentsOfLane)}});
  }
  json::Object all{{"cluster", cluster.name},
                   {"mesh", program.mesh.text()},
                   {"ranks", program.ranks()},
                   {"step_seconds", times.seconds},
                   {"tokens_per_second", tokensPerSecond()},
                   {"flops_per_second_per_device", flopsPerDevice()},
                   {"utilization", utilization()},
                   {"memory_bytes", program.bytesPerRank},
                   {"fits", fits()},
                   {"memory_bytes_of_device", cluster.device.memoryBytes},
                   {"stages", std::move(stages)}};
  if (measured)
    all["measured"] = measured->json(program);
  if (softwareMemory)
    all["software_memory"] = softwareMemory->json();
  return all;
}

//===----------------------------------------------------------------------===//
// The trace
//===----------------------------------------------------------------------===//

static json::Object nameEvent(const char *what, int64_t rank, int64_t thread,
                              const std::string &name) {
  return json::Object{{"name", what},
                      {"ph", "M"},
                      {"pid", rank},
                      {"tid", thread},
                      {"args", json::Object{{"name", name}}}};
}

/// The threads that the runtime writes: messages between threads of a CPU have
/// one of their own.
constexpr int64_t ownProgram = 0, communication = 1, messages = 2;

static int64_t threadOf(const Program &program, const Span &span,
                        const Call &call) {
  if (span.kind != Span::Transfer)
    return ownProgram;
  bool isMessage = call.kind != CallKind::Collective;
  return isMessage && !program.isCuda ? messages : communication;
}

/// Numbers of calls go from stage to stage, as those of a measured step.
static json::Object spanEvent(const StageProgram &stage, const Span &span,
                              int64_t rank, int64_t thread, int64_t firstCall) {
  const Call &call = stage.calls[span.call];
  json::Object arguments{{"op", firstCall + span.call},
                         {"micro_batch", span.microBatch}};
  for (const program::Task &task : stage.tasks)
    if (span.call >= task.begin && span.call < task.end)
      arguments["task"] = task.name;
  return json::Object{
      {"name", call.name.empty() ? call.op : call.op + " " + call.name},
      {"cat", call.op},
      {"ph", "X"},
      {"ts", span.begin * 1e6},
      {"dur", (span.end - span.begin) * 1e6},
      {"pid", rank},
      {"tid", thread},
      {"args", std::move(arguments)}};
}

/// Writes what is computed, and the transfers beside it.
static void writeSpans(json::OStream &out, const Prediction &prediction,
                       int64_t firstRank) {
  int64_t firstCall = 0;
  for (auto [number, times] : enumerate(prediction.times.stages)) {
    const StageProgram &stage = prediction.program.stages[number];
    int64_t rank = prediction.program.firstRankOf(static_cast<int64_t>(number));
    int64_t process = firstRank + rank;
    out.value(nameEvent("process_name", process, 0,
                        formatv("rank {0}, simulated", rank)));
    out.value(nameEvent("thread_name", process, ownProgram, "program"));
    out.value(
        nameEvent("thread_name", process, communication, "communication"));
    if (!prediction.program.isCuda)
      out.value(nameEvent("thread_name", process, messages, "messages"));
    for (const Span &span : times.spans)
      if (span.kind != Span::Wait)
        out.value(spanEvent(
            stage, span, process,
            threadOf(prediction.program, span, stage.calls[span.call]),
            firstCall));
    firstCall += static_cast<int64_t>(stage.calls.size());
  }
}

std::string Prediction::trace() const {
  std::string text;
  raw_string_ostream stream(text);
  json::OStream out(stream);
  out.objectBegin();
  out.attribute("displayTimeUnit", "ms");
  out.attribute("otherData", programOfTrace(program));
  out.attributeBegin("traceEvents");
  out.arrayBegin();
  if (measured)
    for (const json::Value &event : measured->events)
      out.value(event);
  writeSpans(out, *this, measured ? program.ranks() : 0);
  out.arrayEnd();
  out.attributeEnd();
  out.objectEnd();
  return text + "\n";
}
