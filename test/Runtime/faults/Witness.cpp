#include "test/Runtime/faults/Witness.h"

#include "test/Runtime/fixture/FixtureLayout.h"

#include <filesystem>

namespace faults {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;
namespace fs = std::filesystem;

static std::string writeTokens(const std::string &path) {
  constexpr int count = 8 * BATCH * SEQUENCE;
  std::string bytes;
  for (int i = 0; i < count; ++i)
    bytes += {static_cast<char>((i * i * 7 + i) % V), 0};
  fixture::writeFile(path, bytes);
  return path;
}

static tsr_session_options options() {
  tsr_session_options options = tessera::sessionOptions();
  options.threads = 4;
  return options;
}

Witness::Witness()
    : artifact(fixture::writeArtifact(
          directory / "model.tsr", 2, 2,
          [](nlohmann::json &metadata) {
            metadata["config_files"] = {{"config.json", "{}"}};
          })),
      data(writeTokens(directory / "tokens.bin")) {
  run = std::make_unique<TrainingRun>(artifact, data, options());
  run->session.init();
  for (int64_t step = 0; step <= allSteps; ++step) {
    run->trainTo(step);
    digests.push_back(digestOf(step, run->state()));
  }
}

AssertionResult Witness::endedProperly(const Outcome &outcome) const {
  std::string digest = outcome.said("digest");
  if (outcome.succeeded() && digest == digests[allSteps])
    return AssertionSuccess();
  bool saysWhy = outcome.error.rfind("error: ", 0) == 0 &&
                 outcome.error.size() > std::string("error: \n").size();
  if (outcome.exitCode == 1 && digest.empty() && saysWhy)
    return AssertionSuccess();
  return AssertionFailure() << outcome.describe();
}

AssertionResult Witness::resumes(const std::string &directory,
                                 int64_t promised) {
  try {
    run->session.load(directory);
  } catch (const tessera::Exception &error) {
    if (error.status() == TSR_NOT_FOUND && promised == 0)
      return AssertionSuccess();
    return AssertionFailure() << "saved " << promised << ", " << error.what();
  }
  int64_t step = run->session.nextStep();
  if (step < promised)
    return AssertionFailure() << "saved " << promised << ", resumed " << step;
  if (digestOf(step, run->state()) != digests.at(step))
    return AssertionFailure() << "step " << step << " has other values";
  run->trainTo(allSteps);
  if (digestOf(allSteps, run->state()) != digests[allSteps])
    return AssertionFailure() << "trains to other values from step " << step;
  return AssertionSuccess();
}

AssertionResult Witness::areWhole(const std::string &directory) {
  std::error_code missing;
  for (const auto &entry : fs::directory_iterator(directory, missing)) {
    if (entry.path().filename().string().rfind("step-", 0) != 0 ||
        !fs::exists(entry.path() / "manifest.json"))
      continue;
    try {
      run->session.load(entry.path());
    } catch (const tessera::Exception &error) {
      return AssertionFailure() << entry.path() << ": " << error.what();
    }
  }
  return AssertionSuccess();
}

AssertionResult Witness::isUsable(const std::string &directory) const {
  try {
    TrainingRun next(artifact, data, options());
    next.session.init();
    next.trainTo(allSteps);
    next.session.save(directory);
    next.session.load(directory);
  } catch (const tessera::Exception &error) {
    return AssertionFailure() << "the next run: " << error.what();
  }
  for (const auto &entry : fs::directory_iterator(directory))
    if (entry.path().filename().string().rfind("step-", 0) != 0)
      return AssertionFailure() << "left behind: " << entry.path();
  return AssertionSuccess();
}

} // namespace faults
