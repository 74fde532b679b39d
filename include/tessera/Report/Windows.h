//===- Windows.h - what is computed beside communication --------*- C++ -*-===//
// A collective that is started early and waited for late has a window of the
// program. What is computed in several windows is counted once.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_REPORT_WINDOWS_H
#define TESSERA_REPORT_WINDOWS_H

#include "tessera/Program/Program.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera {

/// Ops that compute, and their flops, per optimizer step.
struct Work {
  int64_t ops = 0;
  double flops = 0;
};

/// Calls `begin` to `end` - 1 of a program, by number.
struct Window {
  int64_t begin = 0, end = 0;
};

/// The work of a program's calls, in their order.
class ProgramWork {
public:
  explicit ProgramWork(program::StageTasks tasks = {});

  /// Adds the work of the next call, which runs so many times; nothing for one
  /// that communicates.
  void add(const Work &once, int64_t times);
  int64_t calls() const { return static_cast<int64_t>(sums.size()) - 1; }

private:
  friend class WorkInTime;
  int64_t taskOf(int64_t call) const;

  program::StageTasks tasks;
  /// Sums over the first n calls.
  std::vector<Work> sums = std::vector<Work>(1);
};

/// The work of a program in the order in which its tasks run.
class WorkInTime {
public:
  explicit WorkInTime(const ProgramWork &program);

  /// In any of the windows, by numbers of calls, however often they run.
  Work inside(const std::vector<Window> &windows) const;

private:
  /// Calls that run one after the other from a time on, in calls.
  struct Run {
    Window calls;
    int64_t begin = 0;
    Work before; ///< The work that earlier runs computed.
  };
  struct Moment {
    int64_t time = 0;
    Work before;
  };
  using Span = std::pair<Moment, Moment>;
  void addRun(Window calls);
  Moment momentOf(int64_t call, size_t occurrence) const;
  std::vector<Span> spansOf(const std::vector<Window> &windows) const;

  const ProgramWork &program;
  std::vector<Run> runs;
  std::vector<std::vector<size_t>> runsOfTask;
};

} // namespace tessera

#endif // TESSERA_REPORT_WINDOWS_H
