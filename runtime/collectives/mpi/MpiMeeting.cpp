#include "runtime/collectives/mpi/MpiMeeting.h"

#include "runtime/collectives/mpi/MpiThread.h"
#include "runtime/collectives/process/HostNames.h"
#include "runtime/collectives/process/Socket.h"
#include "runtime/support/Secret.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>

namespace tessera {

using Clock = std::chrono::steady_clock;

namespace {
// Processes that have closed their sessions end the MPI in this time.
constexpr std::chrono::seconds finishTime{60};
// An address that does not answer in this time cannot be reached.
constexpr std::chrono::seconds probeTime{2};

struct NetworkName {
  char text[128];
};

/// The addresses of rank 0, of which all processes must reach one.
struct Candidates {
  static constexpr size_t most = 32;
  struct Entry {
    char host[64];
    int32_t port;
  };
  int32_t count = 0;
  Entry entries[most] = {};
};

struct Reached {
  int8_t entries[Candidates::most] = {};
};

struct SharedSecret {
  char text[2 * sizeof(Digest) + 1] = {};
};

/// The MPI of this process, from its start to its end.
std::optional<MpiMembership> membership;
/// Keeps the port of the rendezvous from others while nobody listens.
Socket reservation;
} // namespace

static bool shareANetwork(const MpiPlugin &plugin, int64_t size) {
  NetworkName own{};
  std::strncpy(own.text, networkName().c_str(), sizeof own.text - 1);
  std::vector<NetworkName> all(static_cast<size_t>(size));
  plugin.check(plugin.table->gather_all(&own, all.data(), sizeof own),
               "MPI_Allgather");
  return std::all_of(all.begin(), all.end(), [&](const NetworkName &other) {
    return std::strcmp(other.text, own.text) == 0;
  });
}

/// Returns the addresses of this machine that other machines may reach.
static std::vector<std::string> outsideHosts() {
  ifaddrs *found = nullptr;
  std::vector<std::string> hosts;
  if (getifaddrs(&found) != 0)
    return hosts;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(found,
                                                               freeifaddrs);
  for (const ifaddrs *at = found; at; at = at->ifa_next) {
    if (!at->ifa_addr || !(at->ifa_flags & IFF_UP) ||
        (at->ifa_flags & IFF_LOOPBACK))
      continue;
    char host[INET6_ADDRSTRLEN] = "";
    if (at->ifa_addr->sa_family == AF_INET)
      inet_ntop(AF_INET,
                &reinterpret_cast<sockaddr_in *>(at->ifa_addr)->sin_addr, host,
                sizeof host);
    if (at->ifa_addr->sa_family == AF_INET6) {
      auto *address = reinterpret_cast<sockaddr_in6 *>(at->ifa_addr);
      if (!IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr))
        inet_ntop(AF_INET6, &address->sin6_addr, host, sizeof host);
    }
    if (*host && hosts.size() < Candidates::most)
      hosts.push_back(host);
  }
  return hosts;
}

/// Listens at each address; where that is not possible, its port is 0.
static Candidates listenAt(const std::vector<std::string> &hosts,
                           std::vector<Socket> &doors) {
  Candidates candidates;
  for (const std::string &host : hosts) {
    Candidates::Entry &entry = candidates.entries[candidates.count++];
    std::strncpy(entry.host, host.c_str(), sizeof entry.host - 1);
    try {
      std::vector<Socket> opened = listenOn({host, 0});
      entry.port = portOf(opened[0]);
      doors.push_back(std::move(opened[0]));
    } catch (const Error &) { // an address that has gone
    }
  }
  return candidates;
}

static bool canReach(const Candidates::Entry &entry) {
  try {
    return bool(connectTo({entry.host, entry.port}, "rank 0",
                          Clock::now() + probeTime));
  } catch (const Error &) {
    return false;
  }
}

/// Returns the first address that all processes reach.
static Address agreeOn(const MpiPlugin &plugin, int64_t rank, int64_t size,
                       const std::vector<std::string> &hosts) {
  std::vector<Socket> doors;
  Candidates candidates;
  if (rank == 0)
    candidates = listenAt(hosts, doors);
  plugin.check(plugin.table->broadcast(&candidates, sizeof candidates),
               "MPI_Bcast");
  Reached own;
  for (int32_t i = 0; i < candidates.count; ++i)
    own.entries[i] = candidates.entries[i].port != 0 &&
                     (rank == 0 || canReach(candidates.entries[i]));
  std::vector<Reached> all(static_cast<size_t>(size));
  plugin.check(plugin.table->gather_all(&own, all.data(), sizeof own),
               "MPI_Allgather");
  std::string tried;
  for (int32_t i = 0; i < candidates.count; ++i) {
    if (std::all_of(all.begin(), all.end(), [i](const Reached &reached) {
          return reached.entries[i] != 0;
        }))
      return {candidates.entries[i].host, candidates.entries[i].port};
    tried += concat(tried.empty() ? "" : ", ", candidates.entries[i].host);
  }
  fail(TSR_IO, "not all processes reach rank 0, whose addresses are ",
       tried.empty() ? "none" : tried,
       "; give one that they reach with --rendezvous HOST:PORT");
}

/// Binds the port without listening, so that the system gives it to nobody.
static Socket reserve(const Address &address) {
  const bool isV6 = address.host.find(':') != std::string::npos;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET;
  v6.sin6_family = AF_INET6;
  v4.sin_port = v6.sin6_port = htons(static_cast<uint16_t>(address.port));
  inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr);
  inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr);
  Socket socket(
      ::socket(isV6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const auto *at = isV6 ? reinterpret_cast<sockaddr *>(&v6)
                        : reinterpret_cast<sockaddr *>(&v4);
  bind(socket.get(), at, isV6 ? sizeof v6 : sizeof v4);
  return socket;
}

static std::string shareSecret(const MpiPlugin &plugin, int64_t rank) {
  if (!TESSERA_HAS_LIBCRYPTO)
    return "";
  SharedSecret secret;
  if (rank == 0) {
    const Digest random = randomNonce();
    for (size_t i = 0; i < random.size(); ++i)
      std::snprintf(secret.text + 2 * i, 3, "%02x", random[i]);
  }
  plugin.check(plugin.table->broadcast(&secret, sizeof secret), "MPI_Bcast");
  return secret.text;
}

static std::string countOf(int64_t processes) {
  return concat(processes, processes == 1 ? " process" : " processes");
}

/// Checks what the MPI says: one that another one's launcher has started
/// believes that it is alone.
static void checkPlace(const MpiPlugin &plugin, const tsr_mpi_place &place,
                       int64_t size, int64_t rank) {
  if (size != 0 && (place.size != size || place.rank != rank))
    fail(TSR_MISMATCH, "the launcher has started ", countOf(size),
         " and this is rank ", rank, ", but ", plugin.table->library(), " ('",
         plugin.file, "') says that it has ", countOf(place.size),
         " and this is rank ", place.rank, "; start with the mpirun of ",
         plugin.table->family,
         ", set TESSERA_MPI_PLUGIN to the plug-in of the launcher's MPI, or "
         "use --communicator tcp");
  if (!place.is_threaded)
    fail(TSR_UNSUPPORTED, plugin.table->library(), " ('", plugin.file,
         "') offers ", place.threads,
         ", but collectives run in two threads and need MPI_THREAD_MULTIPLE; "
         "use an MPI that is built with it, or --communicator tcp");
}

namespace {
/// Holds what a start is asked for, and finds. Its thread may outlive the
/// caller.
struct Start {
  MpiPlugin plugin;
  int64_t size, rank; ///< the values that the launcher says
  MpiMembership made;
  Socket reserved;
};
} // namespace

static void meet(Start &start) {
  const MpiPlugin &plugin = start.plugin;
  MpiMembership &made = start.made;
  tsr_mpi_place place{};
  plugin.check(plugin.table->start(&place), "MPI_Init_thread");
  checkPlace(plugin, place, start.size, start.rank);
  made.plugin = plugin;
  made.rank = place.rank;
  made.size = place.size;
  const bool isInside = shareANetwork(plugin, made.size);
  const Address address = agreeOn(
      plugin, made.rank, made.size,
      isInside ? std::vector<std::string>{"127.0.0.1"} : outsideHosts());
  if (made.rank == 0)
    start.reserved = reserve(address);
  made.rendezvous = address.text();
  made.secret = shareSecret(plugin, made.rank);
}

const MpiMembership &startMpi(int64_t size, int64_t rank,
                              std::chrono::milliseconds timeout) {
  if (membership)
    return *membership;
  auto start = std::make_shared<Start>();
  start->plugin = chooseMpiPlugin();
  start->size = size;
  start->rank = rank;
  start->plugin.publish();
  if (!runInMpiThread([start] { meet(*start); }, timeout))
    fail(TSR_TIMEOUT, start->plugin.table->library(), " has not brought ",
         size == 0 ? "all" : "the " + countOf(size), " together within ",
         timeout.count(),
         " ms; one of them has ended before it came, or has another "
         "--communicator or plug-in: its output says why");
  reservation = std::move(start->reserved);
  return membership.emplace(std::move(start->made));
}

const MpiMembership *startedMpi() {
  return membership ? &*membership : nullptr;
}

void finishMpi() {
  if (!membership)
    return;
  const MpiPlugin plugin = membership->plugin;
  membership.reset();
  const auto finish = [plugin] {
    plugin.check(plugin.table->finish(), "MPI_Finalize");
  };
  if (!runInMpiThread(finish, finishTime))
    fail(TSR_TIMEOUT, "MPI_Finalize of ", plugin.table->library(),
         " has not ended within ", finishTime.count(),
         " s; a process has ended without it: its output says why");
}

} // namespace tessera
