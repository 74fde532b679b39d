#include "runtime/session/SessionCore.h"

#include "runtime/collectives/mpi/MpiEngine.h"
#include "runtime/collectives/mpi/MpiMeeting.h"
#include "runtime/collectives/process/ProcessCommunicator.h"
#include "runtime/collectives/thread/ThreadCommunicator.h"
#include "runtime/cpu/CpuIdentity.h"
#include "runtime/cpu/CpuKernels.h"
#include "runtime/device/DevicePlugin.h"
#include "runtime/support/BuildId.h"
#include "runtime/support/File.h"
#include "runtime/support/HostFeatures.h"
#include "runtime/support/JsonLimits.h"
#include "tessera/program_fields.hpp"

namespace tessera {

// Polls before a rank that waits goes to sleep: some tens of microseconds, the
// time of a short collective.
static constexpr int spinPolls = 2000;

static void checkOptions(const Artifact &artifact,
                         const SessionOptions &options) {
  checkDeviceName(options.device);
  const std::string &own = artifact.metadata->device;
  if (own != options.device)
    fail(TSR_UNSUPPORTED, "'", artifact.path, "' is compiled for device '", own,
         "', the session asks for '", options.device,
         "'; run it with --device ", own, " or compile it with --device ",
         options.device);
  if (options.threads < 0 || options.timeoutMs < 0 || options.saveTimeoutMs < 0)
    fail(TSR_INVALID_ARGUMENT, "threads is ", options.threads,
         ", timeout_ms is ", options.timeoutMs, " and save_timeout_ms is ",
         options.saveTimeoutMs, ", none may be negative");
  if (std::string problem = cpuPathProblem(); !problem.empty())
    fail(TSR_INVALID_ARGUMENT, problem);
  // The program's host code runs here whatever the device.
  checkHostFeatures(artifact.path, artifact.metadata->cpu,
                    artifact.metadata->features);
}

static void checkProcesses(const Artifact &artifact,
                           const ProcessOptions &options) {
  checkProcessOptions(options);
  int64_t ranks = artifact.metadata->mesh.ranks();
  if (options.worldSize != ranks)
    fail(TSR_INVALID_ARGUMENT, "'", artifact.path, "' has a mesh of ", ranks,
         ranks == 1 ? " rank" : " ranks", ", but there are ", options.worldSize,
         " processes; start one process per rank, or one for all ranks");
}

static std::string communicatorOf(const SessionOptions &options) {
  if (!options.communicator.empty())
    return options.communicator;
  return options.processes.worldSize == 1 ? "threads"
         : options.device == "cpu"        ? "tcp"
                                          : "nccl";
}

static std::unique_ptr<Rank> makeRank(const Artifact &artifact,
                                      const SessionOptions &options,
                                      int64_t number) {
  auto rank = std::make_unique<Rank>();
  rank->number = rank->localNumber = number;
  rank->coordinates = artifact.metadata->mesh.coordinates(number);
  rank->stage = artifact.metadata->mesh.stageOf(rank->coordinates);
  rank->metadata = artifact.metadata;
  rank->code = artifact.code;
  rank->communicatorName = communicatorOf(options);
  rank->poison = options.poison;
  rank->timeout = std::chrono::milliseconds(options.timeoutMs);
  return rank;
}

static DescribeOp describerOf(const Artifact &artifact) {
  return [metadata = artifact.metadata](int64_t op) {
    return metadata->describeOp(op);
  };
}

static void addThreadRanks(SessionCore &core, const Artifact &artifact,
                           const SessionOptions &options) {
  const Mesh &mesh = artifact.metadata->mesh;
  core.cores = planCores(mesh.ranks(), options.threads);
  core.device->check({artifact.path,
                      communicatorOf(options),
                      *artifact.metadata,
                      *artifact.code,
                      {0, mesh.ranks(), mesh.ranks()}});
  ThreadWorldOptions world;
  world.mesh = mesh;
  world.timeout = std::chrono::milliseconds(options.timeoutMs);
  world.threadsPerRank = core.cores.threadsPerRank;
  world.spins = core.cores.oversubscribed ? 0 : spinPolls;
  world.describeOp = describerOf(artifact);
  core.world = std::make_shared<ThreadWorld>(std::move(world));
  for (int64_t number = 0; number < mesh.ranks(); ++number) {
    auto rank = makeRank(artifact, options, number);
    rank->world = core.world;
    rank->communicator =
        std::make_unique<ThreadCommunicator>(core.world, number);
    rank->threads = core.cores.threadsPerRank;
    core.ranks.push_back(std::move(rank));
  }
}

/// Returns a processor's name and its features: the name alone says little.
static std::string processorOf(const Metadata &metadata) {
  std::string features;
  for (const std::string &feature : metadata.features)
    features += " " + feature;
  return metadata.cpu + features;
}

/// Returns the properties that would train nonsense if they differed.
static Agreement agreementOf(const Artifact &artifact,
                             const SessionOptions &options) {
  // The plan is compared without the target of its code, which has an entry of
  // its own.
  JsonTree plan = parseJson(artifact.path, artifact.text, json_kinds::metadata);
  dismantle(plan.root[program_fields::Program::target.key]);
  plan.root.erase(program_fields::Program::target.key);
  std::string text = plan.root.dump();
  // All else that another build has follows from it. Then come the caller's,
  // which have the names that people give.
  Agreement agreement = {{"a runtime of the build", buildId()}};
  agreement.insert(agreement.end(), options.agreement.begin(),
                   options.agreement.end());
  if (!options.allowsMixedCpus)
    agreement.emplace_back(kProgramProcessor, processorOf(*artifact.metadata));
  agreement.insert(agreement.end(),
                   {{"device", options.device},
                    {"communicator", communicatorOf(options)},
                    {"seed", std::to_string(options.seed)},
                    {"a program with the hash",
                     hashText(hashBytes(text.data(), text.size()))}});
  return agreement;
}

/// Returns the MPI that the session uses; null if it uses none.
static const MpiMembership *mpiOf(const SessionOptions &options) {
  if (communicatorOf(options) != "mpi")
    return nullptr;
  const MpiMembership *mpi = startedMpi();
  const ProcessOptions &own = options.processes;
  if (!mpi)
    fail(TSR_INVALID_ARGUMENT, "communicator 'mpi' needs tsr_mpi_start before "
                               "the session is created");
  if (mpi->size != own.worldSize || mpi->rank != own.rank)
    fail(TSR_INVALID_ARGUMENT, "rank is ", own.rank, " and world_size is ",
         own.worldSize, ", but the MPI has rank ", mpi->rank, " of ", mpi->size,
         "; give both as tsr_mpi_start has returned them");
  return mpi;
}

static void addProcessRank(SessionCore &core, const Artifact &artifact,
                           const SessionOptions &options) {
  ProcessOptions processes = options.processes;
  checkProcesses(artifact, processes);
  if (options.device == "cpu" && !options.allowsMixedCpus)
    processes.processor = ownProcessor();
  const MpiMembership *mpi = mpiOf(options);
  processes.hasDataElsewhere = mpi != nullptr;
  ProcessLinks links = joinProcesses(processes, agreementOf(artifact, options));
  if (links.processor.isMixed)
    shareCpuPath(static_cast<CpuPath>(links.processor.path));
  int64_t localRank = links.localRank, localSize = links.localSize;
  core.cores = planProcessCores(localRank, localSize, options.threads);
  if (options.device != "cpu") // its cores are those near the GPU
    core.cores.pinned.clear();
  auto world = std::make_shared<ProcessWorld>(
      std::move(links),
      ProcessWorldOptions{artifact.metadata->mesh, processes.rank,
                          std::chrono::milliseconds(options.timeoutMs),
                          describerOf(artifact),
                          std::chrono::milliseconds(options.saveTimeoutMs)},
      mpi ? makeMpiEngine(mpi->plugin, core.cores.oversubscribed) : nullptr);
  auto rank = makeRank(artifact, options, processes.rank);
  rank->localNumber = localRank;
  rank->threads = core.cores.threadsPerRank;
  rank->communicator =
      std::make_unique<ProcessCommunicator>(world, rank->threads);
  core.ranks.push_back(std::move(rank));
  try {
    core.device->check({artifact.path,
                        communicatorOf(options),
                        *artifact.metadata,
                        *artifact.code,
                        {localRank, 1, localSize}});
  } catch (const Error &error) {
    world->abort(describedAs(error.status.code, [&] {
      return concat("rank ", processes.rank, ": ", error.status.message);
    }));
    throw;
  }
}

Processor ownProcessor() {
  return {static_cast<int64_t>(cpuPath()), cpuIdentity()};
}

std::shared_ptr<SessionCore> makeCore(const Artifact &artifact,
                                      const SessionOptions &options,
                                      std::shared_ptr<Device> device) {
  if (!device) {
    checkOptions(artifact, options);
    device = openDevice(options.device);
  }
  artifact.code->load();
  auto core = std::make_shared<SessionCore>();
  core->device = std::move(device);
  core->metadata = artifact.metadata;
  if (options.processes.worldSize > 1)
    addProcessRank(*core, artifact, options);
  else
    addThreadRanks(*core, artifact, options);
  return core;
}

} // namespace tessera
