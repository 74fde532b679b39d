//===- Frames.h - what ranks send each other --------------------*- C++ -*-===//
// The fixed parts of the two kinds of connections between processes. A stranger
// may have sent them: every field has any value until it is checked.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_FRAMES_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_FRAMES_H

#include "runtime/collectives/process/Socket.h"
#include "runtime/collectives/thread/GroupBarrier.h"

#include <cstdint>
#include <string>

namespace tessera {

/// Precedes the bytes of a call on a data connection.
struct CallFrame {
  uint64_t magic;
  char kind[16];
  int64_t op, axes, count, dtype, reduction, outer, rows, gathersOuter, root;
};
CallFrame frameOf(const Offer &offer);
/// Returns whether a frame is one of this protocol; ends `kind`, which may have
/// come without its zero.
bool isFrame(CallFrame &frame);
/// Returns the offer of a frame; `kind` points into the frame, of which isFrame
/// is true.
Offer offerOf(const CallFrame &frame);

/// On a control connection, followed by its text.
struct ControlMessage {
  enum Kind : int64_t { Failed, Where, Here, Goodbye };
  int64_t kind = 0;
  int64_t code = 0;                       ///< Failed: a tsr_status
  int64_t op = -1, inside = 0, round = 0; ///< Here
  int64_t sent[2] = {0, 0};               ///< Here, by lane
  int64_t works = 0;                      ///< Here: on files
  int64_t waitsFor[2] = {-1, -1};         ///< Here, by lane; -1: nobody
  int64_t axes[2] = {0, 0};               ///< Here, by lane: of that call
  int64_t textBytes = 0;

  /// Returns `code`, or TSR_INTERNAL if it is none.
  tsr_status status() const;
  /// Returns the rank that the sender waits for in a lane, of `ranks`; -1:
  /// none.
  int64_t waitsForOf(int lane, int64_t ranks) const;
};
void sendControl(const Socket &socket, ControlMessage message,
                 const std::string &text, Deadline deadline);
/// Throws at the deadline, if the other side closes, and if what it sends is no
/// message.
ControlMessage receiveControl(const Socket &socket, std::string *text,
                              Deadline deadline);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_FRAMES_H
