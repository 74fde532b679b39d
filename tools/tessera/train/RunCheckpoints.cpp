//===- RunCheckpoints.cpp - what a run keeps ------------------------------===//

#include "tools/tessera/train/RunCheckpoints.h"
#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/train/OpenSession.h"
#include "tools/tessera/train/StopSignals.h"
#include <filesystem>
#include <utility>

using namespace tessera;

std::string tessera::findCheckpoint(const std::string &directory) {
  std::error_code error;
  std::string newest;
  for (const auto &entry :
       std::filesystem::directory_iterator(directory, error)) {
    std::string name = entry.path().filename().string();
    if (name.rfind("step-", 0) == 0 &&
        std::filesystem::exists(entry.path() / "manifest.json", error) &&
        std::pair(name.size(), name) > std::pair(newest.size(), newest))
      newest = name;
  }
  return newest;
}

std::string tessera::nameOfStep(int64_t step) {
  char name[32];
  std::snprintf(name, sizeof name, "step-%08lld", static_cast<long long>(step));
  return name;
}

bool RunCheckpoints::claim(tsr_session *opened) {
  session = opened;
  if (!isWanted())
    return true;
  std::error_code error;
  std::filesystem::path directory = options.checkpointDir;
  if (std::filesystem::exists(directory / "manifest.json", error))
    return !printError(
        "--checkpoint-dir '" + options.checkpointDir +
        "' is a checkpoint itself, and others would be written "
        "into it; name the directory of the run, which holds it");
  if (tsr_session_claim(session, options.checkpointDir.c_str()) != TSR_OK)
    return !printError(tsr_last_error());
  if (options.resumes || !isFirst())
    return true;
  std::string step = findCheckpoint(options.checkpointDir);
  if (step.empty())
    return true;
  return !printError("'" + options.checkpointDir +
                     "' holds a checkpoint of an earlier run (" + step +
                     "); continue it with --resume or name another directory");
}

bool RunCheckpoints::start() {
  firstStep = tsr_session_next_step(session);
  if (!isWanted() || !options.resumes)
    return true;
  std::string own = nameOfStep(firstStep),
              newest = findCheckpoint(options.checkpointDir);
  if (newest == own)
    savedStep = firstStep;
  if (isFirst() &&
      std::pair(newest.size(), newest) > std::pair(own.size(), own))
    return !printError("'" + options.checkpointDir + "' holds " + newest +
                       ", which is later than the step " +
                       std::to_string(firstStep) +
                       " that is resumed and would be taken for the newest of "
                       "this run; remove it, or name another --checkpoint-dir");
  return prune() || !printError(why);
}

RunCheckpoints::Saved RunCheckpoints::save() {
  int64_t step = tsr_session_next_step(session);
  if (!isWanted() || savedStep == step)
    return Saved::Done;
  triedStep = step;
  enterStage(RunStage::Saving);
  const char *directory = options.checkpointDir.c_str();
  tsr_status status =
      options.keep ? tsr_session_save_newest(session, directory, options.keep)
                   : tsr_session_save(session, directory);
  enterStage(RunStage::Stepping);
  if (status != TSR_OK) {
    why = std::string(tsr_last_error()) + " (" + whatIsSaved() + ")";
    return status == TSR_IO ? Saved::Missing : Saved::Failed;
  }
  savedStep = step;
  return prune() ? Saved::Done : Saved::Failed;
}

void RunCheckpoints::rescue() {
  int64_t step = tsr_session_next_step(session);
  bool isTried = triedStep == step && savedStep != step;
  int32_t unused = 0;
  if (isTried)
    return; // and what is saved was said
  if (!isWanted() || step == firstStep ||
      tsr_session_largest(session, 0, &unused) != TSR_OK) {
    if (isFirst())
      printNote(whatIsSaved());
  } else if (save() != Saved::Done)
    printError(why);
  else if (isFirst())
    printNote("saved '" + newestPath() + "'; --resume continues");
}

bool RunCheckpoints::prune() {
  if (!options.keep || tsr_session_prune(session, options.checkpointDir.c_str(),
                                         options.keep) == TSR_OK)
    return true;
  why = std::string("--keep: ") + tsr_last_error() + " (step " +
        std::to_string(savedStep) + " is saved)";
  return false;
}

std::string RunCheckpoints::newestPath() const {
  return savedStep < 0 ? ""
                       : options.checkpointDir + "/" + nameOfStep(savedStep);
}

std::string RunCheckpoints::whatIsSaved() const {
  if (savedStep < 0)
    return "nothing was saved";
  auto text = [](int64_t step) { return std::to_string(step); };
  if (provenStep == savedStep || tsr_session_next_step(session) == savedStep)
    return "the last checkpoint is of step " + text(savedStep);
  std::string unproven = "the checkpoint of step " + text(savedStep) +
                         " was followed by bad steps only";
  return provenStep < 0 ? unproven
                        : "the last checkpoint that trained on is of step " +
                              text(provenStep) + "; " + unproven;
}
