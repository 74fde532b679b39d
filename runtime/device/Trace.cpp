#include "runtime/device/Trace.h"

#include "runtime/artifact/Metadata.h"
#include "runtime/support/File.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

namespace tessera {

namespace {
using Clock = OpTrace::Clock;

constexpr const char *threadNames[] = {"program", "communication", "messages"};

Clock::time_point firstOf(const std::vector<const RankTrace *> &ranks) {
  auto first = Clock::time_point::max();
  for (const RankTrace *rank : ranks)
    for (const OpTrace *thread : rank->threads())
      for (const OpTrace::Event &event : thread->events)
        first = std::min(first, event.begin);
  return first;
}

/// Quotes a text as JSON without a temporary object, which takes memory to
/// destroy.
std::string quoted(const std::string &text) {
  return nlohmann::json(text).dump();
}
std::string numberOf(Clock::duration time) {
  return nlohmann::json(std::chrono::duration<double, std::micro>(time).count())
      .dump();
}

/// Describes the properties that tell the program from others: its mesh, the
/// tokens of a step, and the bytes of the rank that needs most.
std::string programOf(const Metadata &metadata) {
  std::string mesh;
  for (const Axis &axis : metadata.mesh.axes)
    mesh += concat(mesh.empty() ? "" : ",", axis.name, "=", axis.size);
  const Model &model = metadata.model;
  int64_t tokens = model.sequence + (model.decoder ? model.decoder->target : 0);
  return concat("{\"mesh\":", quoted(mesh),
                ",\"tokens\":", model.batch * tokens,
                ",\"arena_bytes\":", metadata.arenaBytes, "}");
}

std::string nameEvent(const char *what, int64_t rank, int thread,
                      const std::string &name) {
  return concat("{\"name\":\"", what, "\",\"ph\":\"M\",\"pid\":", rank,
                ",\"tid\":", thread, ",\"args\":{\"name\":", quoted(name),
                "}}");
}

/// Returns the arguments of an op that its thread ran `earlier` times before;
/// nullopt: the trace does not say how often.
std::string argumentsOf(const Metadata &metadata, const OpTrace::Event &event,
                        std::optional<int64_t> earlier) {
  const int64_t op = event.op;
  std::string text = concat("{\"op\":", op);
  if (event.expertRounds > 0)
    text += concat(",\"rounds\":", event.expertRounds);
  std::optional<int64_t> microBatch;
  if (earlier)
    microBatch = metadata.microBatchOf(op, *earlier);
  if (microBatch)
    text += concat(",\"micro_batch\":", *microBatch);
  if (const TaskInfo *task = metadata.taskOf(op))
    text += concat(",\"task\":", quoted(task->name));
  return text + "}";
}

std::string opEvent(const Metadata &metadata, const OpTrace::Event &event,
                    int64_t rank, int thread, Clock::time_point zero,
                    std::optional<int64_t> earlier) {
  bool isKnown =
      event.op >= 0 && event.op < static_cast<int64_t>(metadata.ops.size());
  OpInfo info = isKnown ? metadata.ops[event.op] : OpInfo{"op", "", -1};
  std::string name = info.name.empty() ? info.op : info.op + " " + info.name;
  return concat("{\"name\":", quoted(name), ",\"cat\":", quoted(info.op),
                ",\"ph\":\"X\",\"ts\":", numberOf(event.begin - zero),
                ",\"dur\":", numberOf(event.end - event.begin),
                ",\"pid\":", rank, ",\"tid\":", thread,
                ",\"args\":", argumentsOf(metadata, event, earlier), "}");
}
} // namespace

RankTrace::RankTrace(int64_t calls) {
  program.events.reserve(calls);
  background.events.reserve(calls);
  messages.events.reserve(calls);
}

void writeTrace(const std::string &path, const Metadata &metadata,
                const std::vector<const RankTrace *> &ranks) {
  Clock::time_point zero = firstOf(ranks);
  std::string events;
  auto add = [&](const std::string &event) {
    events += (events.empty() ? "" : ",") + event;
  };
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    auto number = static_cast<int64_t>(rank);
    add(nameEvent("process_name", number, 0, concat("rank ", number)));
    const auto threads = ranks[rank]->threads();
    for (int thread = 0; thread < static_cast<int>(threads.size()); ++thread) {
      if (threads[thread]->events.empty())
        continue;
      add(nameEvent("thread_name", number, thread, threadNames[thread]));
      std::unordered_map<int64_t, int64_t> counts;
      for (const OpTrace::Event &event : threads[thread]->events) {
        std::optional<int64_t> earlier;
        if (threads[thread]->isComplete)
          earlier = counts[event.op]++;
        add(opEvent(metadata, event, number, thread, zero, earlier));
      }
    }
  }
  std::string text =
      "{\"displayTimeUnit\":\"ms\",\"otherData\":" + programOf(metadata) +
      ",\"traceEvents\":[" + events + "]}\n";
  WrittenFile file(WrittenFile::OfUser{path});
  file.write(text.data(), text.size());
  file.finish();
}

} // namespace tessera
