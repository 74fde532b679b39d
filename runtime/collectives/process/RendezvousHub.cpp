#include "runtime/collectives/process/RendezvousHub.h"

#include "runtime/collectives/Diagnosis.h"
#include "runtime/support/Status.h"

#include <random>

namespace tessera {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// A refusal waits this long for a reader.
static constexpr std::chrono::seconds refusalTime{5};
// The last byte on a connection to the rendezvous.
static constexpr char farewell = 'd';

void sayFarewell(const Socket &socket) {
  try {
    sendAll(socket, &farewell, 1, Clock::now());
  } catch (const Error &) { // the other side said its own, and has closed
  }
}

RendezvousHub::RendezvousHub(const ProcessOptions &options,
                             Reception &reception, Hello own)
    : options(options), reception(reception), guests(options.worldSize) {
  guests[0] = {Socket(), std::move(own), true, ""};
}

/// Tries to tell a process why it is refused, and gives up at the deadline.
static void sendRefusal(const Socket &socket, const Status &why,
                        Deadline deadline) {
  try {
    sendText(socket, writeRefusal(why), deadline);
  } catch (const Error &) {
  }
}

/// Refuses a process; only one that has proven that it knows the secret learns
/// why.
void RendezvousHub::refuse(const Socket &socket, const Objection &why) {
  reception.refuse(why.kind, socket, why.why);
  if (knowsGuests())
    sendRefusal(socket, {TSR_MISMATCH, why.why}, Clock::now());
}

/// A process that knows the secret may come with other settings: they end the
/// start when all have come, and then all say which differ.
std::optional<RendezvousHub::Objection>
RendezvousHub::objection(const std::string &message, Hello *hello,
                         std::string *difference) const {
  const Hello &own = guests[0].hello;
  try {
    *hello = readHello(message);
  } catch (const Error &error) {
    return Objection{Refusal::Message, error.status.message};
  }
  *difference = disagreement(*hello, own);
  if (hello->version != own.version)
    return Objection{Refusal::Version, *difference};
  if (hello->world != own.world)
    return Objection{Refusal::World, *difference};
  if (hello->rank < 1 || hello->rank >= options.worldSize)
    return Objection{Refusal::Rank,
                     concat("a process says it is rank ", hello->rank, " of ",
                            options.worldSize)};
  if (!difference->empty() && !knowsGuests())
    return Objection{Refusal::Settings, *difference};
  const Guest &seated = guests[hello->rank];
  if (seated.hasCome && (seated.difference.empty() || !difference->empty()))
    return Objection{Refusal::Taken,
                     concat("two processes say that they are rank ",
                            hello->rank, "; give each its own RANK")};
  return std::nullopt;
}

void RendezvousHub::seat(Guest guest) {
  Guest &place = guests[guest.hello.rank];
  if (place.hasCome)
    refuse(place.socket, {Refusal::Settings, place.difference});
  place = std::move(guest);
}

void RendezvousHub::welcome(Visitor visitor) {
  Hello hello;
  std::string difference;
  if (auto why = objection(visitor.message, &hello, &difference))
    return refuse(visitor.socket, *why);
  visitor.socket.setRank(concat("rank ", hello.rank));
  seat({std::move(visitor.socket), std::move(hello), true,
        std::move(difference)});
}

/// A rank that has left may come again, because it was started again.
void RendezvousHub::unseatLost() {
  for (Guest &guest : guests) {
    if (!guest.socket || isSilent(guest.socket))
      continue;
    reception.refuse(Refusal::Broken, guest.socket,
                     concat("rank ", guest.hello.rank,
                            " came and ended before all had come; its output "
                            "says why"));
    guest = {};
  }
}

bool RendezvousHub::hasAll() const {
  for (const Guest &guest : guests)
    if (!guest.hasCome)
      return false;
  return true;
}

void RendezvousHub::checkSettings() const {
  for (const Guest &guest : guests)
    if (!guest.difference.empty())
      fail(TSR_MISMATCH, guest.difference);
}

void RendezvousHub::failAbsent() const {
  std::vector<int64_t> absent;
  for (size_t rank = 0; rank < guests.size(); ++rank)
    if (!guests[rank].hasCome)
      absent.push_back(static_cast<int64_t>(rank));
  std::string differences;
  for (const Guest &guest : guests)
    if (!guest.difference.empty())
      differences += "; " + guest.difference;
  fail(TSR_TIMEOUT, describeRanks(absent), " of ", guests.size(),
       " did not come to ", options.rendezvous, " within ",
       options.timeout.count(),
       " ms; start one process for each rank; one that was started has ended, "
       "or cannot reach this address: its output says why",
       differences);
}

void RendezvousHub::failEnded(const Guest &guest) {
  fail(TSR_ABORTED, "the process of rank ", guest.hello.rank,
       " has ended before all were connected; its output says why");
}

void RendezvousHub::checkGuests() const {
  for (const Guest &guest : guests)
    if (guest.socket && hasClosed(guest.socket))
      failEnded(guest);
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
                               guest.hello.port, guest.hello.machine,
                               guest.hello.network});
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

/// However many strangers come, the deadline is kept.
void RendezvousHub::await(Deadline deadline) {
  while (!hasAll()) {
    if (Clock::now() >= deadline)
      failAbsent();
    Visitor visitor =
        reception.next(std::min(deadline, Clock::now() + lookEvery));
    unseatLost();
    if (visitor.socket)
      welcome(std::move(visitor));
  }
  checkSettings();
}

void RendezvousHub::gather(Deadline deadline) {
  try {
    await(deadline);
  } catch (const Error &error) {
    for (Guest &guest : guests)
      if (guest.socket && !hasClosed(guest.socket))
        sendRefusal(guest.socket, error.status, Clock::now() + refusalTime);
    if (error.status.code != TSR_TIMEOUT)
      throw;
    // The guests were not told which connections were refused.
    fail(TSR_TIMEOUT, error.status.message, reception.describeRefused());
  }
}

void RendezvousHub::send(const Guest &guest, const std::string &text,
                         Deadline deadline) {
  try {
    sendText(guest.socket, text, deadline);
  } catch (const Error &error) {
    if (error.status.code == TSR_IO)
      failEnded(guest);
    throw;
  }
}

Table RendezvousHub::answer(Deadline deadline) {
  Table answer = table();
  std::string text = writeTable(answer);
  for (const Guest &guest : guests)
    if (guest.socket)
      send(guest, text, deadline);
  return answer;
}

} // namespace tessera
