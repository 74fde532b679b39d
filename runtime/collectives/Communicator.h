//===- Communicator.h - how ranks exchange data -----------------*- C++ -*-===//
// One rank's endpoint. Ranks are threads of one process (thread/) or processes
// (process/); NCCL is the CUDA device's (runtime/cuda/nccl). Every call is
// blocking, collective over its group, and returns the first failure of any
// rank to all ranks; after that the endpoint only ever returns that failure.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_COMMUNICATOR_H
#define TESSERA_RUNTIME_COLLECTIVES_COMMUNICATOR_H

#include "runtime/support/Status.h"
#include "tessera/abi.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera {

/// Selects the rows [experts, tokens, ..] that are sent, or that exist: those
/// whose gate, in [tokens, experts], is not 0.
struct Routing {
  const void *gates = nullptr; ///< null: all rows
  int64_t experts = 0, tokens = 0, rowElements = 0;
  bool isDouble = false; ///< else f32

  bool routes(int64_t token, int64_t expert) const {
    const int64_t at = token * experts + expert;
    return isDouble ? static_cast<const double *>(gates)[at] != 0
                    : static_cast<const float *>(gates)[at] != 0;
  }
  /// Returns whether row number expert * tokens + token is sent.
  bool sends(int64_t row) const { return routes(row % tokens, row / tokens); }
  /// Sets rows of a whole result that are not sent to zero.
  void clearUnsent(void *result, int64_t elementBytes) const;
};

/// The arguments of a collective (abi.h), plus what diagnostics need.
struct Collective {
  int64_t op = -1;   ///< index into the metadata's ops
  int64_t axes = 0;  ///< bit set of mesh axes
  int64_t count = 0; ///< elements
  int dtype = TSR_DTYPE_F32;
  int reduction = TSR_REDUCE_SUM;
  int64_t outer = 1;
  int64_t rows = 1;          ///< for all_to_all
  bool gathersOuter = false; ///< for all_to_all
  Routing routing;           ///< for all_to_all, the rank's own
};

/// Several tensors that one call gathers or scatters.
struct Coalesced {
  struct Member {
    Collective call;
    const void *source = nullptr;
    void *result = nullptr;
  };
  Collective call; ///< `count` is that of all members
  std::vector<Member> members;
};

/// One side of a point to point message. `peer` is a global rank.
struct Message {
  int64_t op = -1;
  int64_t peer = 0;
  int64_t bytes = 0;
};

/// One side of a message that was started. `begin` and `end` are those of its
/// transfer, once it is finished.
struct StartedMessage {
  virtual ~StartedMessage() = default;
  std::chrono::steady_clock::time_point begin, end;
};

/// Who calls a rank's collectives: its program, or the thread that runs what
/// the program starts. Each is matched by its own kind.
enum class Lane { Program, Background };

/// `distance` ranks along the ring of a group: `call.count` elements for the
/// rank `next`, as many from the rank `previous` (global ranks).
struct Shift {
  Collective call;
  int64_t next = 0, previous = 0;
  /// If ranks send to each other in a circle, one must send first and one
  /// receive first.
  bool sendsFirst = false;
  int64_t distance = 1;
};

/// Between a member's slice [outer, 2, count] of 2 n chunks, those numbered
/// 2 r and 2 r + 1, and its chunks r and 2 n - 1 - r, of [outer, count] each.
struct Zigzag {
  Collective call;
  std::vector<int64_t> ranks; ///< global ranks of the group, in order
  int64_t member = 0;         ///< this rank's place in it, r
  bool makesWhole = false;    ///< else chunks of the slice

  int64_t size() const { return static_cast<int64_t>(ranks.size()); }
  /// Returns whose slice chunk number `chunk` is in; it is half number chunk %
  /// 2.
  static int64_t slicedAt(int64_t chunk) { return chunk / 2; }
  /// Returns the rank that has the chunk as an early or a late one.
  int64_t pairedAt(int64_t chunk) const {
    return isEarly(chunk) ? chunk : 2 * size() - 1 - chunk;
  }
  bool isEarly(int64_t chunk) const { return chunk < size(); }
};

/// A rank's buffers of a zigzag.
struct ZigzagBuffers {
  void *whole = nullptr, *early = nullptr, *late = nullptr;

  void *chunk(bool isEarly) const { return isEarly ? early : late; }
};

struct RowExchange;

class Communicator {
public:
  virtual ~Communicator() = default;

  /// data[count], in place; adds neighbours first (Reduce.h).
  virtual Status allReduce(const Collective &call, void *data) = 0;
  /// src [outer, count] -> dst [outer, n, count].
  virtual Status allGather(const Collective &call, const void *src,
                           void *dst) = 0;
  /// src [outer, n, count] -> dst [outer, count].
  virtual Status reduceScatter(const Collective &call, const void *src,
                               void *dst) = 0;
  /// Makes as many calls in one. The default makes them one after the other.
  virtual Status allGatherCoalesced(const Coalesced &what);
  virtual Status reduceScatterCoalesced(const Coalesced &what);
  /// src [outer, rows, n, count] -> dst [outer, n, rows, count] with
  /// `gathersOuter`, else from the latter form to the former. Rows of dst that
  /// are not sent are set to zero.
  virtual Status allToAll(const Collective &call, const void *src,
                          void *dst) = 0;
  /// Rows of src, of which each member gets some -> dst (RowExchange.h).
  virtual Status exchangeRows(const RowExchange &exchange, const void *src,
                              void *dst) = 0;
  /// data[count] of the group's member number `root` to all.
  virtual Status broadcast(const Collective &call, int64_t root,
                           void *data) = 0;
  virtual Status barrier(const Collective &call) = 0;
  /// Returns when the receiver has the data. A message is matched by the
  /// receive of the same pair, in order; both sides must agree on the bytes.
  virtual Status send(const Message &message, const void *data) = 0;
  virtual Status receive(const Message &message, void *data) = 0;
  /// The same, but they return at once, and `finish` does when the receiver has
  /// the data. Here: null, since a thread has to send and receive.
  virtual std::shared_ptr<StartedMessage> startSend(const Message &message,
                                                    const void *data);
  virtual std::shared_ptr<StartedMessage> startReceive(const Message &message,
                                                       void *data);
  virtual Status finish(StartedMessage &message);

  /// src [count] of an earlier rank -> dst. Here: a send and a receive, whose
  /// order leaves no ring in which all wait.
  virtual Status shift(const Shift &call, const void *src, void *dst);
  /// Exchanges chunks. The default sends messages in the order of chunks; all
  /// ranks have the same order, so the first that has not been sent has nobody
  /// to wait for.
  virtual Status zigzag(const Zigzag &call, const ZigzagBuffers &buffers);

  /// Makes the present and future calls of all ranks fail with `status`; the
  /// first one wins.
  virtual void abort(const Status &status) = 0;
  /// OK until a rank failed.
  virtual Status failure() const = 0;
  virtual bool failed() const = 0;

  /// Returns an endpoint of the same rank for another lane, for one other
  /// thread.
  virtual std::unique_ptr<Communicator> forLane(Lane lane) = 0;

  /// Describes the others for diagnostics: "rank 1 is in ...; rank 2 has left
  /// the program".
  virtual std::string describeOthers() = 0;

  /// Progress of this rank, for diagnostics: it has reached `op`, or it has
  /// left the program, so that nobody needs to wait for it.
  virtual void reached(int64_t op) = 0;
  virtual void entered() = 0;
  virtual void left() = 0;
  /// This rank reads or writes files: others in other processes wait longer.
  virtual void worksOnFiles(bool) {}
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_COMMUNICATOR_H
