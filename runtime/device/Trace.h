//===- Trace.h - when each op of a step ran ---------------------*- C++ -*-===//
// A trace of one step has the begin and end of every op, per rank and thread,
// in Chrome's trace event format (chrome://tracing, ui.perfetto.dev).
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DEVICE_TRACE_H
#define TESSERA_RUNTIME_DEVICE_TRACE_H

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

struct Metadata;

/// The ops that one thread ran; written by that thread alone.
struct OpTrace {
  using Clock = std::chrono::steady_clock;
  struct Event {
    int64_t op;
    Clock::time_point begin, end;
    int64_t expertRounds; ///< 0: it does not number them
  };
  std::vector<Event> events;
  int64_t expertRounds = 0; ///< rounds of experts in the op that runs
  bool isComplete = true;   ///< false: there was no memory for some

  void add(const Event &event) noexcept {
    try {
      events.push_back(event);
    } catch (...) { // no memory: the trace lacks this op
      isComplete = false;
    }
  }
};

/// Notes an op from here to the end of the scope; nothing if there is no trace.
class TracedOp {
public:
  TracedOp(OpTrace *trace, int64_t op) : trace(trace), op(op) {
    if (trace)
      begin = OpTrace::Clock::now();
  }
  TracedOp(const TracedOp &) = delete;
  TracedOp &operator=(const TracedOp &) = delete;
  ~TracedOp() {
    if (trace)
      trace->add({op, begin, OpTrace::Clock::now(),
                  std::exchange(trace->expertRounds, 0)});
  }

private:
  OpTrace *trace;
  int64_t op;
  OpTrace::Clock::time_point begin;
};

/// The threads of a rank, and its messages that need none: when they were
/// copied.
struct RankTrace {
  OpTrace program, background, messages;

  /// Takes memory for a step of so many calls now, not while it runs.
  explicit RankTrace(int64_t calls = 0);

  /// Returns the threads in the order in which a trace numbers them.
  std::array<const OpTrace *, 3> threads() const {
    return {&program, &background, &messages};
  }
};

/// Writes the traces of all ranks, in order. Times count from the first event.
/// An op has its task and its micro-batch, which follows from how often its
/// thread ran it before. "otherData" tells the program from others: `mesh`,
/// `tokens` of a step and `arena_bytes`. Throws where the file cannot be
/// written.
void writeTrace(const std::string &path, const Metadata &metadata,
                const std::vector<const RankTrace *> &ranks);

} // namespace tessera

#endif // TESSERA_RUNTIME_DEVICE_TRACE_H
