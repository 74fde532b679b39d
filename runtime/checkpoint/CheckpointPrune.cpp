//===- CheckpointPrune.cpp - tsr_session_prune ----------------------------===//
#include "runtime/checkpoint/Checkpoint.h"

#include "runtime/support/OwnedDirectory.h"

namespace tessera {

namespace {
/// Returns the number of a step directory, -1 for other names.
int64_t stepOf(const std::string &name) {
  const std::string prefix = "step-";
  if (name.compare(0, prefix.size(), prefix) != 0 ||
      name.size() < prefix.size() + 8 || name.size() > prefix.size() + 18)
    return -1;
  int64_t step = 0;
  for (size_t i = prefix.size(); i < name.size(); ++i) {
    if (name[i] < '0' || name[i] > '9')
      return -1;
    step = step * 10 + (name[i] - '0');
  }
  return step;
}

void removeDoomed(const std::string &path) {
  removeDirectory(path);
  if (isDirectory(path))
    fail(TSR_IO, "cannot remove '", path,
         "', an old checkpoint; remove it by hand, or see who owns its files");
}

void removeCheckpoint(const std::string &directory, const std::string &name) {
  std::string doomed = scratchPath(directory, name);
  removeDirectory(doomed);
  replaceDirectory(concat(directory, "/", name), doomed);
  removeDoomed(doomed);
}

void prune(const OwnedDirectory &owned, int64_t newest, int64_t count) {
  owned.check();
  std::map<int64_t, std::string> steps = completeSteps(owned.path());
  steps.erase(steps.upper_bound(newest), steps.end());
  for (const std::string &name : listDirectory(owned.path()))
    if (isScratch(name))
      removeDoomed(concat(owned.path(), "/", name));
  for (; steps.size() > static_cast<size_t>(count); steps.erase(steps.begin()))
    removeCheckpoint(owned.path(), steps.begin()->second);
}

/// Returns the checkpoint that gives way to a new one, or "". It is never the
/// only one: if the power fails, the old one may be gone and the new one not
/// there.
std::string oldestBefore(const std::string &directory, int64_t step,
                         int64_t count) {
  std::map<int64_t, std::string> steps = completeSteps(directory);
  bool isThere = steps.count(step) != 0;
  steps.erase(steps.lower_bound(step), steps.end());
  bool isTooMany = count > 1 && steps.size() >= static_cast<size_t>(count);
  return isTooMany && !isThere ? steps.begin()->second : "";
}
} // namespace

std::string scratchPath(const std::string &directory, const std::string &name) {
  return concat(directory, "/.", name, ".tmp");
}

bool isScratch(const std::string &name) {
  const std::string suffix = ".tmp";
  return name.size() > 1 + suffix.size() && name[0] == '.' &&
         name.compare(name.size() - suffix.size(), suffix.size(), suffix) ==
             0 &&
         stepOf(name.substr(1, name.size() - 1 - suffix.size())) >= 0;
}

/// Publishes a checkpoint and prunes. Nothing lies between the two moves, so a
/// process that is killed hardly ever leaves one checkpoint too many.
void publishCheckpoint(const OwnedDirectory &owned, const std::string &scratch,
                       const std::string &name, int64_t count) {
  const std::string &directory = owned.path();
  std::string path = concat(directory, "/", name);
  std::string oldest = oldestBefore(directory, stepOf(name), count);
  if (oldest.empty())
    return replaceDirectory(scratch, path);
  std::string doomed = scratchPath(directory, oldest);
  removeDirectory(doomed);
  // A checkpoint that cannot be moved is an error of pruning, not of saving.
  if (moveDirectory(scratch, path))
    moveDirectory(concat(directory, "/", oldest), doomed);
  else
    replaceDirectory(scratch, path);
  syncDirectory(directory);
  removeDirectory(doomed);
}

std::map<int64_t, std::string> completeSteps(const std::string &directory) {
  std::map<int64_t, std::string> steps;
  for (const std::string &name : listDirectory(directory)) {
    int64_t step = stepOf(name);
    if (step >= 0 && isFile(concat(directory, "/", name, "/", manifestFile)))
      steps.emplace(step, name);
  }
  return steps;
}

void pruneCheckpoints(Session &session, const std::string &directory,
                      int64_t count) {
  session.checkAlive();
  if (count < 1)
    fail(TSR_INVALID_ARGUMENT, "checkpoints to keep must be at least 1, but ",
         "are ", count);
  session.together([&] {
    if (session.isFirst())
      prune(session.own(directory), session.nextStep(), count);
  });
}

} // namespace tessera
