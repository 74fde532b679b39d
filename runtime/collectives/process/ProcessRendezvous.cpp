#include "runtime/collectives/process/ProcessRendezvous.h"

#include "runtime/collectives/Diagnosis.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <unistd.h>

namespace tessera {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

//===----------------------------------------------------------------------===//
// The side of rank 0
//===----------------------------------------------------------------------===//

/// What tells machines apart, containers of one machine not.
static std::string machineName() {
  std::string name;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  char host[256] = "";
  if (!(file >> name) && gethostname(host, sizeof host - 1) == 0)
    name = host;
  return name;
}

/// What a process says first, as JSON: "version", "rank", "world", "port",
/// "machine", "agreement". The answer: "error", or "cookie" and "processes".
static json helloOf(const ProcessOptions &options, const Agreement &agreement,
                    int dataPort) {
  json pairs = json::array();
  for (const auto &[name, value] : agreement)
    pairs.push_back({name, value});
  return {{"version", TESSERA_VERSION}, {"rank", options.rank},
          {"world", options.worldSize}, {"port", dataPort},
          {"machine", machineName()},   {"agreement", pairs}};
}

namespace {
/// Collects everyone's hello and answers all with the table, or all with the
/// error. Strangers on the port are ignored.
class RendezvousHub {
public:
  RendezvousHub(const ProcessOptions &options, json ownHello);

  /// The table. Throws what it told the others.
  json run(Deadline deadline);

private:
  struct Guest {
    Socket socket;
    json hello; ///< null: has not come
  };
  void welcome(Socket socket, Deadline deadline);
  std::string objection(const json &hello) const;
  std::string describeAbsent() const;
  json table() const;
  void answerAll(const json &answer, Deadline deadline);

  const ProcessOptions &options;
  Socket listener;
  std::vector<Guest> guests; ///< by rank
  int64_t missing;
};
} // namespace

RendezvousHub::RendezvousHub(const ProcessOptions &options, json ownHello)
    : options(options),
      listener(listenOn(parseAddress(options.rendezvous).port)),
      guests(options.worldSize), missing(options.worldSize - 1) {
  guests[0].hello = std::move(ownHello);
}

/// Why the guest cannot take part with rank 0; empty if it can.
std::string RendezvousHub::objection(const json &hello) const {
  const json &own = guests[0].hello;
  int64_t rank = hello.at("rank").get<int64_t>();
  auto differs = [&](const std::string &what, const json &theirs,
                     const json &ours) {
    return concat("rank ", rank, " has ", what, " ", theirs.dump(),
                  ", rank 0 has ", ours.dump(), "; start all processes alike");
  };
  if (hello.at("version") != own.at("version"))
    return differs("version", hello.at("version"), own.at("version"));
  if (hello.at("world") != own.at("world"))
    return differs("a world size of", hello.at("world"), own.at("world"));
  const json &theirs = hello.at("agreement"), &ours = own.at("agreement");
  for (size_t i = 0; i < std::min(theirs.size(), ours.size()); ++i)
    if (theirs[i] != ours[i])
      return differs(ours[i][0].get<std::string>(), theirs[i][1], ours[i][1]);
  if (rank < 1 || rank >= options.worldSize)
    return concat("a process says it is rank ", rank, " of ",
                  options.worldSize);
  if (!guests[rank].hello.is_null())
    return concat("two processes say that they are rank ", rank,
                  "; give each its own RANK");
  return "";
}

/// A connection that is no process of ours is dropped.
void RendezvousHub::welcome(Socket socket, Deadline deadline) {
  Deadline soon = std::min(deadline, Clock::now() + 5s);
  std::string why;
  json hello;
  try {
    hello = json::parse(receiveText(socket, soon));
    why = objection(hello);
  } catch (const std::exception &) {
    return;
  }
  if (!why.empty()) {
    sendText(socket, json{{"error", why}}.dump(), soon);
    fail(TSR_MISMATCH, why);
  }
  int64_t rank = hello.at("rank").get<int64_t>();
  guests[rank] = {std::move(socket), std::move(hello)};
  --missing;
}

std::string RendezvousHub::describeAbsent() const {
  std::vector<int64_t> absent;
  for (size_t rank = 0; rank < guests.size(); ++rank)
    if (guests[rank].hello.is_null())
      absent.push_back(static_cast<int64_t>(rank));
  return concat(describeRanks(absent), " of ", guests.size(),
                " did not come to ", options.rendezvous, " within ",
                options.timeout.count(),
                " ms; start one process for each rank");
}

/// Addresses as rank 0 sees them; "" where that is its own machine's loopback.
json RendezvousHub::table() const {
  json processes = json::array();
  for (const Guest &guest : guests) {
    std::string host = guest.socket ? peerHost(guest.socket) : "";
    processes.push_back({{"host", isLoopback(host) ? "" : host},
                         {"port", guest.hello.at("port")},
                         {"machine", guest.hello.at("machine")}});
  }
  std::random_device random;
  uint64_t cookie = (uint64_t(random()) << 32) | random();
  return {{"cookie", cookie}, {"processes", processes}};
}

void RendezvousHub::answerAll(const json &answer, Deadline deadline) {
  for (Guest &guest : guests)
    if (guest.socket)
      sendText(guest.socket, answer.dump(), deadline);
}

json RendezvousHub::run(Deadline deadline) {
  try {
    while (missing > 0) {
      Socket socket = acceptFrom(listener, deadline);
      if (!socket)
        fail(TSR_TIMEOUT, describeAbsent());
      welcome(std::move(socket), deadline);
    }
  } catch (const Error &error) {
    answerAll({{"error", error.status.message},
               {"code", static_cast<int>(error.status.code)}},
              Clock::now() + 5s);
    throw;
  }
  json answer = table();
  answerAll(answer, deadline);
  return answer;
}

//===----------------------------------------------------------------------===//
// The side of every rank
//===----------------------------------------------------------------------===//

namespace {
/// The first bytes on a connection between two ranks.
struct Greeting {
  uint64_t cookie;
  int64_t rank;
  int64_t purpose;
};

/// The hub has a deadline too, and its answer then is the better error.
std::string answerOf(const Socket &hub, const ProcessOptions &options,
                     Deadline deadline) {
  try {
    return receiveText(hub, deadline + 10s);
  } catch (const Error &error) {
    fail(error.status.code, "rank 0 at ", options.rendezvous,
         " did not bring the ", options.worldSize,
         " processes together: ", error.status.message);
  }
}

json askHub(const ProcessOptions &options, const json &hello,
            Deadline deadline) {
  Socket hub = connectTo(parseAddress(options.rendezvous), "rank 0", deadline);
  sendText(hub, hello.dump(), deadline);
  json answer = json::parse(answerOf(hub, options, deadline), nullptr, false);
  if (answer.is_discarded())
    fail(TSR_IO, "'", options.rendezvous, "' is no rendezvous of Tessera");
  if (answer.contains("error"))
    fail(static_cast<tsr_status>(answer.value("code", int(TSR_MISMATCH))),
         answer.at("error").get<std::string>());
  return answer;
}

/// Connections between two processes: those of ProcessLink.
constexpr int64_t purposes = 3;

class Connector {
public:
  Connector(const ProcessOptions &options, const json &table, Deadline deadline)
      : options(options), table(table), deadline(deadline) {
    links.peers.resize(options.worldSize);
  }

  ProcessLinks connect(const Socket &listener) {
    for (int64_t peer = 0; peer < options.rank; ++peer)
      for (int64_t purpose = 0; purpose < purposes; ++purpose)
        call(peer, purpose);
    int64_t awaited = purposes * (options.worldSize - 1 - options.rank);
    while (awaited > 0)
      awaited -= answer(listener);
    countNeighbours();
    return std::move(links);
  }

private:
  Socket &slot(int64_t peer, int64_t purpose) {
    ProcessLink &link = links.peers[peer];
    return purpose == 0   ? link.data
           : purpose == 1 ? link.background
                          : link.control;
  }
  void call(int64_t peer, int64_t purpose) {
    const json &entry = table.at("processes")[peer];
    std::string host = entry.at("host").get<std::string>();
    if (host.empty())
      host = parseAddress(options.rendezvous).host;
    Socket socket = connectTo({host, entry.at("port").get<int>()},
                              concat("rank ", peer), deadline);
    Greeting greeting{table.at("cookie").get<uint64_t>(), options.rank,
                      purpose};
    sendAll(socket, &greeting, sizeof greeting, deadline);
    slot(peer, purpose) = std::move(socket);
  }
  /// Takes one connection; 0 if it is a stranger's.
  int64_t answer(const Socket &listener) {
    Socket socket = acceptFrom(listener, deadline);
    if (!socket)
      fail(TSR_TIMEOUT, describeRanks(unconnected()), " of ", options.worldSize,
           " did not connect to rank ", options.rank, " within ",
           options.timeout.count(), " ms");
    Greeting greeting{};
    try {
      receiveAll(socket, &greeting, sizeof greeting,
                 std::min(deadline, Clock::now() + 5s));
    } catch (const Error &) {
      return 0;
    }
    if (greeting.cookie != table.at("cookie").get<uint64_t>() ||
        greeting.rank <= options.rank || greeting.rank >= options.worldSize ||
        greeting.purpose < 0 || greeting.purpose >= purposes)
      return 0;
    slot(greeting.rank, greeting.purpose) = std::move(socket);
    return 1;
  }
  std::vector<int64_t> unconnected() const {
    std::vector<int64_t> ranks;
    for (int64_t peer = options.rank + 1; peer < options.worldSize; ++peer)
      if (!links.peers[peer].data || !links.peers[peer].background ||
          !links.peers[peer].control)
        ranks.push_back(peer);
    return ranks;
  }
  void countNeighbours() {
    links.localRank = options.localRank;
    links.localSize = options.localSize;
    if (options.localSize > 0)
      return;
    const json &processes = table.at("processes");
    links.localRank = links.localSize = 0;
    for (int64_t peer = 0; peer < options.worldSize; ++peer) {
      if (processes[peer].at("machine") !=
          processes[options.rank].at("machine"))
        continue;
      links.localSize += 1;
      links.localRank += peer < options.rank;
    }
  }

  const ProcessOptions &options;
  const json &table;
  Deadline deadline;
  ProcessLinks links;
};
} // namespace

void checkProcessOptions(const ProcessOptions &options) {
  if (options.worldSize < 1 || options.rank < 0 ||
      options.rank >= options.worldSize)
    fail(TSR_INVALID_ARGUMENT, "rank is ", options.rank, " and world_size is ",
         options.worldSize, "; ranks are numbered from 0 to world_size - 1");
  if (options.localSize < 0 || options.localRank < 0 ||
      (options.localSize > 0 && options.localRank >= options.localSize))
    fail(TSR_INVALID_ARGUMENT, "local_rank is ", options.localRank,
         " and local_size is ", options.localSize,
         "; local ranks are numbered from 0 to local_size - 1");
  if (options.rendezvous.empty())
    fail(TSR_INVALID_ARGUMENT, "world_size is ", options.worldSize,
         ", but there is no rendezvous; set it to HOST:PORT of rank 0");
  parseAddress(options.rendezvous);
  if (options.timeout.count() < 0)
    fail(TSR_INVALID_ARGUMENT, "rendezvous_timeout_ms is ",
         options.timeout.count(), ", it may not be negative");
}

ProcessLinks joinProcesses(const ProcessOptions &options,
                           const Agreement &agreement) {
  Deadline deadline = Clock::now() + options.timeout;
  Socket listener = listenOn(0);
  json hello = helloOf(options, agreement, portOf(listener));
  json table = options.rank == 0 ? RendezvousHub(options, hello).run(deadline)
                                 : askHub(options, hello, deadline);
  return Connector(options, table, deadline).connect(listener);
}

} // namespace tessera
