//===- TaskRuns.cpp - an order of tasks in few words ----------------------===//

#include "tessera/Dialect/RT/TaskRuns.h"
#include "tessera/Dialect/RT/TaskOrder.h"

using namespace tessera::rt;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Longer ones are not looked for. Where chunks take turns, the runs of each
/// turn repeat after far fewer tasks.
static constexpr size_t kLongestRun = 256;

/// Returns how often the first `length` tasks follow each other.
static int64_t timesOf(ArrayRef<int64_t> parts, size_t length) {
  size_t same = 0;
  while (length + same < parts.size() && parts[same] == parts[length + same])
    ++same;
  return 1 + static_cast<int64_t>(same / length);
}

/// Returns the run with which a list begins that leaves out most of it; 0 times
/// if none leaves out any.
static TaskRun longestRun(ArrayRef<int64_t> parts) {
  TaskRun best{0, {}};
  size_t most = 0, length = 0;
  for (size_t each = 1; each <= std::min(kLongestRun, parts.size() / 2);
       ++each) {
    int64_t times = timesOf(parts, each);
    if (size_t left = (times - 1) * each; left > most) {
      most = left;
      length = each;
      best.times = times;
    }
  }
  best.parts.assign(parts.begin(), parts.begin() + length);
  return best;
}

SmallVector<TaskRun> tessera::rt::runsOf(ArrayRef<int64_t> parts) {
  constexpr size_t ofRun = 2; // words of a run beside its tasks
  SmallVector<TaskRun> runs;
  bool isOpen = false; // the last run is of what does not repeat
  while (!parts.empty()) {
    TaskRun run = longestRun(parts);
    bool repeats = run.times && (run.times - 1) * run.parts.size() > ofRun;
    if (!repeats && !isOpen)
      runs.emplace_back();
    if (repeats)
      runs.push_back(std::move(run));
    else
      runs.back().parts.push_back(parts.front());
    isOpen = !repeats;
    parts = parts.drop_front(
        repeats ? runs.back().times * runs.back().parts.size() : 1);
  }
  return runs;
}

SmallVector<TaskRun> tessera::rt::runsOf(const TaskOrder &order) {
  SmallVector<int64_t> parts;
  for (TaskOrder::Entry entry : order.entries())
    parts.push_back(entry.part);
  return runsOf(parts);
}

/// Reads the list from its end, and returns the shortest period of the first n
/// values for each n (the failure function of Knuth, Morris and Pratt 1977).
static SmallVector<int64_t> periodsFromEnd(ArrayRef<int64_t> values) {
  auto at = [&](int64_t k) { return values[values.size() - 1 - k]; };
  SmallVector<int64_t> borders(values.size() + 1, 0), periods = borders;
  int64_t border = 0;
  for (int64_t k = 1; k <= static_cast<int64_t>(values.size()); ++k) {
    while (k > 1 && border && at(border) != at(k - 1))
      border = borders[border];
    if (k > 1 && at(border) == at(k - 1))
      ++border;
    borders[k] = border;
    periods[k] = k - border;
  }
  return periods;
}

Period tessera::rt::periodOf(ArrayRef<int64_t> values) {
  auto count = static_cast<int64_t>(values.size());
  Period best{0, count};
  SmallVector<int64_t> periods = periodsFromEnd(values);
  for (int64_t length = 1; length <= count; ++length)
    if (Period period{count - length, periods[length]};
        period.stored() < best.stored())
      best = period;
  return best;
}
