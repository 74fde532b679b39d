#include "runtime/collectives/process/Frames.h"

#include "runtime/support/Status.h"

#include <cstring>

namespace tessera {

static constexpr uint64_t frameMagic = 0x5453523146524D45; // "TSR1FRME"
static constexpr int64_t longestText = 1 << 20;

CallFrame frameOf(const Offer &offer) {
  CallFrame frame{};
  frame.magic = frameMagic;
  std::strncpy(frame.kind, offer.kind, sizeof frame.kind - 1);
  frame.op = offer.call.op;
  frame.axes = offer.call.axes;
  frame.count = offer.call.count;
  frame.dtype = offer.call.dtype;
  frame.reduction = offer.call.reduction;
  frame.outer = offer.call.outer;
  frame.rows = offer.call.rows;
  frame.gathersOuter = offer.call.gathersOuter;
  frame.root = offer.root;
  return frame;
}

bool isFrame(CallFrame &frame) {
  frame.kind[sizeof frame.kind - 1] = 0;
  return frame.magic == frameMagic;
}

Offer offerOf(const CallFrame &frame) {
  Offer offer;
  offer.kind = frame.kind;
  offer.call.op = frame.op;
  offer.call.axes = frame.axes;
  offer.call.count = frame.count;
  offer.call.dtype = static_cast<int>(frame.dtype);
  offer.call.reduction = static_cast<int>(frame.reduction);
  offer.call.outer = frame.outer;
  offer.call.rows = frame.rows;
  offer.call.gathersOuter = frame.gathersOuter != 0;
  offer.root = frame.root;
  return offer;
}

tsr_status ControlMessage::status() const {
  bool isKnown = code >= TSR_INVALID_ARGUMENT && code <= TSR_INTERNAL;
  return isKnown ? static_cast<tsr_status>(code) : TSR_INTERNAL;
}

int64_t ControlMessage::waitsForOf(int lane, int64_t ranks) const {
  int64_t next = waitsFor[lane];
  return next >= 0 && next < ranks ? next : -1;
}

void sendControl(const Socket &socket, ControlMessage message,
                 const std::string &text, Deadline deadline) {
  message.textBytes = static_cast<int64_t>(text.size());
  sendAll(socket, &message, sizeof message, deadline);
  sendAll(socket, text.data(), text.size(), deadline);
}

ControlMessage receiveControl(const Socket &socket, std::string *text,
                              Deadline deadline) {
  ControlMessage message;
  receiveAll(socket, &message, sizeof message, deadline);
  if (message.kind < ControlMessage::Failed ||
      message.kind > ControlMessage::Goodbye || message.textBytes < 0 ||
      message.textBytes > longestText)
    fail(TSR_IO, peerName(socket), " sent what is no message");
  text->resize(message.textBytes);
  receiveAll(socket, text->data(), text->size(), deadline);
  return message;
}

} // namespace tessera
