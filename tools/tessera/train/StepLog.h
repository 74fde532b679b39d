//===- StepLog.h - a line of JSON per step ----------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_STEPLOG_H
#define TESSERA_TOOLS_TESSERA_TRAIN_STEPLOG_H

#include "tools/tessera/train/Measurement.h"
#include <cstdio>
#include <memory>
#include <string>

namespace tessera {

enum class LogMode { Replace, Append };

/// Round-trips; "null" for infinity and NaN, which JSON has not.
std::string exactText(double value);

/// {"step", "loss", "grad_norm", "lr", "tokens_per_second", "time"}; step
/// counts from 0, time in seconds since the run began. Written through at every
/// step. Errors are printed; a log without a path swallows everything.
class StepLog {
public:
  bool open(const std::string &path, LogMode mode);
  bool write(const tsr_step_result &result, double tokensPerSecond,
             double seconds);
  /// {"step", "eval_loss", "eval_perplexity", "eval_accuracy", "eval_labels",
  /// "time"}, of text also "eval_bits_per_byte".
  bool write(const Measurement &result, int64_t step, double seconds);

private:
  bool writeLine(const std::string &line);

  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file;
  std::string path;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_STEPLOG_H
