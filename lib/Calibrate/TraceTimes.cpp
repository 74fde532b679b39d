//===- TraceTimes.cpp - what traces say of calls --------------------------===//

#include "lib/Calibrate/TraceTimes.h"
#include "lib/Calibrate/Median.h"
#include "tessera/Json/ParseJson.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <optional>

using namespace tessera;
namespace json = llvm::json;

using TimesByOp = std::map<int64_t, std::vector<double>>;

static std::map<int64_t, double> mediansOf(TimesByOp times) {
  std::map<int64_t, double> medians;
  for (auto &[op, seconds] : times)
    medians[op] = medianOf(std::move(seconds));
  return medians;
}

llvm::Error TraceTimes::add(llvm::StringRef text) {
  auto parsed = parseJson(text, json_kinds::trace);
  if (!parsed)
    return llvm::createStringError("the trace is malformed: " +
                                   llvm::toString(parsed.takeError()));
  const json::Object *root = parsed->getAsObject();
  const json::Array *list = root ? root->getArray("traceEvents") : nullptr;
  if (!list)
    return llvm::createStringError("the trace is malformed: it has no events");
  std::map<std::pair<int64_t, int64_t>, RankStep> threads;
  for (const json::Value &value : *list) {
    const json::Object *event = value.getAsObject();
    if (!event || event->getString("ph") != "X")
      continue;
    const json::Object *arguments = event->getObject("args");
    auto number = [&](const char *key) {
      return event->getNumber(key).value_or(0);
    };
    threads[{event->getInteger("pid").value_or(0),
             event->getInteger("tid").value_or(0)}]
        .push_back({arguments ? arguments->getInteger("op").value_or(-1) : -1,
                    number("ts") * 1e-6, number("dur") * 1e-6});
  }
  std::vector<RankStep> &step = steps.emplace_back();
  for (auto &[thread, events] : threads)
    step.push_back(std::move(events));
  return llvm::Error::success();
}

std::map<int64_t, double> TraceTimes::medians() const {
  TimesByOp times;
  for (const std::vector<RankStep> &step : steps)
    for (const RankStep &events : step)
      for (const Event &event : events)
        times[event.op].push_back(event.seconds);
  return mediansOf(std::move(times));
}

std::map<int64_t, double> TraceTimes::mediansOfLastRank() const {
  TimesByOp times;
  for (const std::vector<RankStep> &step : steps) {
    // The least time of an op, by how often it ran before in the step.
    std::map<std::pair<int64_t, int64_t>, double> least;
    for (const RankStep &events : step) {
      std::map<int64_t, int64_t> runs;
      for (const Event &event : events) {
        auto run = std::make_pair(event.op, runs[event.op]++);
        double &known = least.try_emplace(run, event.seconds).first->second;
        known = std::min(known, event.seconds);
      }
    }
    for (const auto &[run, seconds] : least)
      times[run.first].push_back(seconds);
  }
  return mediansOf(std::move(times));
}

double
TraceTimes::sumOverMedians(const std::map<int64_t, double> &medians) const {
  std::vector<double> ratios;
  for (const std::vector<RankStep> &step : steps)
    for (const RankStep &events : step) {
      double seconds = 0, ofMedians = 0;
      for (const Event &event : events)
        if (auto median = medians.find(event.op); median != medians.end())
          seconds += event.seconds, ofMedians += median->second;
      if (ofMedians > 0)
        ratios.push_back(seconds / ofMedians);
    }
  return ratios.empty() ? 1 : medianOf(std::move(ratios));
}

double TraceTimes::betweenCalls() const {
  std::vector<double> gaps;
  for (const std::vector<RankStep> &step : steps)
    for (const RankStep &events : step)
      for (size_t i = 1; i < events.size(); ++i)
        gaps.push_back(events[i].begin - events[i - 1].begin -
                       events[i - 1].seconds);
  return gaps.empty() ? 0 : std::max(medianOf(std::move(gaps)), 0.0);
}
