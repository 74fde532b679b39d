//===- MeasuredStep.cpp - a step as it ran, from its trace ----------------===//

#include "tessera/Predict/MeasuredStep.h"
#include "lib/Predict/Timeline.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Json/ReadText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <map>
#include <numeric>
#include <set>

using namespace llvm;
using namespace tessera;
using namespace tessera::simulate;

/// Segments of all lanes of all ranks together.
static constexpr size_t kMostSegments = 6000;

json::Object tessera::programOfTrace(const Program &program) {
  return json::Object{{"mesh", program.mesh.text()},
                      {"tokens", program.tokens},
                      {"arena_bytes", program.bytesPerRank}};
}

namespace {

struct Event {
  int64_t rank = 0, thread = 0, op = 0, microBatch = 0;
  double begin = 0, seconds = 0;
  StringRef name;
};

class TraceReader {
public:
  TraceReader(const std::string &path, const Program &program)
      : path(path), program(program) {}

  Expected<MeasuredStep> read();

private:
  Error fail(const std::string &why) const {
    return createStringError("'" + path + "': " + why +
                             "; give what tessera train --trace wrote of this "
                             "model with the same options");
  }
  Error checkProgram(const json::Object &root) const;
  std::set<int64_t> simulatedRanks(const json::Array &list) const;
  Expected<Event> eventOf(const json::Object &object) const;
  Error addRank(MeasuredStep &step, int64_t rank,
                const std::vector<Event> &events) const;
  void addEvent(MeasuredRank &to, const Event &event, int64_t call) const;
  void addTransfer(MeasuredRank &to, const Span &span) const;

  const std::string &path;
  const Program &program;
  double zero = 0; ///< When the first call begins.
};

} // namespace

//===----------------------------------------------------------------------===//
// Reading the file
//===----------------------------------------------------------------------===//

/// Calls alone do not tell a program from one of another batch.
Error TraceReader::checkProgram(const json::Object &root) const {
  const json::Object *given = root.getObject("otherData");
  if (!given)
    return fail("it does not say which program it is of");
  json::Object wanted = programOfTrace(program);
  for (const char *key : {"mesh", "tokens", "arena_bytes"}) {
    const json::Value *value = given->get(key);
    if (!value || *value != *wanted.get(key))
      return fail(formatv("it is of another program: its {0} is {1}, that of "
                          "this one {2}",
                          key, value ? *value : json::Value(nullptr),
                          *wanted.get(key)));
  }
  return Error::success();
}

std::set<int64_t> TraceReader::simulatedRanks(const json::Array &list) const {
  std::set<int64_t> ranks;
  for (const json::Value &value : list) {
    const json::Object *event = value.getAsObject();
    if (!event || event->getString("name") != "process_name")
      continue;
    const json::Object *arguments = event->getObject("args");
    if (arguments &&
        arguments->getString("name").value_or("").ends_with(", simulated"))
      ranks.insert(event->getInteger("pid").value_or(0));
  }
  return ranks;
}

/// Microseconds such as a step has: a year at most.
static bool isTime(double value) {
  constexpr double most = 3.2e13;
  return std::abs(value) <= most;
}

Expected<Event> TraceReader::eventOf(const json::Object &object) const {
  const json::Object *arguments = object.getObject("args");
  auto rank = object.getInteger("pid"), thread = object.getInteger("tid");
  auto begin = object.getNumber("ts"), length = object.getNumber("dur");
  auto op = arguments ? arguments->getInteger("op") : std::nullopt;
  auto name = object.getString("name");
  bool isWhole = rank && thread && begin && length && op && name;
  if (!isWhole || !isTime(*begin) || !isTime(*length) || *length < 0 ||
      *rank < 0)
    return fail(formatv("an event is malformed: {0}",
                        json::Value(json::Object(object))));
  return Event{*rank,         *thread,
               *op,           arguments->getInteger("micro_batch").value_or(0),
               *begin * 1e-6, *length * 1e-6,
               *name};
}

//===----------------------------------------------------------------------===//
// The meaning of its events
//===----------------------------------------------------------------------===//

void TraceReader::addTransfer(MeasuredRank &to, const Span &span) const {
  const Call &call = program.stages[to.stage].calls[span.call];
  to.times.spans.push_back({span.call, span.microBatch, span.begin, span.end,
                            Span::Transfer, activityOf(program, call)});
  if (!call.meshAxes.empty())
    to.times.collectives[call.meshAxes.front()] += span.end - span.begin;
}

/// Collectives and messages that block run on the program's own thread.
void TraceReader::addEvent(MeasuredRank &to, const Event &event,
                           int64_t number) const {
  const std::vector<Call> &calls = program.stages[to.stage].calls;
  const Call *call = &calls[number];
  Span span{number,
            event.microBatch,
            event.begin - zero,
            event.begin - zero + event.seconds,
            Span::Work,
            Activity::Kernels};
  if (event.thread != 0)
    return addTransfer(to, span);
  if (call->kind == CallKind::Wait) {
    auto start = llvm::find_if(
        calls, [&](const Call &other) { return other.wait == number; });
    call = start == calls.end() ? call : &*start;
  }
  bool computes = !call->communicates() && call->kind != CallKind::Wait;
  span.kind = computes ? Span::Work : Span::Wait;
  span.activity = activityOf(program, *call);
  to.times.spans.push_back(span);
  to.times.seconds[static_cast<size_t>(span.activity)] += event.seconds;
  to.times.end = std::max(to.times.end, span.end);
  if (!computes && call == &calls[number] && call->wait == 0)
    addTransfer(to, span);
}

Error TraceReader::addRank(MeasuredStep &step, int64_t rank,
                           const std::vector<Event> &events) const {
  if (rank >= program.ranks())
    return fail(formatv("it is of another program: it has a rank {0}, this "
                        "program has {1} ranks",
                        rank, program.ranks()));
  MeasuredRank measured{rank, program.stageOf(rank), {}, 0};
  measured.times.collectives.resize(program.mesh.size());
  int64_t first = 0; // numbers of a trace go from stage to stage
  for (int64_t stage = 0; stage < measured.stage; ++stage)
    first += static_cast<int64_t>(program.stages[stage].calls.size());
  const std::vector<Call> &calls = program.stages[measured.stage].calls;
  for (const Event &event : events) {
    int64_t number = event.op - first;
    bool isKnown =
        number >= 0 && number < static_cast<int64_t>(calls.size()) &&
        event.name == (calls[number].name.empty()
                           ? calls[number].op
                           : calls[number].op + " " + calls[number].name);
    if (!isKnown)
      return fail(formatv("it is of another program: rank {0} runs '{1}' as "
                          "op {2}, which this program does not",
                          rank, event.name, event.op));
    addEvent(measured, event, number);
  }
  step.ranks.push_back(std::move(measured));
  return Error::success();
}

/// Waiting for the others at the end belongs to stages, as in a simulation.
static void addIdle(MeasuredStep &step, bool hasStages) {
  for (MeasuredRank &rank : step.ranks) {
    auto &seconds = rank.times.seconds;
    if (hasStages)
      seconds[static_cast<size_t>(Activity::Stages)] +=
          step.seconds - rank.times.end;
    rank.between =
        step.seconds - std::accumulate(seconds.begin(), seconds.end(), 0.0);
  }
}

Expected<MeasuredStep> TraceReader::read() {
  auto file = readText(path, json_kinds::trace);
  if (!file)
    return file.takeError();
  Expected<json::Value> value =
      parseJson((*file)->getBuffer(), json_kinds::trace);
  if (!value)
    return fail("it is no JSON: " + toString(value.takeError()));
  json::Object *root = value->getAsObject();
  json::Array *list = root ? root->getArray("traceEvents") : nullptr;
  if (!list)
    return fail("it has no list 'traceEvents'");
  if (Error error = checkProgram(*root))
    return error;
  std::set<int64_t> simulated = simulatedRanks(*list);
  MeasuredStep step;
  std::map<int64_t, std::vector<Event>> byRank;
  zero = std::numeric_limits<double>::infinity();
  for (json::Value &each : *list) {
    const json::Object *object = each.getAsObject();
    if (!object || simulated.count(object->getInteger("pid").value_or(-1)))
      continue;
    if (object->getString("ph") == "X") {
      Expected<Event> event = eventOf(*object);
      if (!event)
        return event.takeError();
      zero = std::min(zero, event->begin);
      byRank[event->rank].push_back(*event);
    }
  }
  if (byRank.empty())
    return fail("it has no measured step");
  for (const auto &[rank, events] : byRank)
    if (Error error = addRank(step, rank, events))
      return error;
  for (const MeasuredRank &rank : step.ranks)
    step.seconds = std::max(step.seconds, rank.times.end);
  addIdle(step, program.stageAxis >= 0);
  for (json::Value &each : *list)
    if (const json::Object *object = each.getAsObject();
        object && !simulated.count(object->getInteger("pid").value_or(-1)))
      step.events.push_back(std::move(each));
  return step;
}

Expected<MeasuredStep> tessera::readMeasuredStep(const std::string &path,
                                                 const Program &program) {
  return TraceReader(path, program).read();
}

//===----------------------------------------------------------------------===//
// Describing it
//===----------------------------------------------------------------------===//

std::vector<MeasuredStage> MeasuredStep::stages() const {
  std::map<int64_t, MeasuredStage> byStage;
  for (const MeasuredRank &rank : ranks) {
    MeasuredStage &stage = byStage[rank.stage];
    stage.stage = rank.stage;
    ++stage.ranks;
    for (auto [sum, each] : zip(stage.seconds, rank.times.seconds))
      sum += each;
    stage.between += rank.between;
  }
  std::vector<MeasuredStage> list;
  for (auto &[number, stage] : byStage) {
    for (double &sum : stage.seconds)
      sum /= static_cast<double>(stage.ranks);
    stage.between /= static_cast<double>(stage.ranks);
    list.push_back(stage);
  }
  return list;
}

static json::Object
secondsJson(const std::array<double, kActivities> &activities, double between) {
  json::Object seconds;
  for (size_t activity = 0; activity < kActivities; ++activity)
    seconds[nameOf(static_cast<Activity>(activity))] = activities[activity];
  seconds[kBetweenCalls] = between;
  return seconds;
}

json::Object MeasuredStep::json(const Program &program) const {
  json::Array list, means;
  size_t most = kMostSegments / 2 / ranks.size();
  for (const MeasuredRank &rank : ranks) {
    json::Object axes;
    for (auto [axis, value] : zip(program.mesh, rank.times.collectives))
      if (value > 0)
        axes[axis.name] = value;
    list.push_back(
        json::Object{{"rank", rank.rank},
                     {"stage", rank.stage},
                     {"end", rank.times.end},
                     {"seconds", secondsJson(rank.times.seconds, rank.between)},
                     {"communication", std::move(axes)},
                     {"timeline", timelineJson(program.stages[rank.stage],
                                               rank.times, most)}});
  }
  for (const MeasuredStage &stage : stages())
    means.push_back(
        json::Object{{"stage", stage.stage},
                     {"ranks", stage.ranks},
                     {"seconds", secondsJson(stage.seconds, stage.between)}});
  return json::Object{{"seconds", seconds},
                      {"ranks", std::move(list)},
                      {"stages", std::move(means)}};
}
