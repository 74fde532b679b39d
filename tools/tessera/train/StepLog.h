//===- StepLog.h - a line of JSON per step ----------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_STEPLOG_H
#define TESSERA_TOOLS_TESSERA_TRAIN_STEPLOG_H

#include "tools/tessera/train/EventFile.h"
#include "tools/tessera/train/Measurement.h"
#include "tools/tessera/train/Progress.h"
#include "tools/tessera/train/StepHistory.h"
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

enum class LogMode { Replace, Append };

/// Returns the shortest number that reads back as `value`; "null" for infinity
/// and NaN, which JSON lacks.
std::string exactText(double value);

/// The files to which a run writes its numbers; "" and null: none.
struct LogPaths {
  std::string lines;              ///< A file of JSON lines.
  std::string events;             ///< A directory for TensorBoard.
  StepHistory *history = nullptr; ///< Gets the lines, too.
};

/// The facts of a step's line.
struct StepLine {
  const tsr_step_result &result;
  Speed speed;
  double seconds;       ///< Since the run began.
  int64_t skippedSteps; ///< In the run so far.
  int64_t expertRounds; ///< 0: experts do not work in rounds.
  bool isResumed;       ///< The first step of a run that went on.
};

/// {"step", "loss", "grad_norm", "lr", "skipped_steps", "tokens_per_second",
/// "time"}, where the peak is known also "mfu", the share of it, where experts
/// work in rounds "expert_rounds", and in the first step after a checkpoint
/// "resumed", which is true; step counts from 1. Written through
/// at every step, and as scalars for TensorBoard: "train/loss". Errors are
/// printed.
class StepLog {
public:
  bool open(const LogPaths &paths, LogMode mode);
  bool write(const StepLine &line);
  /// {"step", "note"}: `text` needs no escapes.
  bool note(int64_t step, const std::string &text);
  /// {"step", "eval_loss", "eval_perplexity", "eval_accuracy", "eval_labels",
  /// "time"}, where bytes are known also "eval_bits_per_byte".
  bool write(const Measurement &result, int64_t step, double seconds);

private:
  bool writeScalars(const StepLine &line);
  bool writeLine(const std::string &line);
  /// Each after a group's name: "train/" or "eval/".
  bool writeEvents(const char *group, int64_t step,
                   const std::vector<std::pair<const char *, double>> &all);

  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file;
  std::string path;
  EventFile events;
  StepHistory *history = nullptr;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_STEPLOG_H
