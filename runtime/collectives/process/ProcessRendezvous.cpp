#include "runtime/collectives/process/ProcessRendezvous.h"

#include "runtime/collectives/Diagnosis.h"
#include "runtime/collectives/process/HostNames.h"
#include "runtime/collectives/process/Reception.h"
#include "runtime/collectives/process/RendezvousHub.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <thread>
#include <utility>

namespace tessera {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Connections of strangers that are open at a time, and bytes of their
// messages.
static constexpr size_t mostStrangers = 64, mostStrangeBytes = 1 << 23;
// The name of a pod of Kubernetes is known some time after it has started.
static constexpr std::chrono::seconds nameTime{30};
static constexpr std::chrono::milliseconds lookUpAgainAfter{200};
// Connections between two processes: those of ProcessLink, control last.
static constexpr int64_t purposes = 3;
// A side to which many come may close a connection; it is called again after
// this time.
static constexpr std::chrono::milliseconds callAgainAfter{100};

static ReceptionLimits limitsFor(const ProcessOptions &options) {
  return {longestHello,
          mostStrangers + static_cast<size_t>(purposes * options.worldSize),
          mostStrangeBytes};
}

/// Whoever reaches a port without a secret can take part in the run.
static void requireTrust(const ProcessOptions &options,
                         const std::string &host) {
  if (options.trustsNetwork || !options.secret.empty() || isLoopback(host))
    return;
  fail(TSR_INVALID_ARGUMENT, "the rendezvous ", options.rendezvous, " is at ",
       host,
       ", which other machines can reach, and there is no secret; give "
       "all processes the same TESSERA_SECRET or --secret-file, made with: "
       "openssl rand -hex 32; or, if nobody else is on that network, "
       "--trust-network");
}

/// Connects to a process and shows it the secret. One to which many strangers
/// come may drop a connection before that, and is called again.
static Socket callIn(const ProcessOptions &options, const Secret &secret,
                     const Address &address, const std::string &who,
                     Deadline deadline, Listening listening) {
  std::string what = concat(who, " at ", address.text());
  while (true) {
    Socket socket = connectTo(address, who, deadline, listening);
    requireTrust(options, peerHost(socket));
    try {
      introduce(socket, secret, what, deadline);
      return socket;
    } catch (const Error &error) {
      if (error.status.code != TSR_IO ||
          Clock::now() + callAgainAfter >= deadline)
        throw;
    }
    std::this_thread::sleep_for(callAgainAfter);
  }
}

//===----------------------------------------------------------------------===//
// The side of every rank
//===----------------------------------------------------------------------===//

namespace {
/// The connection of another rank than 0 to the rendezvous.
class RendezvousGuest {
public:
  RendezvousGuest(const ProcessOptions &options, const Secret &secret,
                  Deadline deadline)
      : options(options), deadline(deadline),
        hub(callIn(options, secret, parseAddress(options.rendezvous), "rank 0",
                   deadline, Listening::Soon)) {}

  /// Returns the address from which rank 0 is reached.
  std::string host() const { return ownHost(hub); }
  Table ask(const Hello &hello) const;
  void checkHub() const {
    if (hasClosed(hub))
      fail(TSR_ABORTED, "the process of rank 0 has ended before all were "
                        "connected; its output says why");
  }
  void release() const { sayFarewell(hub); }

private:
  std::string answer() const;

  const ProcessOptions &options;
  Deadline deadline;
  Socket hub;
};
} // namespace

/// The hub has a deadline too, and its answer then is the better error. One
/// without a secret does not tell who is refused why.
std::string RendezvousGuest::answer() const {
  try {
    return receiveText(hub, longestTable, deadline + 10s);
  } catch (const Error &error) {
    fail(error.status.code, "rank 0 at ", options.rendezvous,
         " did not bring the ", options.worldSize,
         " processes together: ", error.status.message,
         error.status.code != TSR_IO ? ""
         : options.secret.empty()
             ? "; it has ended, or does not take this process: its output says "
               "why; all processes need the same version, files and options, "
               "and a rank of their own"
             : "; it has ended: its output says why");
  }
}

Table RendezvousGuest::ask(const Hello &hello) const {
  sendText(hub, writeHello(hello), deadline);
  return readTable(answer(), options.worldSize);
}

namespace {
/// Connects a process to all others once everyone has the table.
class Connector {
public:
  Connector(const ProcessOptions &options, const Secret &secret,
            const Table &table, Deadline deadline)
      : options(options), secret(secret), table(table), deadline(deadline) {
    links.peers.resize(options.worldSize);
  }

  /// Connects all processes; `checkOthers` throws if one has ended.
  ProcessLinks connect(Reception &reception,
                       const std::function<void()> &checkOthers) {
    for (int64_t peer = 0; peer < options.rank; ++peer)
      for (int64_t purpose = firstPurpose(); purpose < purposes; ++purpose)
        call(peer, purpose);
    int64_t awaited =
        (purposes - firstPurpose()) * (options.worldSize - 1 - options.rank);
    while (awaited > 0) {
      if (Clock::now() >= deadline)
        failAbsent(reception);
      Visitor visitor =
          reception.next(std::min(deadline, Clock::now() + lookEvery));
      if (visitor.socket)
        awaited -= admit(std::move(visitor), reception);
      else
        checkOthers();
    }
    countNeighbours();
    nameHosts();
    links.processor = table.processor;
    return std::move(links);
  }

private:
  /// Without data there is control alone.
  int64_t firstPurpose() const {
    return options.hasDataElsewhere ? purposes - 1 : 0;
  }
  Socket &slot(int64_t peer, int64_t purpose) {
    ProcessLink &link = links.peers[peer];
    return purpose == 0   ? link.data
           : purpose == 1 ? link.background
                          : link.control;
  }
  void call(int64_t peer, int64_t purpose) {
    const Table::Process &entry = table.processes[peer];
    std::string host = entry.host;
    if (host.empty())
      host = parseAddress(options.rendezvous).host;
    Socket socket = callIn(options, secret, {host, entry.port},
                           concat("rank ", peer), deadline, Listening::Already);
    sendText(socket, writeGreeting({table.cookie, options.rank, purpose}),
             deadline);
    slot(peer, purpose) = std::move(socket);
  }
  /// Takes a connection; 0 if it is a stranger's.
  int64_t admit(Visitor visitor, Reception &reception) {
    std::string why;
    Greeting greeting;
    try {
      greeting = readGreeting(visitor.message);
      why = objection(greeting);
    } catch (const Error &error) {
      why = error.status.message;
    }
    if (!why.empty()) {
      reception.refuse(Refusal::OtherRun, visitor.socket, why);
      return 0;
    }
    visitor.socket.setRank(concat("rank ", greeting.rank));
    slot(greeting.rank, greeting.purpose) = std::move(visitor.socket);
    return 1;
  }
  std::string objection(const Greeting &greeting) {
    if (greeting.cookie != table.cookie)
      return "it is of no process of this run";
    if (greeting.rank <= options.rank || greeting.rank >= options.worldSize ||
        greeting.purpose < firstPurpose() || greeting.purpose >= purposes)
      return concat("it says it is connection ", greeting.purpose, " of rank ",
                    greeting.rank);
    return slot(greeting.rank, greeting.purpose)
               ? concat("rank ", greeting.rank, " is connected already")
               : "";
  }
  bool isConnected(const ProcessLink &link) const {
    return link.control &&
           (options.hasDataElsewhere || (link.data && link.background));
  }
  [[noreturn]] void failAbsent(const Reception &reception) const {
    std::vector<int64_t> ranks;
    for (int64_t peer = options.rank + 1; peer < options.worldSize; ++peer)
      if (!isConnected(links.peers[peer]))
        ranks.push_back(peer);
    fail(TSR_TIMEOUT, describeRanks(ranks), " of ", options.worldSize,
         " did not connect to rank ", options.rank, " within ",
         options.timeout.count(), " ms", reception.describeRefused());
  }
  void nameHosts() {
    std::map<std::string, int64_t> numbers;
    for (const Table::Process &process : table.processes) {
      auto number = static_cast<int64_t>(numbers.size());
      links.hosts.push_back(
          numbers.emplace(process.network, number).first->second);
    }
  }
  void countNeighbours() {
    links.localRank = options.localRank;
    links.localSize = options.localSize;
    if (options.localSize > 0)
      return;
    const std::string &own = table.processes[options.rank].machine;
    links.localRank = links.localSize = 0;
    for (int64_t peer = 0; peer < options.worldSize; ++peer) {
      if (table.processes[peer].machine != own)
        continue;
      links.localSize += 1;
      links.localRank += peer < options.rank;
    }
  }

  const ProcessOptions &options;
  const Secret &secret;
  const Table &table;
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

bool meetOnThisMachine(const ProcessOptions &options) {
  std::vector<std::string> hosts;
  try {
    hosts = numericHosts(parseAddress(options.rendezvous));
  } catch (const Error &) { // checkProcessOptions says it
  }
  return !hosts.empty() && std::all_of(hosts.begin(), hosts.end(), isLoopback);
}

static Hello helloOf(const ProcessOptions &options, const Agreement &agreement,
                     int port) {
  return {TESSERA_VERSION, options.rank, options.worldSize, port,
          machineName(),   agreement,    options.processor, networkName()};
}

/// Opens the doors of rank 0, once its name is known.
static std::vector<Socket> openDoors(const ProcessOptions &options,
                                     const Address &address,
                                     Deadline deadline) {
  Deadline until = std::min(deadline, Clock::now() + nameTime);
  bool isTold = !options.note;
  while (numericHosts(address).empty() && Clock::now() < until) {
    if (!std::exchange(isTold, true))
      options.note(concat("the host name '", address.host,
                          "' of the rendezvous does not resolve yet; it is "
                          "looked up again for ",
                          nameTime.count(), " seconds"));
    std::this_thread::sleep_for(lookUpAgainAfter);
  }
  std::vector<Socket> doors = listenOn(address);
  for (const Socket &door : doors)
    requireTrust(options, ownHost(door));
  return doors;
}

/// The others call rank 0 where they met.
static ProcessLinks joinAsFirst(const ProcessOptions &options,
                                const Agreement &agreement,
                                const Secret &secret, Deadline deadline) {
  Address address = parseAddress(options.rendezvous);
  Reception reception(openDoors(options, address, deadline), secret,
                      limitsFor(options), options.note);
  RendezvousHub hub(options, reception,
                    helloOf(options, agreement, address.port));
  hub.gather(deadline);
  Table table = hub.answer(deadline);
  Connector connector(options, secret, table, deadline);
  ProcessLinks links = connector.connect(reception, [&] { hub.checkGuests(); });
  hub.release();
  return links;
}

static ProcessLinks joinAsGuest(const ProcessOptions &options,
                                const Agreement &agreement,
                                const Secret &secret, Deadline deadline) {
  RendezvousGuest guest(options, secret, deadline);
  std::vector<Socket> doors = listenOn({guest.host(), 0});
  int port = portOf(doors[0]);
  Reception reception(std::move(doors), secret, limitsFor(options),
                      options.note);
  Table table = guest.ask(helloOf(options, agreement, port));
  Connector connector(options, secret, table, deadline);
  ProcessLinks links = connector.connect(reception, [&] { guest.checkHub(); });
  guest.release();
  return links;
}

/// Refuses addresses that need a secret before the others are waited for.
static void requireTrust(const ProcessOptions &options) {
  for (const std::string &host : numericHosts(parseAddress(options.rendezvous)))
    requireTrust(options, host);
}

ProcessLinks joinProcesses(const ProcessOptions &options,
                           const Agreement &agreement) {
  Deadline deadline = Clock::now() + options.timeout;
  Secret secret(options.secret);
  requireTrust(options);
  return options.rank == 0 ? joinAsFirst(options, agreement, secret, deadline)
                           : joinAsGuest(options, agreement, secret, deadline);
}

//===----------------------------------------------------------------------===//
// Comparing processors
//===----------------------------------------------------------------------===//

/// Tells this meeting from the one that makes the connections.
static const Agreement &comparison() {
  static const Agreement agreement = {{"a meeting", "to compare processors"}};
  return agreement;
}

/// The doors are closed before the answer is sent: a process that has it calls
/// again at once, and must find the doors of the next meeting.
static SharedProcessor compareAsFirst(const ProcessOptions &options,
                                      const Secret &secret, Deadline deadline) {
  Address address = parseAddress(options.rendezvous);
  std::optional<Reception> reception;
  reception.emplace(openDoors(options, address, deadline), secret,
                    limitsFor(options), options.note);
  RendezvousHub hub(options, *reception,
                    helloOf(options, comparison(), address.port));
  hub.gather(deadline);
  reception.reset();
  return hub.answer(deadline).processor;
}

SharedProcessor compareProcessors(const ProcessOptions &options) {
  checkProcessOptions(options);
  Deadline deadline = Clock::now() + options.timeout;
  Secret secret(options.secret);
  requireTrust(options);
  if (options.rank == 0)
    return compareAsFirst(options, secret, deadline);
  RendezvousGuest guest(options, secret, deadline);
  return guest.ask(helloOf(options, comparison(), 1)).processor;
}

} // namespace tessera
