//===- Evaluations.cpp - evaluations during a run -------------------------===//

#include "tools/tessera/train/Evaluations.h"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/RunCheckpoints.h"
#include "tools/tessera/train/RunRecord.h"
#include "tools/tessera/train/StopSignals.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <filesystem>

using namespace tessera;
using llvm::StringRef;
namespace json = llvm::json;

/// Manifests of checkpoints hold the record by this name.
static constexpr const char *kRecord = "evaluations";
/// Older versions wrote it beside the step directory of the best checkpoint.
static constexpr const char *kOldBestFile = "evaluation.json";

/// Returns the file that tells of a best checkpoint, or "".
static std::string bestIn(const std::string &directory) {
  for (const char *name : {"manifest.json", kOldBestFile})
    if (std::filesystem::exists(directory + "/" + name))
      return name;
  return "";
}

/// NaN is no improvement.
static bool isBetter(double loss, const LossPoint &before) {
  return !std::isnan(loss) && (before.step == 0 || loss < before.loss);
}

bool Evaluations::prepare(tsr_session *opened) {
  session = opened;
  if (!isWanted())
    return true;
  if (options.keepsBest && !options.resumes && !bestIn(bestDirectory()).empty())
    return !printError(
        "'" + bestDirectory() +
        "' holds the best checkpoint of an earlier run; continue "
        "that with --resume or name another directory");
  if (!data.open(options, artifact, session, options.evalData))
    return false;
  if (options.resumes)
    readState();
  if (options.resumes && options.keepsBest)
    readBest();
  return true;
}

bool Evaluations::isDueAfter(int64_t steps) const {
  return isWanted() && options.evalEvery && steps % options.evalEvery == 0;
}

bool Evaluations::isHopeless() const {
  return options.earlyStop && worse >= options.earlyStop;
}

std::string Evaluations::whyHopeless() const {
  return std::to_string(worse) + " evaluations in a row were no better than " +
         "that after step " + std::to_string(reference.step);
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
    printFormatted("step %lld  evaluation: %s\n", static_cast<long long>(step),
                   last.text().c_str());
  if (!log.write(last, step, progress.elapsed()))
    stopping.fail(); // the first process alone writes it
  const LossPoint before = best;
  bool isBest = isBetter(last.loss, best);
  if (isBest)
    best = measured.back();
  compare();
  if (!keepState() || (isBest && options.keepsBest && !keepBest(before)))
    return false;
  progress.leaveOutSince(begin);
  return true;
}

/// An evaluation that is made only because a part of the run ends does not
/// count: a run in one part would not have made it.
void Evaluations::compare() {
  const LossPoint &point = measured.back();
  if (!isDueAfter(point.step))
    return;
  bool improves = isBetter(point.loss, reference);
  worse = improves ? 0 : worse + 1;
  newest = point.step;
  if (improves)
    reference = point;
}

/// The best checkpoint is one of its own, so that --keep removes only others.
/// If it cannot be written, the one before stays the best.
bool Evaluations::keepBest(const LossPoint &before) {
  enterStage(RunStage::Saving);
  tsr_status status = tsr_session_save_as(session, bestDirectory().c_str());
  enterStage(RunStage::Stepping);
  if (status == TSR_OK)
    return true;
  std::string what = std::string("--keep-best: ") + tsr_last_error();
  if (status != TSR_IO)
    return !printError(what);
  if (isFirst())
    printError(what + "; the run goes on, and keeps the next one that is "
                      "better");
  best = before;
  return keepState();
}

static json::Value pointJson(const LossPoint &point) {
  if (point.step == 0)
    return nullptr;
  return json::Object{{"step", point.step}, {"loss", point.loss}};
}

bool Evaluations::keepState() {
  return keepRecord(session, kRecord,
                    json::Object{{"data", data.identity()},
                                 {"best", pointJson(best)},
                                 {"reference", pointJson(reference)},
                                 {"worse", worse},
                                 {"newest", newest}});
}

static LossPoint pointIn(const json::Object &object, StringRef key) {
  const json::Object *point = object.getObject(key);
  std::optional<int64_t> step =
      point ? point->getInteger("step") : std::nullopt;
  std::optional<double> loss = point ? point->getNumber("loss") : std::nullopt;
  return step && loss && *step > 0 ? LossPoint{*step, *loss} : LossPoint{};
}

/// Losses of other data cannot be compared with those of this run's data.
void Evaluations::readState() {
  json::Object state = readRecord(options.resumeDir, kRecord);
  if (state.getString("data") != StringRef(data.identity()))
    return;
  reference = pointIn(state, "reference");
  worse = state.getInteger("worse").value_or(0);
  newest = state.getInteger("newest").value_or(0);
}

/// Reads what older versions wrote beside the step in best/.
LossPoint Evaluations::olderBest() const {
  json::Object best;
  best["best"] = jsonObjectIn(bestDirectory() + "/" + kOldBestFile);
  LossPoint point = pointIn(best, "best");
  bool isThere =
      std::filesystem::exists(bestDirectory() + "/" + nameOfStep(point.step));
  return isThere ? point : LossPoint{};
}

/// A run whose best is not known has none yet; nor has one of other data.
void Evaluations::readBest() {
  if (bestIn(bestDirectory()) == kOldBestFile) {
    best = olderBest();
    return;
  }
  json::Object state = readRecord(bestDirectory(), kRecord);
  if (state.getString("data") == StringRef(data.identity()))
    best = pointIn(state, "best");
}

std::string Evaluations::summary() const {
  if (measured.empty())
    return "";
  std::string text = "evaluation: " + last.text() + "\n";
  char line[120];
  if (best.step > 0 && best.step != measured.back().step) {
    std::snprintf(line, sizeof line,
                  "best evaluation: loss %.4f at step %lld\n", best.loss,
                  static_cast<long long>(best.step));
    text += line;
  }
  if (options.keepsBest)
    text += "best checkpoint: " + printable(bestDirectory()) + "\n";
  return text;
}
