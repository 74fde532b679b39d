//===- StepLog.cpp - a line of JSON per step ------------------------------===//

#include "tools/tessera/train/StepLog.h"
#include "tools/tessera/report/PrintError.h"
#include <cerrno>
#include <cmath>
#include <cstring>

using namespace tessera;

/// Round-trips; JSON has no infinity and no NaN.
static std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return std::isfinite(value) ? text : "null";
}

bool StepLog::open(const std::string &name, LogMode mode) {
  path = name;
  if (path.empty())
    return true;
  file.reset(std::fopen(path.c_str(), mode == LogMode::Append ? "a" : "w"));
  if (!file)
    return !printError("cannot write '" + path + "': " + std::strerror(errno));
  return true;
}

bool StepLog::write(const tsr_step_result &result, double tokensPerSecond,
                    double seconds) {
  if (!file)
    return true;
  std::string line = "{\"step\": " + std::to_string(result.step + 1) +
                     ", \"loss\": " + number(result.loss) +
                     ", \"grad_norm\": " + number(result.grad_norm) +
                     ", \"lr\": " + number(result.lr) +
                     ", \"tokens_per_second\": " + number(tokensPerSecond) +
                     ", \"time\": " + number(seconds) + "}\n";
  if (std::fputs(line.c_str(), file.get()) >= 0 && std::fflush(file.get()) == 0)
    return true;
  return !printError("cannot write '" + path + "': " + std::strerror(errno));
}
