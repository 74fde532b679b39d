//===- StepLog.cpp - a line of JSON per step ------------------------------===//

#include "tools/tessera/train/StepLog.h"
#include "tessera/Target/OwnFile.h"
#include "tools/tessera/output/PrintError.h"
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

using namespace tessera;

std::string tessera::exactText(double value) {
  char text[40];
  char *end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::isfinite(value) ? std::string(text, end) : "null";
}

bool StepLog::open(const LogPaths &paths, LogMode mode) {
  path = paths.lines;
  history = paths.history;
  if (!events.open(paths.events))
    return false;
  if (path.empty())
    return true;
  if (std::error_code error = refusePlanted(path))
    return !printError("cannot write '" + path + "': " + error.message());
  file.reset(std::fopen(path.c_str(), mode == LogMode::Append ? "a" : "w"));
  if (!file)
    return !printError("cannot write '" + path + "': " + std::strerror(errno));
  return true;
}

bool StepLog::write(const StepLine &line) {
  const tsr_step_result &result = line.result;
  std::string more;
  if (line.speed.share > 0)
    more += ", \"mfu\": " + exactText(line.speed.share);
  if (line.expertRounds > 0)
    more += ", \"expert_rounds\": " + std::to_string(line.expertRounds);
  if (line.isResumed)
    more += ", \"resumed\": true";
  std::string text =
      "{\"step\": " + std::to_string(result.step + 1) +
      ", \"loss\": " + exactText(result.loss) +
      ", \"grad_norm\": " + exactText(result.grad_norm) +
      ", \"lr\": " + exactText(result.lr) +
      ", \"skipped_steps\": " + std::to_string(line.skippedSteps) +
      ", \"tokens_per_second\": " + exactText(line.speed.tokens) + more +
      ", \"time\": " + exactText(line.seconds) + "}\n";
  return writeLine(text) && writeScalars(line);
}

bool StepLog::writeScalars(const StepLine &line) {
  const tsr_step_result &result = line.result;
  std::vector<std::pair<const char *, double>> scalars = {
      {"loss", result.loss},
      {"grad_norm", result.grad_norm},
      {"lr", result.lr},
      {"skipped_steps", static_cast<double>(line.skippedSteps)},
      {"tokens_per_second", line.speed.tokens}};
  if (line.speed.share > 0)
    scalars.push_back({"mfu", line.speed.share});
  if (line.expertRounds > 0)
    scalars.push_back(
        {"expert_rounds", static_cast<double>(line.expertRounds)});
  return writeEvents("train/", result.step + 1, scalars);
}

bool StepLog::note(int64_t step, const std::string &text) {
  return writeLine("{\"step\": " + std::to_string(step) + ", \"note\": \"" +
                   text + "\"}\n");
}

bool StepLog::write(const Measurement &result, int64_t step, double seconds) {
  std::string bits = result.bytes ? ", \"eval_bits_per_byte\": " +
                                        exactText(result.bitsPerByte())
                                  : "";
  bool works =
      writeLine("{\"step\": " + std::to_string(step) +
                ", \"eval_loss\": " + exactText(result.loss) +
                ", \"eval_perplexity\": " + exactText(result.perplexity()) +
                bits + ", \"eval_accuracy\": " + exactText(result.accuracy()) +
                ", \"eval_labels\": " + std::to_string(result.labels) +
                ", \"time\": " + exactText(seconds) + "}\n");
  if (result.bytes)
    works = works && writeEvents("eval/", step,
                                 {{"bits_per_byte", result.bitsPerByte()}});
  return works && writeEvents("eval/", step,
                              {{"loss", result.loss},
                               {"perplexity", result.perplexity()},
                               {"accuracy", result.accuracy()}});
}

bool StepLog::writeLine(const std::string &line) {
  if (history)
    history->add(line);
  if (!file)
    return true;
  if (std::fputs(line.c_str(), file.get()) >= 0 && std::fflush(file.get()) == 0)
    return true;
  return !printError("cannot write '" + path + "': " + std::strerror(errno));
}

bool StepLog::writeEvents(
    const char *group, int64_t step,
    const std::vector<std::pair<const char *, double>> &all) {
  for (const auto &[name, value] : all)
    if (!events.write(std::string(group) + name, step, value))
      return false;
  return true;
}
