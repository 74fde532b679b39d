//===- GroupCall.h - one call of a group of processes -----------*- C++ -*-===//
// Algorithms need to know who the members are, on which hosts, and exchange
// bytes with them. In the first exchange of a call each member sends its frame
// to the member before it, so calls that differ anywhere are noticed, whatever
// the algorithm.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_GROUPCALL_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_GROUPCALL_H

#include "runtime/collectives/HostTree.h"
#include "runtime/collectives/process/ProcessExchange.h"

namespace tessera {

/// The members of a group, by their places in it.
struct CallGroup {
  std::vector<int64_t> ranks;
  int64_t member = 0; ///< this rank's place
  HostTree hosts;

  int64_t size() const { return static_cast<int64_t>(ranks.size()); }
  /// Returns the member `steps` places after this one, in a circle.
  int64_t after(int64_t steps) const {
    return ((member + steps) % size() + size()) % size();
  }
};

/// Memory of one call at a time; what it has given is valid until `reset`.
class Scratch {
public:
  void reset();
  unsigned char *take(int64_t bytes);

private:
  struct Chunk {
    std::unique_ptr<unsigned char[]> data;
    int64_t bytes, used;
  };
  std::vector<Chunk> chunks;
};

class GroupCall {
public:
  GroupCall(ProcessWorld &world, const CallGroup &group, ProcessCall call)
      : group(group), world(world), call(std::move(call)) {}

  const CallGroup &group;

  /// Adds to what is sent to a member, or received from it, in the next
  /// exchange; in the same order on both sides.
  void send(int64_t member, const void *data, int64_t bytes);
  void receive(int64_t member, void *data, int64_t bytes);
  /// Exchanges frames with a member both ways, besides what is sent.
  void meet(int64_t member);
  Status exchange();

private:
  Transfer &transferOf(int64_t member);

  ProcessWorld &world;
  ProcessCall call;
  std::vector<Transfer> transfers;
  bool isFirst = true;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_GROUPCALL_H
