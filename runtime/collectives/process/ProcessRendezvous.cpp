#include "runtime/collectives/process/ProcessRendezvous.h"

#include "runtime/collectives/Diagnosis.h"
#include "runtime/collectives/process/Reception.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <unistd.h>

namespace tessera {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Who waits for others looks this often whether one has ended.
static constexpr std::chrono::milliseconds lookEvery{100};
// What a refusal waits for who does not read it.
static constexpr std::chrono::seconds refusalTime{5};
// Connections of strangers that are open at a time.
static constexpr size_t mostStrangers = 64;
// Connections between two processes: those of ProcessLink.
static constexpr int64_t purposes = 3;
// The last byte on a connection to the rendezvous: this process is connected
// to all, and its closing is no end.
static constexpr char farewell = 'd';

static ReceptionLimits limitsFor(const ProcessOptions &options) {
  return {longestHello,
          mostStrangers + static_cast<size_t>(purposes * options.worldSize)};
}

/// Whoever reaches a port without a secret can take part in the run.
static void requireTrust(const ProcessOptions &options,
                         const std::string &host) {
  if (options.trustsNetwork || !options.secret.empty() || isLoopback(host))
    return;
  fail(TSR_INVALID_ARGUMENT, "the rendezvous ", options.rendezvous, " is at ",
       host,
       ", which other machines can reach, and there is no secret; give "
       "all processes the same TESSERA_SECRET or --secret-file, or, if "
       "nobody else is on that network, --trust-network");
}

static void sayFarewell(const Socket &socket) {
  try {
    sendAll(socket, &farewell, 1, Clock::now());
  } catch (const Error &) { // the other side said its own, and has closed
  }
}

//===----------------------------------------------------------------------===//
// The side of rank 0
//===----------------------------------------------------------------------===//

/// What tells machines apart, containers of one machine not.
static std::string machineName() {
  std::string name;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  file.exceptions(std::ios::badbit); // want of memory
  char host[256] = "";
  if (!(file >> name) && gethostname(host, sizeof host - 1) == 0)
    name = host;
  return name;
}

namespace {
/// Collects everyone's hello and answers all with the table, or all with the
/// error. Strangers on the port are refused, and so is who makes no sense.
class RendezvousHub {
public:
  RendezvousHub(const ProcessOptions &options, Reception &reception, Hello own);

  /// Waits until all have come. Throws what it told the others.
  void gather(Deadline deadline);
  /// Tells everyone the table, which it returns.
  Table answer(Deadline deadline);
  /// TSR_ABORTED if a process that came has ended before `release`.
  void checkGuests() const;
  /// All are connected, as far as this process is concerned.
  void release() const;

private:
  struct Guest {
    Socket socket;
    Hello hello;
    bool hasCome = false;
  };
  void await(Deadline deadline);
  void welcome(Visitor visitor);
  void refuse(const Visitor &visitor, const Status &why);
  std::string describeAbsent() const;
  Table table() const;
  SharedProcessor processor() const;
  void answerAll(const std::string &answer, Deadline deadline);

  const ProcessOptions &options;
  Reception &reception;
  std::vector<Guest> guests; ///< by rank
  int64_t missing;
};
} // namespace

RendezvousHub::RendezvousHub(const ProcessOptions &options,
                             Reception &reception, Hello own)
    : options(options), reception(reception), guests(options.worldSize),
      missing(options.worldSize - 1) {
  guests[0] = {Socket(), std::move(own), true};
}

/// Best effort: who does not read it is not waited for long.
static void sendRefusal(const Socket &socket, const Status &why,
                        Deadline deadline) {
  try {
    sendText(socket, writeRefusal(why), deadline);
  } catch (const Error &) {
  }
}

void RendezvousHub::refuse(const Visitor &visitor, const Status &why) {
  reception.refuse(visitor.socket, why.message);
  sendRefusal(visitor.socket, why, Clock::now());
}

/// Throws only what concerns all: processes of ours that cannot train together.
void RendezvousHub::welcome(Visitor visitor) {
  Hello hello;
  try {
    hello = readHello(visitor.message);
  } catch (const Error &error) {
    return refuse(visitor, error.status);
  }
  std::string why = disagreement(hello, guests[0].hello);
  bool isRank = hello.rank >= 1 && hello.rank < options.worldSize;
  if (why.empty() && !isRank)
    return refuse(visitor,
                  {TSR_CORRUPT, concat("a process says it is rank ", hello.rank,
                                       " of ", options.worldSize)});
  if (why.empty() && guests[hello.rank].hasCome)
    why = concat("two processes say that they are rank ", hello.rank,
                 "; give each its own RANK");
  if (!why.empty()) {
    refuse(visitor, {TSR_MISMATCH, why});
    fail(TSR_MISMATCH, why);
  }
  int64_t rank = hello.rank;
  guests[rank] = {std::move(visitor.socket), std::move(hello), true};
  --missing;
}

std::string RendezvousHub::describeAbsent() const {
  std::vector<int64_t> absent;
  for (size_t rank = 0; rank < guests.size(); ++rank)
    if (!guests[rank].hasCome)
      absent.push_back(static_cast<int64_t>(rank));
  return concat(describeRanks(absent), " of ", guests.size(),
                " did not come to ", options.rendezvous, " within ",
                options.timeout.count(),
                " ms; start one process for each rank; one "
                "that was started has ended, or cannot reach this address: its "
                "output says why",
                reception.describeRefused());
}

void RendezvousHub::checkGuests() const {
  for (const Guest &guest : guests)
    if (guest.socket && hasClosed(guest.socket))
      fail(TSR_ABORTED, "the process of rank ", guest.hello.rank,
           " has ended before all were connected; its output says why");
}

void RendezvousHub::release() const {
  for (const Guest &guest : guests)
    if (guest.socket)
      sayFarewell(guest.socket);
}

/// Addresses as rank 0 sees them.
Table RendezvousHub::table() const {
  Table table;
  for (const Guest &guest : guests)
    table.processes.push_back({guest.socket ? peerHost(guest.socket) : "",
                               guest.hello.port, guest.hello.machine});
  std::random_device random;
  table.cookie = (uint64_t(random()) << 32) | random();
  table.processor = processor();
  return table;
}

SharedProcessor RendezvousHub::processor() const {
  const Processor &first = guests[0].hello.processor;
  SharedProcessor shared{false, first.path, 0};
  for (const Guest &guest : guests) {
    const Processor &own = guest.hello.processor;
    shared.isMixed |= own.identity != first.identity;
    if (own.path < shared.path) {
      shared.path = own.path;
      shared.rank = guest.hello.rank;
    }
  }
  return shared;
}

void RendezvousHub::answerAll(const std::string &answer, Deadline deadline) {
  for (Guest &guest : guests)
    if (guest.socket)
      sendText(guest.socket, answer, deadline);
}

void RendezvousHub::await(Deadline deadline) {
  while (missing > 0) {
    Visitor visitor =
        reception.next(std::min(deadline, Clock::now() + lookEvery));
    if (visitor.socket)
      welcome(std::move(visitor));
    else if (Clock::now() >= deadline)
      fail(TSR_TIMEOUT, describeAbsent());
    checkGuests();
  }
}

void RendezvousHub::gather(Deadline deadline) {
  try {
    await(deadline);
  } catch (const Error &error) {
    for (Guest &guest : guests)
      if (guest.socket && !hasClosed(guest.socket))
        sendRefusal(guest.socket, error.status, Clock::now() + refusalTime);
    throw;
  }
}

Table RendezvousHub::answer(Deadline deadline) {
  Table answer = table();
  answerAll(writeTable(answer), deadline);
  return answer;
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
        hub(connectTo(parseAddress(options.rendezvous), "rank 0", deadline)) {
    requireTrust(options, peerHost(hub));
    introduce(hub, secret, "rank 0 at " + options.rendezvous, deadline);
  }

  /// The address from which rank 0 is reached.
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

/// The hub has a deadline too, and its answer then is the better error.
std::string RendezvousGuest::answer() const {
  try {
    return receiveText(hub, longestTable, deadline + 10s);
  } catch (const Error &error) {
    fail(error.status.code, "rank 0 at ", options.rendezvous,
         " did not bring the ", options.worldSize,
         " processes together: ", error.status.message);
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

  /// `checkOthers` throws if a process has ended.
  ProcessLinks connect(Reception &reception,
                       const std::function<void()> &checkOthers) {
    for (int64_t peer = 0; peer < options.rank; ++peer)
      for (int64_t purpose = 0; purpose < purposes; ++purpose)
        call(peer, purpose);
    int64_t awaited = purposes * (options.worldSize - 1 - options.rank);
    while (awaited > 0) {
      Visitor visitor =
          reception.next(std::min(deadline, Clock::now() + lookEvery));
      if (visitor.socket)
        awaited -= admit(std::move(visitor), reception);
      else if (Clock::now() >= deadline)
        failAbsent(reception);
      else
        checkOthers();
    }
    countNeighbours();
    links.processor = table.processor;
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
    const Table::Process &entry = table.processes[peer];
    std::string host = entry.host;
    if (host.empty())
      host = parseAddress(options.rendezvous).host;
    Socket socket = connectTo({host, entry.port}, concat("rank ", peer),
                              deadline, Listening::Already);
    requireTrust(options, peerHost(socket));
    introduce(socket, secret, concat("rank ", peer), deadline);
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
      reception.refuse(visitor.socket, why);
      return 0;
    }
    slot(greeting.rank, greeting.purpose) = std::move(visitor.socket);
    return 1;
  }
  std::string objection(const Greeting &greeting) {
    if (greeting.cookie != table.cookie)
      return "it is of no process of this run";
    if (greeting.rank <= options.rank || greeting.rank >= options.worldSize ||
        greeting.purpose < 0 || greeting.purpose >= purposes)
      return concat("it says it is connection ", greeting.purpose, " of rank ",
                    greeting.rank);
    return slot(greeting.rank, greeting.purpose)
               ? concat("rank ", greeting.rank, " is connected already")
               : "";
  }
  [[noreturn]] void failAbsent(const Reception &reception) const {
    std::vector<int64_t> ranks;
    for (int64_t peer = options.rank + 1; peer < options.worldSize; ++peer)
      if (!links.peers[peer].data || !links.peers[peer].background ||
          !links.peers[peer].control)
        ranks.push_back(peer);
    fail(TSR_TIMEOUT, describeRanks(ranks), " of ", options.worldSize,
         " did not connect to rank ", options.rank, " within ",
         options.timeout.count(), " ms", reception.describeRefused());
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

static Hello helloOf(const ProcessOptions &options, const Agreement &agreement,
                     int port) {
  return {TESSERA_VERSION, options.rank, options.worldSize, port,
          machineName(),   agreement,    options.processor};
}

/// The others call rank 0 where they met.
static ProcessLinks joinAsFirst(const ProcessOptions &options,
                                const Agreement &agreement,
                                const Secret &secret, Deadline deadline) {
  Address address = parseAddress(options.rendezvous);
  std::vector<Socket> doors = listenOn(address);
  for (const Socket &door : doors)
    requireTrust(options, ownHost(door));
  Reception reception(std::move(doors), secret, limitsFor(options));
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
  Reception reception(std::move(doors), secret, limitsFor(options));
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
  std::vector<Socket> doors = listenOn(address);
  for (const Socket &door : doors)
    requireTrust(options, ownHost(door));
  std::optional<Reception> reception;
  reception.emplace(std::move(doors), secret, limitsFor(options));
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
