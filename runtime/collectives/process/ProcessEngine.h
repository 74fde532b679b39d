//===- ProcessEngine.h - what moves bytes between processes -----*- C++ -*-===//
// Collectives hand each exchange to the engine of the world: TCP, or an MPI.
// An engine only moves bytes. Which bytes, in which order they are summed, and
// what is said when a peer does not come, is decided above it.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSENGINE_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSENGINE_H

#include "runtime/collectives/Communicator.h"
#include "runtime/collectives/process/Frames.h"

#include <memory>
#include <vector>

namespace tessera {

/// Bytes that are sent.
struct OutBytes {
  const void *data = nullptr;
  int64_t bytes = 0;
};
/// Room for bytes that are received.
struct InBytes {
  void *data = nullptr;
  int64_t bytes = 0;
};

/// Bytes to a peer and bytes from it; a frame precedes either.
struct Transfer {
  int64_t peer = -1;
  std::vector<OutBytes> out = {};
  std::vector<InBytes> in = {};
  bool sends = true, receives = true; ///< a frame, and what follows it
};

/// The progress of one peer's part of a call.
struct Partner {
  Partner(const Transfer &transfer, const CallFrame &frame);

  const Transfer &transfer;
  CallFrame sent, got{};
  int64_t toSend = 0, toReceive = 0; ///< bytes, the frame's first; 0: none
  int64_t out = 0, in = 0;           ///< bytes done
  bool broken = false;

  bool sendsMore() const { return out < toSend; }
  bool receivesMore() const { return in < toReceive; }
  bool hasArrived() const { return in >= int64_t(sizeof got); }
  bool isDone() const { return !sendsMore() && !receivesMore(); }
};

/// The bytes of one call on their way. Destroying it gives up what is not done.
class Traffic {
public:
  virtual ~Traffic() = default;
  /// Moves what can be moved, or waits a moment if nothing can; updates the
  /// partners. The checks of the caller follow on each of these calls.
  virtual void advance() = 0;
};

class Engine {
public:
  virtual ~Engine() = default;
  /// Returns a name for users: "tcp".
  virtual const char *name() const = 0;
  /// Starts a call's transfers; `partners` outlive the traffic. One thread at a
  /// time for each lane.
  virtual std::unique_ptr<Traffic> start(Lane lane,
                                         std::vector<Partner> &partners) = 0;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSENGINE_H
