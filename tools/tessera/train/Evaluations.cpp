//===- Evaluations.cpp - evaluations during a run -------------------------===//

#include "tools/tessera/train/Evaluations.h"
#include "tessera/Json/ParseJson.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/train/StopSignals.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <filesystem>
#include <fstream>

using namespace tessera;
namespace json = llvm::json;

/// Beside the step directories of the best checkpoint.
static constexpr const char *kBestFile = "evaluation.json";

bool Evaluations::prepare(tsr_session *opened) {
  session = opened;
  if (!isWanted())
    return true;
  if (options.keepsBest && options.resumes)
    readBest();
  if (options.keepsBest && !options.resumes &&
      std::filesystem::exists(bestDirectory() + "/" + kBestFile))
    return !printError(
        "'" + bestDirectory() +
        "' holds the best checkpoint of an earlier run; continue "
        "that with --resume or name another directory");
  return data.open(options, artifact, session);
}

bool Evaluations::isDueAfter(int64_t steps) const {
  return isWanted() && options.evalEvery && steps % options.evalEvery == 0;
}

bool Evaluations::isHopeless() const {
  return options.earlyStop && worse >= options.earlyStop;
}

bool Evaluations::run(Progress &progress, StepLog &log, Stopping &stopping) {
  int64_t step = tsr_session_next_step(session);
  if (!isWanted() || (!measured.empty() && measured.back().step == step))
    return true;
  progress.finishLine();
  double begin = progress.elapsed();
  Measurement now;
  if (!data.measure(session, now, &stopping))
    return false;
  if (stopping.isAgreed())
    return true;
  last = now;
  measured.push_back({step, last.loss});
  if (isFirst())
    std::printf("step %lld  evaluation: %s\n", static_cast<long long>(step),
                last.text().c_str());
  if (!log.write(last, step, progress.elapsed()))
    stopping.fail(); // the first process alone writes it
  // NaN is no improvement.
  bool isBetter = best.step == 0 || last.loss < best.loss;
  worse = isBetter ? 0 : worse + 1;
  if (isBetter)
    best = measured.back();
  if (isBetter && options.keepsBest && !keepBest())
    return false;
  progress.leaveOutSince(begin);
  return true;
}

/// A checkpoint directory of its own, so that --keep removes only others.
bool Evaluations::keepBest() {
  std::string directory = bestDirectory();
  enterStage(RunStage::Saving);
  bool isSaved = tsr_session_save(session, directory.c_str()) == TSR_OK &&
                 tsr_session_prune(session, directory.c_str(), 1) == TSR_OK;
  enterStage(RunStage::Stepping);
  if (!isSaved)
    return !printError(std::string("--keep-best: ") + tsr_last_error());
  return !isFirst() || writeBest();
}

bool Evaluations::writeBest() const {
  std::string path = bestDirectory() + "/" + kBestFile;
  std::ofstream file(path + ".partial");
  file << "{\"step\": " << best.step << ", \"loss\": " << exactText(best.loss)
       << "}\n";
  file.close();
  std::error_code error;
  if (file)
    std::filesystem::rename(path + ".partial", path, error);
  if (file && !error)
    return true;
  return !printError("--keep-best: cannot write '" + path + "'");
}

/// A run whose best is not known has none yet; nor has one that ended between
/// saving it and saying so.
void Evaluations::readBest() {
  auto file = llvm::MemoryBuffer::getFile(bestDirectory() + "/" + kBestFile);
  if (!file)
    return;
  auto parsed = parseJson((*file)->getBuffer());
  if (!parsed)
    return llvm::consumeError(parsed.takeError());
  const json::Object *object = parsed->getAsObject();
  std::optional<int64_t> step =
      object ? object->getInteger("step") : std::nullopt;
  std::optional<double> loss =
      object ? object->getNumber("loss") : std::nullopt;
  char name[32];
  std::snprintf(name, sizeof name, "/step-%08lld",
                static_cast<long long>(step.value_or(0)));
  if (step && loss && *step > 0 &&
      std::filesystem::exists(bestDirectory() + name))
    best = {*step, *loss};
}

std::string Evaluations::summary() const {
  if (measured.empty())
    return "";
  std::string text = "evaluation: " + last.text() + "\n";
  char line[120];
  if (best.step != measured.back().step) {
    std::snprintf(line, sizeof line,
                  "best evaluation: loss %.4f at step %lld\n", best.loss,
                  static_cast<long long>(best.step));
    text += line;
  }
  if (options.keepsBest)
    text += "best checkpoint: " + bestDirectory() + "\n";
  return text;
}
