//===- Prediction.cpp - a simulated step, for people and programs ---------===//

#include "tools/tessera/simulate/Prediction.h"
#include "tessera/Options/Counted.h"
#include "tools/tessera/report/Table.h"
#include "tools/tessera/simulate/Timeline.h"
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

/// "dp=2,tp=2".
std::string Prediction::meshText() const {
  std::string text;
  for (const Axis &axis : program.mesh)
    text +=
        (text.empty() ? "" : ",") + axis.name + "=" + std::to_string(axis.size);
  return text;
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
  text += "\nwhat a device does with the time of a step\n";
  return text + stageTable(*this, width);
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
    stages.push_back(json::Object{
        {"end", stage.end},
        {"rank", program.firstRankOf(number)},
        {"seconds", std::move(seconds)},
        {"communication", std::move(axes)},
        {"timeline", timelineJson(program.stages[number], stage)}});
  }
  return json::Object{{"cluster", cluster.name},
                      {"mesh", meshText()},
                      {"ranks", program.ranks()},
                      {"step_seconds", times.seconds},
                      {"tokens_per_second", tokensPerSecond()},
                      {"flops_per_second_per_device", flopsPerDevice()},
                      {"utilization", utilization()},
                      {"memory_bytes", program.bytesPerRank},
                      {"fits", fits()},
                      {"memory_bytes_of_device", cluster.device.memoryBytes},
                      {"stages", std::move(stages)}};
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

static json::Object spanEvent(const Call &call, const Span &span,
                              int64_t rank) {
  return json::Object{
      {"name", call.name.empty() ? call.op : call.op + " " + call.name},
      {"cat", call.op},
      {"ph", "X"},
      {"ts", span.begin * 1e6},
      {"dur", (span.end - span.begin) * 1e6},
      {"pid", rank},
      {"tid", span.kind == Span::Transfer ? 1 : 0},
      {"args",
       json::Object{{"op", span.call}, {"micro_batch", span.microBatch}}}};
}

std::string Prediction::trace() const {
  std::string text;
  raw_string_ostream stream(text);
  json::OStream out(stream);
  out.objectBegin();
  out.attribute("displayTimeUnit", "ms");
  out.attributeBegin("traceEvents");
  out.arrayBegin();
  for (const auto &[number, stage] : enumerate(times.stages)) {
    int64_t rank = program.firstRankOf(static_cast<int64_t>(number));
    out.value(nameEvent("process_name", rank, 0,
                        formatv("rank {0}, simulated", rank)));
    out.value(nameEvent("thread_name", rank, 0, "program"));
    out.value(nameEvent("thread_name", rank, 1, "communication"));
    for (const Span &span : stage.spans)
      if (span.kind != Span::Wait)
        out.value(
            spanEvent(program.stages[number].calls[span.call], span, rank));
  }
  out.arrayEnd();
  out.attributeEnd();
  out.objectEnd();
  return text + "\n";
}
