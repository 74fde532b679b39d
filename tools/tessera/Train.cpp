//===- Train.cpp - tessera train ------------------------------------------===//

#include "tools/tessera/Commands.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Report.h"
#include "tools/tessera/train/ByteEntropy.h"
#include "tools/tessera/train/Training.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
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
  if (!options.communicator.empty())
    wanted.communicator = options.communicator.c_str();
  wanted.threads = options.threads;
  wanted.timeout_ms = options.timeoutMs;
  wanted.seed = options.seed;
  const Launch &launch = options.launch;
  if (!launch.isAlone()) {
    wanted.world_size = static_cast<int32_t>(launch.worldSize);
    wanted.rank = static_cast<int32_t>(launch.rank);
    wanted.local_rank = static_cast<int32_t>(launch.localRank);
    wanted.local_size = static_cast<int32_t>(launch.localSize);
    wanted.rendezvous = launch.rendezvous.c_str();
    wanted.rendezvous_timeout_ms = options.rendezvousTimeoutMs;
  }
  tsr_session *created = nullptr;
  if (tsr_session_create(artifact, &wanted, &created) != TSR_OK)
    return !printError(tsr_last_error());
  session.reset(created);
  return true;
}

/// A checkpoint of another run would be taken for a later one of this run.
bool Training::prepareDirectory() const {
  if (options.checkpointDir.empty() || !isFirst())
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

/// Processes that train on different tokens would train nonsense: their first
/// batches are compared, and the lengths of the data.
bool Training::agreeOnData() {
  if (options.launch.isAlone())
    return true;
  if (tsr_data_batch(data.get(), firstStep, tsr_artifact_batch(artifact),
                     batch.data()) != TSR_OK)
    return !printError(tsr_last_error());
  uint64_t hash = llvm::xxh3_64bits(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(batch.data()),
                     batch.size() * sizeof(int32_t)));
  hash += static_cast<uint64_t>(tsr_data_tokens(data.get()));
  auto own = static_cast<int32_t>(hash & 0x3FFFFFFF);
  int32_t largest = 0, negated = 0;
  if (tsr_session_largest(session.get(), own, &largest) != TSR_OK ||
      tsr_session_largest(session.get(), -own, &negated) != TSR_OK)
    return !printError(tsr_last_error());
  if (largest == -negated)
    return true;
  return !printError("the processes read different data; give all the same "
                     "files, and a copy of them to each host");
}

/// The CPU is in the headline already.
void Training::printDevice() {
  if (!isFirst() || options.device == "cpu")
    return;
  std::string text = tsr_session_device(session.get());
  if (text != device)
    std::printf("%s\n", text.c_str());
  device = text;
}

bool Training::prepare() {
  LogMode mode = options.resumes ? LogMode::Append : LogMode::Replace;
  // With several processes the session comes first: ending it tells the others.
  if (!openSession() || !prepareDirectory() || !startParameters() ||
      !openData() || !log.open(isFirst() ? options.log : "", mode))
    return false;
  batch.resize(tsr_artifact_batch(artifact) * tsr_artifact_columns(artifact));
  return agreeOnData();
}

static std::string processesText(const Launch &launch) {
  return launch.isAlone()
             ? ""
             : ", " + std::to_string(launch.worldSize) + " processes";
}

int tessera::runTrain(const DriverOptions &given) {
  DriverOptions options = given;
  if (!options.launch.isAlone())
    setErrorRank(options.launch.rank);
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
  if (options.launch.rank == 0)
    std::printf("training %s%s\n", report.headline().c_str(),
                processesText(options.launch).c_str());
  training.printDevice();
  bool isDone = training.run();
  training.printDevice();
  return isDone ? 0 : 1;
}
