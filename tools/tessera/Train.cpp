//===- Train.cpp - tessera train ------------------------------------------===//

#include "tools/tessera/Commands.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/report/Report.h"
#include "tools/tessera/train/Training.h"

using namespace tessera;

/// A rank is a thread; more than this is a slip of the finger.
static constexpr int64_t kDefaultRanks = 256;

/// The first start of a command that is repeated finds no checkpoint; later
/// ones need the weights no more with which it began.
static void resumeIfAny(DriverOptions &options) {
  if (!options.resumesIfAny || findCheckpoint(options.checkpointDir).empty())
    return;
  options.resumes = true;
  options.resumeDir = options.checkpointDir;
  options.weights.clear();
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
  const MeshShape &mesh = options.plan.mesh;
  if (mesh.ranks() > options.ranks)
    return printError(
        "mesh " + mesh.str() + " has " + std::to_string(mesh.ranks()) +
        " ranks, but a run may start " + std::to_string(options.ranks) +
        "; use a smaller mesh or raise --ranks");
  resumeIfAny(options);
  if (std::string problem = checkRunFiles(options); !problem.empty())
    return printError(problem);
  ArtifactFile artifact;
  Report report;
  if (!artifact.open(options) || !report.read(artifact.metadata()))
    return 1;
  // A process that was started without the option would trust anybody.
  options.shared.emplace_back(
      "--trusted-key", options.trustedKeys.empty() ? "" : artifact.signer());
  // What is found on the disk counts, and not how it was asked for.
  options.shared.emplace_back("--resume", options.resumeDir);
  Training training(options, artifact.get());
  if (!training.prepare())
    return 1;
  if (training.isFinished())
    return 0;
  if (options.launch.rank == 0)
    std::printf("training %s%s\n", report.headline().c_str(),
                processesText(options.launch).c_str());
  training.printDevice();
  bool isDone = training.run();
  training.printDevice();
  return isDone ? 0 : 1;
}
