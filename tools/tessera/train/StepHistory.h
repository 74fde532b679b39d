//===- StepHistory.h - the steps of a run and of those before ---*- C++ -*-===//
// A page of curves reads the lines of a log (StepLog.h), which are its only
// source: those of a file, and those of the run itself.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_STEPHISTORY_H
#define TESSERA_TOOLS_TESSERA_TRAIN_STEPHISTORY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <string>
#include <vector>

namespace tessera {

class StepHistory {
public:
  /// Adds a line of the log. One that cannot be read counts as such.
  void add(llvm::StringRef line);
  /// Reads the lines of a file; none if there is no file. Prints an error and
  /// returns false if it cannot be read.
  bool read(const std::string &path);
  /// A run goes on from a checkpoint after so many steps: later ones are lost.
  void continueAfter(int64_t steps);

  /// {"first", "last", "count", "runs", "lost_steps", "seconds",
  /// "skipped_steps", "skipped", "curves", "evaluations", "notes", ...}, see
  /// docs/Page.md. A curve is a list of [step, value], null where the value was
  /// not finite; a long one is thinned, see kThinnedBeyond.
  llvm::json::Object json() const;

  /// If there are more points, the smallest, the largest and the first that is
  /// not finite are left of each of so many equal ranges of steps.
  static constexpr size_t kThinnedBeyond = 1500, kRanges = 500;
  /// The newest notes, and ranges of skipped steps, that are kept.
  static constexpr size_t kListed = 200;

private:
  enum Curve { Loss, GradNorm, Rate, Speed, Share, Rounds, kCurves };
  struct Step {
    int64_t number = 0;
    std::array<double, kCurves> values; ///< NaN: not finite, or not there.
  };
  /// After how many steps, and the line of the log.
  struct Entry {
    int64_t step = 0;
    llvm::json::Object line;
  };
  struct Run {
    int64_t first = 0;
    double seconds = 0;
  };
  void addStep(const llvm::json::Object &line, int64_t number);
  static std::vector<size_t> thinned(const std::vector<int64_t> &at,
                                     const std::vector<double> &values);
  llvm::json::Array curveJson(Curve curve, bool &isThinned) const;
  llvm::json::Array evaluationsJson(bool &isThinned) const;
  llvm::json::Array skippedJson() const;
  bool isSkipped(const Step &step) const;

  static const std::array<const char *, kCurves> names;
  std::vector<Step> steps;
  std::vector<Entry> evaluations, notes;
  std::vector<Run> runs;
  int64_t skippedSteps = 0, lostSteps = 0, unreadLines = 0;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_STEPHISTORY_H
