#include "runtime/collectives/process/Rounds.h"

#include <algorithm>

namespace tessera {

Status gatherInRounds(GroupCall &call, unsigned char *blocks, int64_t bytes) {
  const int64_t size = call.group.size();
  for (int64_t has = 1; has < size; has *= 2) {
    const int64_t more = std::min(has, size - has);
    call.send(call.group.after(-has), blocks, more * bytes);
    call.receive(call.group.after(has), blocks + has * bytes, more * bytes);
    if (Status status = call.exchange(); !status.ok())
      return status;
  }
  return {};
}

namespace {
/// A binomial tree over a list of members, from its first: number i gets what
/// it has from i less its lowest set bit.
struct Binomial {
  std::vector<int64_t> members;

  int64_t placeOf(int64_t member) const {
    auto found = std::find(members.begin(), members.end(), member);
    return found == members.end() ? -1 : found - members.begin();
  }
  void receive(GroupCall &call, int64_t place, void *data,
               int64_t bytes) const {
    if (place > 0)
      call.receive(members[static_cast<size_t>(place & (place - 1))], data,
                   bytes);
  }
  void send(GroupCall &call, int64_t place, const void *data,
            int64_t bytes) const {
    const auto size = static_cast<int64_t>(members.size());
    int64_t lowest = place == 0 ? size : place & -place;
    // The largest part of the tree first.
    int64_t step = 1;
    while (2 * step < lowest)
      step *= 2;
    for (; step > 0 && lowest > 1; step /= 2)
      if (place + step < size)
        call.send(members[static_cast<size_t>(place + step)], data, bytes);
  }
};

/// Returns the first members of all hosts, the root for its own and first.
Binomial firstOfHosts(const CallGroup &group, int64_t root) {
  Binomial tree{{root}};
  for (int64_t host = 0; host < group.hosts.hosts(); ++host)
    if (host != group.hosts.hostOf(root))
      tree.members.push_back(group.hosts.membersOf(host)[0]);
  return tree;
}

/// Returns the members of this member's host, the one that gets it first.
Binomial ofThisHost(const CallGroup &group, int64_t root) {
  const int64_t host = group.hosts.hostOf(group.member);
  Binomial tree{group.hosts.membersOf(host)};
  if (host == group.hosts.hostOf(root))
    std::swap(tree.members[0],
              tree.members[static_cast<size_t>(tree.placeOf(root))]);
  return tree;
}
} // namespace

Status broadcastInRounds(GroupCall &call, int64_t root, void *data,
                         int64_t bytes) {
  const CallGroup &group = call.group;
  const Binomial across = firstOfHosts(group, root),
                 here = ofThisHost(group, root);
  const int64_t placeAcross = across.placeOf(group.member),
                placeHere = here.placeOf(group.member);
  // The frames of neighbours: who sends data to whom comes next.
  if (Status status = call.exchange(); !status.ok())
    return status;
  across.receive(call, placeAcross, data, bytes);
  here.receive(call, placeHere, data, bytes);
  if (Status status = call.exchange(); !status.ok())
    return status;
  if (placeAcross >= 0)
    across.send(call, placeAcross, data, bytes);
  here.send(call, placeHere, data, bytes);
  return call.exchange();
}

} // namespace tessera
