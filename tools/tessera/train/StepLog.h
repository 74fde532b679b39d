//===- StepLog.h - a line of JSON per step ----------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_STEPLOG_H
#define TESSERA_TOOLS_TESSERA_TRAIN_STEPLOG_H

#include "tessera/tessera.h"
#include <cstdio>
#include <memory>
#include <string>

namespace tessera {

enum class LogMode { Replace, Append };

/// {"step", "loss", "grad_norm", "lr", "tokens_per_second", "time"}; step
/// counts from 0, time in seconds since the run began. Written through at every
/// step. Errors are printed; a log without a path swallows everything.
class StepLog {
public:
  bool open(const std::string &path, LogMode mode);
  bool write(const tsr_step_result &result, double tokensPerSecond,
             double seconds);

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file;
  std::string path;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_STEPLOG_H
