//===- LaunchEnvironment.cpp - what torchrun and Slurm tell a process -----===//

#include "tools/tessera/options/LaunchEnvironment.h"

using namespace tessera;

static constexpr int64_t kDefaultMasterPort = 29500; // torchrun's
// If there is no MASTER_PORT, jobs on one machine are told apart by number.
static constexpr int64_t kFirstJobPort = 20000, kJobPorts = 9000;

namespace {
/// Reads whole numbers; remembers the first that is none.
class Reader {
public:
  explicit Reader(const Lookup &lookup) : lookup(lookup) {}

  bool has(const char *name) const { return lookup(name) != nullptr; }
  std::string text(const char *name) const {
    const char *value = lookup(name);
    return value ? value : "";
  }
  int64_t number(const char *name, int64_t otherwise) {
    std::string value = text(name);
    if (value.empty())
      return otherwise;
    if (value.size() < 16 &&
        value.find_first_not_of("0123456789") == std::string::npos)
      return std::stoll(value);
    if (why.empty())
      why = std::string(name) + " is '" + value +
            "', expected a whole number; the launcher sets it";
    return otherwise;
  }

  std::string why;

private:
  const Lookup &lookup;
};

void readTorchrun(Reader &reader, Launch &launch) {
  launch.rank = reader.number("RANK", 0);
  launch.worldSize = reader.number("WORLD_SIZE", 1);
  launch.localSize = reader.number("LOCAL_WORLD_SIZE", 0);
  launch.localRank = reader.number("LOCAL_RANK", 0);
  std::string host = reader.text("MASTER_ADDR");
  int64_t port = reader.number("MASTER_PORT", kDefaultMasterPort);
  launch.rendezvous =
      (host.empty() ? "127.0.0.1" : host) + ":" + std::to_string(port + 1);
}

void readSlurm(Reader &reader, Launch &launch) {
  launch.rank = reader.number("SLURM_PROCID", 0);
  // srun's own number, where the step is smaller than the job.
  launch.worldSize =
      reader.number("SLURM_STEP_NUM_TASKS", reader.number("SLURM_NTASKS", 1));
  std::string host = reader.text("MASTER_ADDR");
  for (const char *list : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"})
    if (host.empty())
      host = firstHost(reader.text(list));
  int64_t job = reader.number("SLURM_JOB_ID", 0);
  int64_t port = reader.number("MASTER_PORT", kFirstJobPort + job % kJobPorts);
  launch.rendezvous =
      (host.empty() ? "127.0.0.1" : host) + ":" + std::to_string(port + 1);
}
} // namespace

std::string tessera::firstHost(const std::string &nodeList) {
  std::string host = nodeList.substr(0, nodeList.find_first_of(",["));
  if (host.size() == nodeList.size() || nodeList[host.size()] == ',')
    return host;
  std::string numbers = nodeList.substr(host.size() + 1);
  return host + numbers.substr(0, numbers.find_first_of(",-]"));
}

/// Half of a launch is a mistake: every process would train for itself.
static std::string missingHalf(Reader &reader) {
  bool hasRank = reader.has("RANK"), hasSize = reader.has("WORLD_SIZE");
  if (hasRank == hasSize || reader.text("WORLD_SIZE") == "1")
    return "";
  return std::string(hasRank ? "RANK" : "WORLD_SIZE") + " is set, but " +
         (hasRank ? "WORLD_SIZE" : "RANK") +
         " is not; set both, as launchers do, or neither";
}

std::string tessera::readLaunch(const Lookup &lookup, Launch &launch) {
  Reader reader(lookup);
  Launch read;
  if (std::string why = missingHalf(reader); !why.empty())
    return why;
  bool isTorchrun = reader.has("RANK") && reader.has("WORLD_SIZE");
  bool isSlurm = reader.has("SLURM_PROCID") && reader.has("SLURM_NTASKS");
  if (isTorchrun)
    readTorchrun(reader, read);
  else if (isSlurm)
    readSlurm(reader, read);
  if (!reader.why.empty())
    return reader.why;
  if (read.worldSize < 2)
    return "";
  if (read.rank >= read.worldSize)
    return std::string(isTorchrun ? "RANK" : "SLURM_PROCID") + " is " +
           std::to_string(read.rank) + ", but there are " +
           std::to_string(read.worldSize) +
           " processes; ranks are numbered from 0";
  launch = read;
  return "";
}
