//===- Background.h - collectives that run beside the program ---*- C++ -*-===//
// A rank's communication thread: it runs what the program starts, in order,
// over groups of its own, and sleeps when there is nothing. Calls come from the
// rank's thread.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DEVICE_BACKGROUND_H
#define TESSERA_RUNTIME_DEVICE_BACKGROUND_H

#include "runtime/collectives/Communicator.h"
#include "runtime/device/Trace.h"

#include <functional>
#include <memory>

namespace tessera {

class Background {
public:
  using Job = std::function<Status(Communicator &)>;

  /// TSR_OUT_OF_MEMORY if no thread can be started.
  Background(std::unique_ptr<Communicator> communicator, int64_t rank);
  /// Waits for what runs.
  ~Background();

  /// `buffer` names the job until it is waited for; `trace` may be null.
  void start(int64_t op, const void *buffer, Job job, OpTrace *trace);
  /// Waits until the job of that buffer is done; returns its status.
  Status wait(const void *buffer);
  /// Waits until nothing runs any more, whatever came of it.
  void drain();

private:
  struct State;
  static void loop(const std::shared_ptr<State> &state);

  std::shared_ptr<State> state;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_DEVICE_BACKGROUND_H
