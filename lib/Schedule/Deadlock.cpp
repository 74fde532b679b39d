//===- Deadlock.cpp - can programs that wait for each other end? ----------===//

#include "tessera/Schedule/Deadlock.h"
#include <algorithm>

namespace tessera::pipeline {

namespace {

bool agree(const Event &a, const Event &b) {
  return a.what == b.what && a.microBatch == b.microBatch;
}

std::string contentOf(const Event &event) {
  if (event.microBatch < 0)
    return event.what;
  return event.what + " of micro-batch " + std::to_string(event.microBatch);
}

class Ranks {
public:
  explicit Ranks(const std::vector<std::vector<Event>> &programs)
      : programs(programs), next(programs.size()) {}

  std::string run();

private:
  const Event *head(int64_t rank) const;
  bool advance(int64_t rank);
  bool exchange(int64_t rank, const Event &event);
  bool meet(const Event &event);
  std::string describe(int64_t rank) const;
  std::string describeStop(int64_t rank) const;

  const std::vector<std::vector<Event>> &programs;
  std::vector<size_t> next;
  std::string mismatch;
};

/// Returns the event that a rank is in; null if its program has ended.
const Event *Ranks::head(int64_t rank) const {
  const std::vector<Event> &events = programs[rank];
  return next[rank] < events.size() ? &events[next[rank]] : nullptr;
}

bool Ranks::exchange(int64_t rank, const Event &event) {
  const Event *other = head(event.peer);
  Event::Kind wanted = event.kind == Event::Send ? Event::Receive : Event::Send;
  if (!other || other->kind != wanted || other->peer != rank)
    return false;
  if (!agree(*other, event)) {
    mismatch = describe(rank) + " passes " + contentOf(event) + ", but " +
               describe(event.peer) + " passes " + contentOf(*other);
    return false;
  }
  ++next[rank];
  ++next[event.peer];
  return true;
}

bool Ranks::meet(const Event &event) {
  for (int64_t member : event.group) {
    const Event *other = head(member);
    if (!other || other->kind != Event::Collective ||
        other->group != event.group)
      return false;
    if (!agree(*other, event)) {
      mismatch = describe(event.group.front()) + " and " + describe(member) +
                 " meet in " + contentOf(event) + " and " + contentOf(*other);
      return false;
    }
  }
  for (int64_t member : event.group)
    ++next[member];
  return true;
}

bool Ranks::advance(int64_t rank) {
  const Event *event = head(rank);
  if (!event || !mismatch.empty())
    return false;
  return event->kind == Event::Collective ? meet(*event)
                                          : exchange(rank, *event);
}

std::string Ranks::describe(int64_t rank) const {
  const Event *event = head(rank);
  return "rank " + std::to_string(rank) +
         (event ? " in " + event->name : " at its end");
}

/// Follows who waits for whom until it comes back.
std::string Ranks::describeStop(int64_t rank) const {
  std::string text;
  std::vector<int64_t> seen;
  while (std::find(seen.begin(), seen.end(), rank) == seen.end()) {
    const Event *event = head(rank);
    if (!event)
      return text + "rank " + std::to_string(rank) + " has ended";
    seen.push_back(rank);
    int64_t other = event->peer;
    if (event->kind == Event::Collective)
      for (int64_t member : event->group)
        if (const Event *at = head(member);
            !at || at->kind != Event::Collective || at->group != event->group)
          other = member;
    text += describe(rank) + " waits for rank " + std::to_string(other) + "; ";
    rank = other;
  }
  return text.substr(0, text.size() - 2);
}

std::string Ranks::run() {
  int64_t count = static_cast<int64_t>(programs.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (int64_t rank = 0; rank < count; ++rank)
      while (advance(rank))
        moved = true;
  }
  if (!mismatch.empty())
    return mismatch;
  for (int64_t rank = 0; rank < count; ++rank)
    if (head(rank))
      return describeStop(rank);
  return "";
}

} // namespace

std::string findDeadlock(const std::vector<std::vector<Event>> &programs) {
  return Ranks(programs).run();
}

} // namespace tessera::pipeline
