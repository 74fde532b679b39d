//===- CheckpointPrune.cpp - tsr_session_prune ----------------------------===//
#include "runtime/checkpoint/Checkpoint.h"

#include "runtime/support/OwnedDirectory.h"

namespace tessera {

namespace {
/// The number of a step directory, -1 for other names.
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

/// Under the new name it is no checkpoint, even if the power fails while its
/// files go; the next save removes what is left of it.
void removeCheckpoint(const std::string &directory, const std::string &name) {
  std::string path = concat(directory, "/", name);
  std::string doomed = concat(directory, "/.", name, ".tmp");
  removeDirectory(doomed);
  replaceDirectory(path, doomed);
  removeDirectory(doomed);
  if (isDirectory(doomed))
    fail(TSR_IO, "cannot remove '", doomed,
         "', an old checkpoint; remove it by hand, or see who owns its files");
}

void prune(const OwnedDirectory &owned, int64_t newest, int64_t count) {
  owned.check();
  std::map<int64_t, std::string> steps = completeSteps(owned.path());
  steps.erase(steps.upper_bound(newest), steps.end());
  for (; steps.size() > static_cast<size_t>(count); steps.erase(steps.begin()))
    removeCheckpoint(owned.path(), steps.begin()->second);
}
} // namespace

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
