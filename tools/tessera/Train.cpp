//===- Train.cpp - tessera train ------------------------------------------===//

#include "ArtifactFile.h"
#include "ByteEntropy.h"
#include "Commands.h"
#include "Report.h"
#include "Training.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <filesystem>

using namespace tessera;

/// A rank is a thread; more than this is a slip of the finger.
static constexpr int64_t kDefaultRanks = 256;

static bool isText(const DriverOptions &options) {
  if (options.dataFormat != "auto")
    return options.dataFormat == "text";
  for (const std::string &path : options.data)
    if (path.size() > 4 && path.compare(path.size() - 4, 4, ".bin") == 0)
      return false;
  return true;
}

/// Told before minutes of compilation.
static bool filesExist(const DriverOptions &options) {
  std::vector<std::string> paths = options.data;
  if (!options.weights.empty())
    paths.push_back(options.weights);
  if (options.resumes)
    paths.push_back(options.resumeDir);
  std::error_code error;
  for (const std::string &path : paths)
    if (!std::filesystem::exists(path, error))
      return !printError("'" + path + "' does not exist");
  return true;
}

/// Name of a checkpoint in a directory, or "".
static std::string findCheckpoint(const std::string &directory) {
  std::error_code error;
  for (const auto &entry :
       std::filesystem::directory_iterator(directory, error)) {
    std::string name = entry.path().filename().string();
    if (name.rfind("step-", 0) == 0 &&
        std::filesystem::exists(entry.path() / "manifest.json", error))
      return name;
  }
  return "";
}

/// The order of the data goes on as it began, whatever --seed says.
int64_t Training::seedOfCheckpoint() const {
  char step[40];
  std::snprintf(step, sizeof step, "step-%08lld", (long long)firstStep);
  for (std::string directory :
       {options.resumeDir, options.resumeDir + "/" + step}) {
    auto text = llvm::MemoryBuffer::getFile(directory + "/manifest.json");
    if (!text)
      continue;
    auto manifest = llvm::json::parse((*text)->getBuffer());
    if (manifest && manifest->getAsObject())
      return manifest->getAsObject()->getInteger("seed").value_or(options.seed);
    llvm::consumeError(manifest.takeError());
  }
  return options.seed;
}

bool Training::openData() {
  tsr_data_options wanted = {};
  wanted.size = sizeof wanted;
  wanted.format = options.dataFormat.c_str();
  wanted.sequence = tsr_artifact_sequence(artifact);
  wanted.target = tsr_artifact_target(artifact);
  wanted.vocabulary = tsr_artifact_vocabulary(artifact);
  wanted.seed = options.resumes ? seedOfCheckpoint() : options.seed;
  std::vector<const char *> paths;
  for (const std::string &path : options.data)
    paths.push_back(path.c_str());
  tsr_data *opened = nullptr;
  if (tsr_data_open(paths.data(), paths.size(), &wanted, &opened) != TSR_OK)
    return !printError(tsr_last_error());
  data.reset(opened);
  if (isText(options))
    baseline = byteEntropy(options.data);
  return true;
}

bool Training::openSession() {
  tsr_session_options wanted = {};
  wanted.size = sizeof wanted;
  wanted.device = options.device.c_str();
  wanted.communicator = options.communicator.c_str();
  wanted.threads = options.threads;
  wanted.timeout_ms = options.timeoutMs;
  wanted.seed = options.seed;
  tsr_session *created = nullptr;
  if (tsr_session_create(artifact, &wanted, &created) != TSR_OK)
    return !printError(tsr_last_error());
  session.reset(created);
  return true;
}

/// A checkpoint of another run would be taken for a later one of this run.
bool Training::prepareDirectory() const {
  if (options.checkpointDir.empty())
    return true;
  std::error_code error;
  std::filesystem::create_directories(options.checkpointDir, error);
  if (error)
    return !printError("cannot create '" + options.checkpointDir +
                       "': " + error.message());
  if (options.resumes)
    return true;
  std::string step = findCheckpoint(options.checkpointDir);
  if (step.empty())
    return true;
  return !printError("'" + options.checkpointDir +
                     "' holds a checkpoint of an earlier run (" + step +
                     "); continue it with --resume or name another directory");
}

bool Training::startParameters() {
  tsr_status status =
      options.resumes
          ? tsr_session_load(session.get(), options.resumeDir.c_str())
          : tsr_session_init(session.get());
  if (status == TSR_OK && !options.weights.empty())
    status = tsr_session_load_weights(session.get(), options.weights.c_str());
  tsr_schedule schedule = {};
  schedule.size = sizeof schedule;
  schedule.lr = options.lr;
  schedule.min_lr = options.minLr;
  schedule.warmup_steps = options.warmupSteps;
  schedule.total_steps = options.steps;
  if (status == TSR_OK && (options.scheduleGiven || !options.isArtifact()))
    status = tsr_session_set_schedule(session.get(), &schedule);
  if (status != TSR_OK)
    return !printError(tsr_last_error());
  firstStep = tsr_session_next_step(session.get());
  lastStep = options.steps;
  if (firstStep < lastStep)
    return true;
  return !printError("the checkpoint is at step " + std::to_string(firstStep) +
                     ", but --steps is " + std::to_string(lastStep) +
                     "; raise --steps to train on");
}

/// The CPU is in the headline already.
void Training::printDevice() const {
  if (options.device != "cpu")
    std::printf("%s\n", tsr_session_device(session.get()));
}

bool Training::prepare() {
  LogMode mode = options.resumes ? LogMode::Append : LogMode::Replace;
  if (!prepareDirectory() || !openSession() || !startParameters() ||
      !openData() || !log.open(options.log, mode))
    return false;
  batch.resize(tsr_artifact_batch(artifact) * tsr_artifact_columns(artifact));
  return true;
}

int tessera::runTrain(const DriverOptions &given) {
  DriverOptions options = given;
  if (!options.ranks)
    options.ranks = kDefaultRanks;
  if (options.meshRanks > options.ranks)
    return printError(
        "mesh " + options.mesh + " has " + std::to_string(options.meshRanks) +
        " ranks, but a run may start " + std::to_string(options.ranks) +
        "; use a smaller mesh or raise --ranks");
  if (!filesExist(options))
    return 1;
  ArtifactFile artifact;
  Report report;
  if (!artifact.open(options) || !report.read(artifact.metadata()))
    return 1;
  Training training(options, artifact.get());
  if (!training.prepare())
    return 1;
  std::printf("training %s\n", report.headline().c_str());
  training.printDevice();
  return training.run() ? 0 : 1;
}
