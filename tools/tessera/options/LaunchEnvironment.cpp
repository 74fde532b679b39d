//===- LaunchEnvironment.cpp - what launchers tell a process --------------===//

#include "tools/tessera/options/LaunchEnvironment.h"
#include <optional>
#include <vector>

using namespace tessera;

static constexpr int64_t kDefaultMasterPort = 29500; // torchrun's
// If there is no MASTER_PORT, jobs on one machine are told apart by number.
static constexpr int64_t kFirstJobPort = 20000, kJobPorts = 9000;
static constexpr int64_t kLargestPort = 65535;
// A number of more digits is no count of processes.
static constexpr size_t kMostDigits = 9;

namespace {
enum class Kind { Torchrun, OpenMpi, Mpich, Slurm };

/// The variables in which a launcher says what a process is.
struct Variables {
  Kind kind;
  const char *launcher, *rank, *size, *localRank, *localSize;
};

/// The order is that of readLaunch.
constexpr Variables kVariables[] = {
    {Kind::Torchrun, "torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK",
     "LOCAL_WORLD_SIZE"},
    {Kind::OpenMpi, "mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {Kind::Mpich, "mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS"},
    {Kind::Slurm, "srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
     "SLURM_LOCALID", nullptr},
};

/// Holds what one launcher says.
struct Claim {
  Variables names;
  int64_t rank = 0, size = 1, localRank = 0, localSize = 0;

  bool isSameAs(const Claim &other) const {
    return rank == other.rank && size == other.size;
  }
  std::string text() const {
    return std::string(names.rank) + " is " + std::to_string(rank) + " of " +
           names.size + " " + std::to_string(size);
  }
};

/// Reads the claims of all launchers; remembers the first thing that is wrong.
class Reader {
public:
  explicit Reader(const Lookup &lookup) : lookup(lookup) {}

  std::string read(Launch &launch);

private:
  bool has(const char *name) const { return name && !text(name).empty(); }
  std::string text(const char *name) const {
    const char *value = lookup(name);
    return value ? value : "";
  }
  int64_t number(const char *name, int64_t otherwise);
  void complain(const std::string &text) {
    if (why.empty())
      why = text;
  }

  std::optional<Claim> readClaim(Variables names);
  bool isWhole(const Variables &names);
  void checkRange(const Claim &claim);
  std::vector<Claim> readClaims();
  void checkUnknown();
  void checkTogether(const Claim &inner, const Claim &outer);
  bool isTaskItself(const Claim &mpirun);
  bool isOncePerHost(const Claim &claim);
  bool starts(const Claim &outer, const Claim &inner);
  std::string hostOf(const Claim &claim) const;
  int64_t portOf(const Claim &claim);

  const Lookup &lookup;
  std::string why;
};
} // namespace

int64_t Reader::number(const char *name, int64_t otherwise) {
  if (!has(name))
    return otherwise;
  std::string value = text(name);
  if (value.size() <= kMostDigits &&
      value.find_first_not_of("0123456789") == std::string::npos)
    return std::stoll(value);
  complain(std::string(name) + " is '" + value +
           "', expected a whole number; the launcher sets it");
  return otherwise;
}

//===----------------------------------------------------------------------===//
// The claim of one launcher
//===----------------------------------------------------------------------===//

/// Half of a launch is a mistake: every process would run for itself. A batch
/// script of Slurm is one process, whatever the job may start.
bool Reader::isWhole(const Variables &names) {
  bool hasRank = has(names.rank), hasSize = has(names.size);
  if (names.kind == Kind::Slurm || (hasRank && hasSize))
    return hasRank && hasSize;
  if (!hasRank && hasSize && number(names.size, 1) == 1)
    return true;
  if (hasRank || hasSize)
    complain(std::string(hasRank ? names.rank : names.size) + " is set, but " +
             (hasRank ? names.size : names.rank) +
             " is not; set both, as launchers do, or neither");
  return false;
}

void Reader::checkRange(const Claim &claim) {
  const Variables &names = claim.names;
  if (claim.size < 1)
    complain(std::string(names.size) +
             " is 0, but there is at least this process; the launcher sets it");
  if (claim.rank >= claim.size)
    complain(std::string(names.rank) + " is " + std::to_string(claim.rank) +
             (claim.size == 1 ? ", but there is 1 process"
                              : ", but there are " +
                                    std::to_string(claim.size) + " processes") +
             "; ranks are numbered from 0 to " + names.size + " - 1");
  if (claim.localSize > claim.size)
    complain(std::string(names.localSize) + " is " +
             std::to_string(claim.localSize) + ", but " + names.size + " is " +
             std::to_string(claim.size) +
             "; this host cannot have more processes than all together");
  if (claim.localSize > 0 && claim.localRank >= claim.localSize)
    complain(std::string(names.localRank) + " is " +
             std::to_string(claim.localRank) + ", but " + names.localSize +
             " is " + std::to_string(claim.localSize) +
             "; ranks of a host are numbered from 0 to " + names.localSize +
             " - 1");
}

std::optional<Claim> Reader::readClaim(Variables names) {
  // Before a step counts its tasks, only the job's number is known. The script
  // of a batch job has it, too.
  if (names.kind == Kind::Slurm && !has(names.size) &&
      text("ENVIRONMENT") != "BATCH")
    names.size = "SLURM_NTASKS";
  if (!isWhole(names))
    return std::nullopt;
  Claim claim{names};
  claim.rank = number(names.rank, 0);
  claim.size = number(names.size, 1);
  claim.localRank = number(names.localRank, 0);
  claim.localSize = number(names.localSize, 0);
  checkRange(claim);
  return claim;
}

/// A process whose launcher says no more than its rank would take itself for
/// the only one: PRRTE's prterun, and MPICH's mpirun -pmi-port.
void Reader::checkUnknown() {
  for (const char *name : {"PMIX_RANK", "PMI_ID"})
    if (int64_t rank = number(name, 0);
        rank > 0 && !has("OMPI_COMM_WORLD_LOCAL_SIZE"))
      complain(std::string(name) + " is " + std::to_string(rank) +
               ", but no variable tells how many processes there are; set RANK "
               "and WORLD_SIZE, or start with torchrun, mpirun or srun");
}

/// Srun with a PMI of its own says the same twice, and knows the hosts; only
/// mpirun counts the ranks of a host.
std::vector<Claim> Reader::readClaims() {
  std::vector<Claim> claims;
  for (const Variables &names : kVariables) {
    std::optional<Claim> claim = readClaim(names);
    if (!claim)
      continue;
    if (!claims.empty() && names.kind == Kind::Slurm &&
        claims.back().names.kind == Kind::Mpich &&
        claims.back().localSize == 0 && claim->isSameAs(claims.back()))
      claims.pop_back();
    claims.push_back(*claim);
  }
  if (claims.empty())
    checkUnknown();
  return claims;
}

//===----------------------------------------------------------------------===//
// A launcher that another one has started
//===----------------------------------------------------------------------===//

/// Returns whether the mpirun that has started this process is a task of srun,
/// and not its daemons: then each of the tasks is an mpirun. Open MPI's daemons
/// have numbers from 1, mpirun is the server number 0. MPICH's have no numbers,
/// but are started only on hosts that get ranks.
bool Reader::isTaskItself(const Claim &mpirun) {
  if (mpirun.names.kind == Kind::Mpich)
    return mpirun.size > 1 && mpirun.localSize == mpirun.size;
  for (const char *name : {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4",
                           "PMIX_SERVER_URI3", "PMIX_SERVER_URI2"}) {
    // "1451360256.1;tcp4://127.0.0.1:47933"
    const std::string server = text(name).substr(0, text(name).find(';'));
    if (!server.empty())
      return server.substr(server.rfind('.') + 1) == "0";
  }
  return false;
}

/// Returns whether a launcher has started one process on each host.
bool Reader::isOncePerHost(const Claim &claim) {
  return claim.names.kind == Kind::Slurm
             ? number("SLURM_STEP_NUM_NODES", 0) == claim.size
             : claim.localSize == 1;
}

/// Returns whether the outer launcher has started the inner one, or its
/// daemons: then both are right.
bool Reader::starts(const Claim &outer, const Claim &inner) {
  if (inner.size < 2)
    return false;
  if (inner.names.kind != Kind::Torchrun)
    return outer.names.kind == Kind::Slurm && isOncePerHost(outer);
  if (has("GROUP_WORLD_SIZE")) // It counts the torchruns.
    return number("GROUP_WORLD_SIZE", 0) == outer.size;
  if (inner.localSize > 0)
    return inner.size == inner.localSize * outer.size;
  return inner.size > outer.size && inner.size % outer.size == 0 &&
         isOncePerHost(outer);
}

void Reader::checkTogether(const Claim &inner, const Claim &outer) {
  if (outer.size < 2)
    return;
  const bool isMpirun = inner.names.launcher == std::string("mpirun");
  // Two mpiruns never agree, and each task of srun is a run if it is an mpirun.
  const bool isNested =
      isMpirun && (outer.names.kind == Kind::Mpich ||
                   (outer.names.kind == Kind::Slurm && isTaskItself(inner)));
  if (!isNested && (inner.isSameAs(outer) || starts(outer, inner)))
    return;
  complain(
      inner.text() + ", but " + outer.text() +
      ": each process would belong to two runs; start the processes with " +
      (inner.names.launcher == std::string(outer.names.launcher)
           ? std::string("one ") + inner.names.launcher
           : std::string("either ") + inner.names.launcher + " or " +
                 outer.names.launcher) +
      ", and unset the variables of the other");
}

//===----------------------------------------------------------------------===//
// The rendezvous
//===----------------------------------------------------------------------===//

/// Returns the host of rank 0, or "" if nothing tells it.
std::string Reader::hostOf(const Claim &claim) const {
  Kind kind = claim.names.kind;
  std::string host = text("MASTER_ADDR");
  bool isByHand = kind == Kind::Torchrun && claim.localSize == 0;
  if (!host.empty() || claim.localSize == claim.size || isByHand)
    return host.empty() ? "127.0.0.1" : host;
  if (kind == Kind::Slurm)
    host = firstHost(text("SLURM_STEP_NODELIST"));
  // The step of mpirun's daemons may leave out the first host.
  if (host.empty() && kind != Kind::Torchrun)
    host = firstHost(text("SLURM_JOB_NODELIST"));
  return host.empty() && kind == Kind::Slurm ? "127.0.0.1" : host;
}

/// Returns a number for a name, the same in all processes.
static int64_t hashOf(const std::string &name) {
  uint32_t hash = 2166136261u; // FNV-1a
  for (unsigned char byte : name)
    hash = (hash ^ byte) * 16777619u;
  return hash;
}

int64_t Reader::portOf(const Claim &claim) {
  int64_t port = kDefaultMasterPort;
  if (claim.names.kind != Kind::Torchrun && has("SLURM_JOB_ID"))
    port = kFirstJobPort + number("SLURM_JOB_ID", 0) % kJobPorts;
  else if (claim.names.kind == Kind::OpenMpi && has("PMIX_NAMESPACE"))
    port = kFirstJobPort + hashOf(text("PMIX_NAMESPACE")) % kJobPorts;
  port = number("MASTER_PORT", port);
  if (port < 1 || port >= kLargestPort)
    complain("MASTER_PORT is " + std::to_string(port) +
             ", expected 1 to 65534, as the rendezvous is one port above");
  return port + 1;
}

std::string tessera::firstHost(const std::string &nodeList) {
  std::string host = nodeList.substr(0, nodeList.find_first_of(",["));
  if (host.size() == nodeList.size() || nodeList[host.size()] == ',')
    return host;
  std::string numbers = nodeList.substr(host.size() + 1);
  return host + numbers.substr(0, numbers.find_first_of(",-]"));
}

//===----------------------------------------------------------------------===//
// All together
//===----------------------------------------------------------------------===//

std::string Reader::read(Launch &launch) {
  std::vector<Claim> claims = readClaims();
  for (size_t i = 1; i < claims.size(); ++i)
    checkTogether(claims[0], claims[i]);
  if (!why.empty() || claims.empty() || claims[0].size < 2)
    return why;
  const Claim &claim = claims[0];
  Launch read;
  read.rank = claim.rank;
  read.worldSize = claim.size;
  read.localRank = claim.localRank;
  read.localSize = claim.localSize;
  read.launcher = claim.names.launcher;
  read.sizeName = claim.names.size;
  int64_t port = portOf(claim);
  if (std::string host = hostOf(claim); !host.empty())
    read.rendezvous = host + ":" + std::to_string(port);
  if (why.empty())
    launch = read;
  return why;
}

std::string tessera::readLaunch(const Lookup &lookup, Launch &launch) {
  return Reader(lookup).read(launch);
}
