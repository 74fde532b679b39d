#include "runtime/collectives/process/ProcessRendezvous.h"

#include "runtime/collectives/Diagnosis.h"
#include "runtime/collectives/process/RendezvousHub.h"

#include <cstring>

namespace tessera {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

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
