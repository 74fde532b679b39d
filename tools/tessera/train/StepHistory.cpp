//===- StepHistory.cpp - the steps of a run and of those before -----------===//

#include "tools/tessera/train/StepHistory.h"
#include "tessera/Json/ParseJson.h"
#include "tessera/Json/ReadText.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>
#include <limits>

using namespace tessera;
using llvm::StringRef;
namespace json = llvm::json;

/// Names of the log; the last two appear if there is something to say.
const std::array<const char *, StepHistory::kCurves> StepHistory::names = {
    "loss", "grad_norm", "lr", "tokens_per_second", "mfu", "expert_rounds"};
static constexpr size_t kAlways = 4;

static constexpr uint64_t kMostBytesOfLog = 1 << 30;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

void StepHistory::continueAfter(int64_t last) {
  auto isLost = [&](const auto &entry) { return entry.step > last; };
  llvm::erase_if(evaluations, isLost);
  llvm::erase_if(notes, isLost);
  while (!steps.empty() && steps.back().number > last) {
    steps.pop_back();
    ++lostSteps;
  }
}

void StepHistory::addStep(const json::Object &line, int64_t number) {
  bool follows = !steps.empty() && number == steps.back().number + 1;
  if (!follows || line.getBoolean("resumed").value_or(false))
    runs.push_back({number, 0});
  continueAfter(number - 1);
  Step step{number, {}};
  for (size_t curve = 0; curve < kCurves; ++curve)
    step.values[curve] =
        line.getNumber(names[curve])
            .value_or(std::numeric_limits<double>::quiet_NaN());
  steps.push_back(step);
  skippedSteps = line.getInteger("skipped_steps").value_or(0);
}

void StepHistory::add(StringRef text) {
  llvm::Expected<json::Value> value = parseJson(text, json_kinds::log_line);
  json::Object *line = value ? value->getAsObject() : nullptr;
  int64_t step = line ? line->getInteger("step").value_or(-1) : -1;
  if (!value)
    llvm::consumeError(value.takeError());
  if (step < 0) {
    ++unreadLines;
    return;
  }
  if (line->get("loss"))
    addStep(*line, step);
  else if (line->get("eval_loss"))
    evaluations.push_back({step, *line});
  else if (line->get("note"))
    notes.push_back({step, *line});
  if (std::optional<double> time = line->getNumber("time");
      time && !runs.empty())
    runs.back().seconds = *time;
}

bool StepHistory::read(const std::string &path) {
  if (!llvm::sys::fs::exists(path))
    return true;
  auto file = readText(path, kMostBytesOfLog, "a log");
  if (!file)
    return !printError(llvm::toString(file.takeError()));
  StringRef rest = (*file)->getBuffer();
  while (!rest.empty()) {
    auto [line, more] = rest.split('\n');
    if (!line.trim().empty())
      add(line);
    rest = more;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Returns the points that are kept, in their order.
std::vector<size_t> StepHistory::thinned(const std::vector<int64_t> &at,
                                         const std::vector<double> &values) {
  std::vector<size_t> kept;
  if (at.size() <= kThinnedBeyond) {
    for (size_t i = 0; i < at.size(); ++i)
      kept.push_back(i);
    return kept;
  }
  int64_t first = at.front(), length = at.back() - first + 1;
  auto rangeOf = [&](size_t i) {
    return (at[i] - first) * static_cast<int64_t>(kRanges) / length;
  };
  for (size_t begin = 0, end = 0; begin < at.size(); begin = end) {
    std::optional<size_t> least, most, gap;
    for (end = begin; end < at.size() && rangeOf(end) == rangeOf(begin);
         ++end) {
      if (!std::isfinite(values[end]))
        gap = gap.value_or(end);
      else if (!least || values[end] < values[*least])
        least = end;
      if (std::isfinite(values[end]) && (!most || values[end] > values[*most]))
        most = end;
    }
    size_t before = kept.size();
    for (std::optional<size_t> point : {least, most, gap})
      if (point)
        kept.push_back(*point);
    std::sort(kept.begin() + static_cast<ptrdiff_t>(before), kept.end());
  }
  kept.insert(kept.begin(), 0);
  kept.push_back(at.size() - 1);
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

/// JSON has neither infinity nor NaN.
static json::Value valueJson(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

json::Array StepHistory::curveJson(Curve curve, bool &isThinned) const {
  std::vector<int64_t> at;
  std::vector<double> values;
  for (const Step &step : steps) {
    at.push_back(step.number);
    values.push_back(step.values[curve]);
  }
  json::Array points;
  for (size_t i : thinned(at, values))
    points.push_back(json::Array{at[i], valueJson(values[i])});
  isThinned |= points.size() < steps.size();
  return points;
}

json::Array StepHistory::evaluationsJson(bool &isThinned) const {
  std::vector<int64_t> at;
  std::vector<double> losses;
  for (const Entry &entry : evaluations) {
    at.push_back(entry.step);
    losses.push_back(entry.line.getNumber("eval_loss")
                         .value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  json::Array list;
  for (size_t i : thinned(at, losses))
    list.push_back(json::Object(evaluations[i].line));
  isThinned |= list.size() < evaluations.size();
  return list;
}

bool StepHistory::isSkipped(const Step &step) const {
  return !std::isfinite(step.values[Loss]) ||
         !std::isfinite(step.values[GradNorm]);
}

/// The newest ranges [first, last].
json::Array StepHistory::skippedJson() const {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const Step &step : steps) {
    if (!isSkipped(step))
      continue;
    if (!ranges.empty() && ranges.back().second == step.number - 1)
      ranges.back().second = step.number;
    else
      ranges.push_back({step.number, step.number});
  }
  json::Array list;
  size_t first = ranges.size() - std::min(ranges.size(), kListed);
  for (const auto &[begin, end] : llvm::drop_begin(ranges, first))
    list.push_back(json::Array{begin, end});
  return list;
}

json::Object StepHistory::json() const {
  json::Object curves;
  bool isThinned = false;
  for (size_t curve = 0; curve < kCurves; ++curve)
    if (curve < kAlways || llvm::any_of(steps, [&](const Step &step) {
          return std::isfinite(step.values[curve]);
        }))
      curves[names[curve]] = curveJson(static_cast<Curve>(curve), isThinned);
  json::Array list, said;
  double seconds = 0;
  for (const Run &run : runs) {
    list.push_back(
        json::Object{{"first", run.first}, {"seconds", run.seconds}});
    seconds += run.seconds;
  }
  size_t first = notes.size() - std::min(notes.size(), kListed);
  for (const Entry &entry : llvm::drop_begin(notes, first))
    said.push_back(json::Object(entry.line));
  json::Object all{
      {"count", static_cast<int64_t>(steps.size())},
      {"first", steps.empty() ? 0 : steps.front().number},
      {"last", steps.empty() ? 0 : steps.back().number},
      {"runs", std::move(list)},
      {"lost_steps", lostSteps},
      {"seconds", seconds},
      {"skipped_steps", skippedSteps},
      {"skipped", skippedJson()},
      {"curves", std::move(curves)},
      {"evaluations", evaluationsJson(isThinned)},
      {"evaluation_count", static_cast<int64_t>(evaluations.size())},
      {"notes", std::move(said)},
      {"note_count", static_cast<int64_t>(notes.size())},
      {"unread_lines", unreadLines}};
  if (isThinned)
    all["thinned_to_ranges"] = static_cast<int64_t>(kRanges);
  return all;
}
