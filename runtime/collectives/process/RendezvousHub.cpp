#include "runtime/collectives/process/RendezvousHub.h"

#include "runtime/collectives/Diagnosis.h"
#include "runtime/support/Json.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <unistd.h>

namespace tessera {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// What tells machines apart, containers of one machine not.
static std::string machineName() {
  std::string name;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  char host[256] = "";
  if (!(file >> name) && gethostname(host, sizeof host - 1) == 0)
    name = host;
  return name;
}

json helloOf(const ProcessOptions &options, const Agreement &agreement,
             int dataPort) {
  json pairs = json::array();
  for (const auto &[name, value] : agreement)
    pairs.push_back({name, value});
  return {{"version", TESSERA_VERSION}, {"rank", options.rank},
          {"world", options.worldSize}, {"port", dataPort},
          {"machine", machineName()},   {"agreement", pairs}};
}

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

} // namespace tessera
