//===- Timeline.cpp - what a stage does when, in a simulated step ---------===//

#include "lib/Predict/Timeline.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::simulate;

namespace {

struct Segment {
  std::string first, last; ///< Names; different where segments were joined.
  double begin = 0, end = 0;
  std::array<double, kActivities> seconds = {};

  void add(const Segment &other) {
    last = other.last;
    end = std::max(end, other.end);
    for (size_t k = 0; k < kActivities; ++k)
      seconds[k] += other.seconds[k];
  }
};

} // namespace

/// "h.3.mlp", "optimizer"; of communication and waits "all_reduce h.3.mlp".
static std::string nameOf(const StageProgram &program, const Span &span) {
  const Call &call = program.calls[span.call];
  if (span.kind != Span::Work)
    return call.name.empty() ? call.op : call.op + " " + call.name;
  if (call.isUpdate())
    return "optimizer";
  return (call.name.empty() ? call.op : call.name) +
         (call.recomputes() ? ", again" : "");
}

/// "B0 3" of a task for the fourth micro-batch; "": outside of tasks.
static std::string taskOf(const StageProgram &program, const Span &span) {
  for (const program::Task &task : program.tasks)
    if (span.call >= task.begin && span.call < task.end)
      return task.name + " " + std::to_string(span.microBatch);
  return "";
}

static std::vector<Segment> segmentsOf(const StageProgram &program,
                                       const StageTimes &times,
                                       bool ofNetwork) {
  std::vector<Segment> segments;
  for (const Span &span : times.spans) {
    if ((span.kind == Span::Transfer) != ofNetwork)
      continue;
    std::string name = nameOf(program, span);
    Segment segment{name, name, span.begin, span.end, {}};
    segment.seconds[static_cast<size_t>(span.activity)] = span.end - span.begin;
    if (!ofNetwork && !segments.empty() && segments.back().last == name)
      segments.back().add(segment);
    else
      segments.push_back(std::move(segment));
  }
  llvm::stable_sort(segments, [](const Segment &a, const Segment &b) {
    return a.begin < b.begin;
  });
  return segments;
}

/// Joins what is shorter than a time with its neighbour; the time grows until
/// few segments are left.
static void joinShort(std::vector<Segment> &segments, double all, size_t most) {
  for (double least = all / static_cast<double>(most) / 8;
       segments.size() > most && all > 0; least *= 2) {
    std::vector<Segment> joined;
    for (Segment &segment : segments) {
      auto isShort = [&](const Segment &each) {
        return each.end - each.begin < least;
      };
      if (!joined.empty() && (isShort(joined.back()) || isShort(segment)) &&
          segment.end - joined.back().begin < 4 * least)
        joined.back().add(segment);
      else
        joined.push_back(std::move(segment));
    }
    segments = std::move(joined);
  }
}

static json::Array lane(const StageProgram &program, const StageTimes &times,
                        bool ofNetwork, size_t most) {
  std::vector<Segment> segments = segmentsOf(program, times, ofNetwork);
  joinShort(segments, times.end, most);
  json::Array list;
  for (const Segment &segment : segments) {
    json::Object seconds;
    for (size_t k = 0; k < kActivities; ++k)
      if (segment.seconds[k] > 0)
        seconds[simulate::nameOf(static_cast<Activity>(k))] =
            segment.seconds[k];
    bool isJoined = segment.first != segment.last;
    list.push_back(
        json::Object{{"name", isJoined ? segment.first + " to " + segment.last
                                       : segment.first},
                     {"begin", segment.begin},
                     {"end", segment.end},
                     {"seconds", std::move(seconds)}});
  }
  return list;
}

/// Writes when the stage is at which task.
static json::Array tasksJson(const StageProgram &program,
                             const StageTimes &times) {
  std::vector<Segment> tasks;
  for (const Span &span : times.spans) {
    std::string name = span.kind == Span::Transfer ? "" : taskOf(program, span);
    if (name.empty())
      continue;
    if (tasks.empty() || tasks.back().first != name)
      tasks.push_back({name, name, span.begin, span.end, {}});
    tasks.back().end = span.end;
  }
  json::Array list;
  for (const Segment &task : tasks)
    list.push_back(json::Object{
        {"name", task.first}, {"begin", task.begin}, {"end", task.end}});
  return list;
}

json::Object tessera::timelineJson(const StageProgram &program,
                                   const StageTimes &times, size_t most) {
  return json::Object{{"device", lane(program, times, false, most)},
                      {"network", lane(program, times, true, most)},
                      {"tasks", tasksJson(program, times)}};
}
