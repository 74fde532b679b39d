//===- OpenSession.cpp - the ranks of a run -------------------------------===//

#include "tools/tessera/train/OpenSession.h"
#include "tessera/Options/Counted.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include <algorithm>
#include <sstream>
#include <sys/resource.h>

using namespace tessera;

static void describeProcess(const RunSettings &options,
                            tsr_session_options &wanted) {
  const Launch &launch = options.launch;
  if (launch.isAlone())
    return;
  wanted.world_size = static_cast<int32_t>(launch.worldSize);
  wanted.rank = static_cast<int32_t>(launch.rank);
  wanted.local_rank = static_cast<int32_t>(launch.localRank);
  wanted.local_size = static_cast<int32_t>(launch.localSize);
  wanted.rendezvous = launch.rendezvous.c_str();
  wanted.rendezvous_timeout_ms = options.rendezvousTimeoutMs;
  wanted.secret = options.secret.c_str();
  wanted.trusts_network = options.trustsNetwork;
  wanted.note = [](void *, const char *text) { printNote(text); };
}

/// A process has three connections to each other one. Soft limits are low for
/// the sake of programs that count their files with select(2); this is none.
static std::string allowConnections(const Launch &launch) {
  // Files of the program itself, and connections that are not known yet.
  constexpr rlim_t others = 24;
  rlim_t needed = 3 * static_cast<rlim_t>(launch.worldSize - 1) + others;
  rlimit limit = {};
  if (launch.isAlone() || getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY)
    return "";
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max >= needed)
    return "";
  return "a process of " + std::to_string(launch.worldSize) + " needs " +
         std::to_string(needed) + " open files, but may have " +
         std::to_string(limit.rlim_max) +
         "; raise the hard limit (ulimit -Hn, or LimitNOFILE= of the service "
         "that starts it)";
}

/// Mpirun does not say which of several hosts has rank 0.
static std::string rendezvousProblem(const Launch &launch) {
  if (launch.isAlone() || !launch.rendezvous.empty())
    return "";
  std::string here = launch.localSize
                         ? ", " + std::to_string(launch.localSize) +
                               " of them "
                               "on this host"
                         : "";
  return launch.launcher + " has started " + std::to_string(launch.worldSize) +
         " processes (" + launch.sizeName + ")" + here +
         ", and there is no MASTER_ADDR, the host of rank 0; pass it to all of "
         "them (Open MPI: -x MASTER_ADDR=HOST, MPICH: -genv MASTER_ADDR HOST), "
         "or give --rendezvous HOST:PORT";
}

/// Does nothing if another communicator is asked for, or if none is and no
/// plug-in fits.
static std::string joinByMpi(RunSettings &options) {
  Launch &launch = options.launch;
  const char *plugin = nullptr;
  const bool isDefault = options.communicator.empty();
  if (launch.isAlone() || options.plan.device.target.isCuda() ||
      (isDefault
           ? launch.launcher != "mpirun" || tsr_mpi_find(&plugin) != TSR_OK
           : options.communicator != "mpi"))
    return "";
  tsr_mpi_member member = {};
  member.size = sizeof member;
  if (tsr_mpi_start(static_cast<int32_t>(launch.worldSize),
                    static_cast<int32_t>(launch.rank),
                    options.rendezvousTimeoutMs, &member) != TSR_OK)
    return tsr_last_error();
  options.communicator = "mpi";
  options.network = member.library;
  if (options.rendezvous.empty())
    launch.rendezvous = member.rendezvous;
  if (options.secret.empty())
    options.secret = member.secret;
  return "";
}

bool tessera::agreeOnProcessor(RunSettings &options) {
  DeviceOptions &device = options.plan.device;
  if (options.launch.isAlone() || options.allowsMixedCpus ||
      device.target.isCuda())
    return true;
  tsr_session_options wanted = {};
  wanted.size = sizeof wanted;
  describeProcess(options, wanted);
  tsr_processors found = {};
  if (tsr_processors_compare(&wanted, &found) != TSR_OK)
    return !printError(tsr_last_error());
  if (found.path == DeviceOptions().cpu)
    return true;
  if (device.cpu == DeviceOptions().cpu)
    device.cpu = found.path;
  if (options.launch.rank == 0)
    printFormatted(
        "processors differ: all ranks compute with %s, as rank %d has "
        "no more, and with products of the runtime's own\n",
        found.path, found.rank);
  return true;
}

/// Returns the share of this process; 0 if it may use what the host has.
static int32_t threadsOf(const RunSettings &options) {
  const int64_t processes = std::max<int64_t>(options.launch.worldSize, 1);
  return options.threads == 0 ? 0
                              : static_cast<int32_t>(std::max<int64_t>(
                                    options.threads / processes, 1));
}

static std::string processesProblem(const RunSettings &options, int64_t ranks) {
  const Launch &launch = options.launch;
  if (launch.isAlone() || launch.worldSize == ranks)
    return "";
  std::string processes = std::to_string(launch.worldSize);
  return "'" + options.model + "' has a mesh of " + counted(ranks, "rank") +
         ", but there are " + processes +
         " processes; start one process per rank, or one for all ranks, or " +
         (options.isArtifact() ? "compile it for" : "give") + " a mesh of " +
         processes + " ranks, such as --mesh dp=" + processes + "; " +
         launch.launcher + " counts processes in " + launch.sizeName;
}

std::string tessera::prepareProcess(RunSettings &options) {
  std::string problem =
      options.isArtifact()
          ? ""
          : processesProblem(options, options.plan.mesh.ranks());
  if (problem.empty())
    problem = allowConnections(options.launch);
  if (problem.empty())
    problem = joinByMpi(options);
  return problem.empty() ? rendezvousProblem(options.launch) : problem;
}

OpenedSession tessera::openSession(const RunSettings &options,
                                   const tsr_artifact *artifact) {
  if (std::string problem =
          processesProblem(options, tsr_artifact_ranks(artifact));
      !problem.empty()) {
    printError(problem);
    return nullptr;
  }
  tsr_session_options wanted = {};
  wanted.size = sizeof wanted;
  wanted.device = nameOf(options.plan.device.target.kind);
  if (!options.communicator.empty())
    wanted.communicator = options.communicator.c_str();
  wanted.threads = threadsOf(options);
  wanted.timeout_ms = options.timeoutMs;
  wanted.save_timeout_ms = options.saveTimeoutMs;
  wanted.seed = options.seed;
  wanted.allow_mixed_cpus = options.allowsMixedCpus;
  wanted.max_shard_bytes = options.maxShardBytes;
  std::vector<const char *> shared;
  for (const auto &[name, value] : options.shared)
    shared.insert(shared.end(), {name.c_str(), value.c_str()});
  shared.push_back(nullptr);
  wanted.agreement = shared.data();
  describeProcess(options, wanted);
  if (!options.secretNote.empty())
    printNote(options.secretNote);
  tsr_session *created = nullptr;
  if (tsr_session_create(artifact, &wanted, &created) != TSR_OK)
    printError(tsr_last_error());
  return OpenedSession(created);
}

void tessera::printNotes(const RunSettings &options,
                         const tsr_session *session) {
  if (options.launch.rank != 0)
    return;
  std::istringstream lines(tsr_session_notes(session));
  for (std::string line; std::getline(lines, line);)
    printNote(line);
}

std::string tessera::processesText(const LaunchOptions &options) {
  return options.launch.isAlone()
             ? ""
             : ", " + std::to_string(options.launch.worldSize) +
                   " processes over " + options.network;
}

std::string tessera::limitRanks(PlannedModel &options) {
  // A rank is a thread; more than this is a slip of the finger.
  constexpr int64_t most = 256;
  if (!options.ranks)
    options.ranks = most;
  const MeshShape &mesh = options.plan.mesh;
  if (mesh.ranks() <= options.ranks)
    return "";
  return "mesh " + mesh.str() + " has " + std::to_string(mesh.ranks()) +
         " ranks, but a run may start " + std::to_string(options.ranks) +
         "; use a smaller mesh or raise --ranks";
}
