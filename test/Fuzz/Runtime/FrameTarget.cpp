//===- FrameTarget.cpp - what ranks send each other -----------------------===//
// A byte of flags; then the frame of a call, or messages of a control
// connection.
#include "runtime/collectives/Diagnosis.h"
#include "runtime/collectives/process/Frames.h"
#include "test/Fuzz/Runtime/Fuzzed.h"

#include <cstring>

using namespace tessera;
using namespace fuzzed;

static Mesh meshOf(bool hasStages) {
  Mesh mesh;
  mesh.axes = {{"pp", 2}, {"tp", 2}};
  mesh.stageAxis = hasStages ? 0 : -1;
  return mesh;
}

static std::string describeOp(int64_t op) { return concat("op ", op); }

static void takeFrame(std::string_view bytes, bool hasStages) {
  CallFrame frame{};
  std::memcpy(&frame, bytes.data(), std::min(bytes.size(), sizeof frame));
  if (!isFrame(frame))
    return;
  Offer theirs = offerOf(frame), own{"all_to_all", {}, 0, nullptr, nullptr};
  Mesh mesh = meshOf(hasStages);
  require(sameCall(mesh, theirs, theirs), "a call goes with itself");
  sameCall(mesh, own, theirs);
  isKnown(theirs.call);
  describeDisagreement(mesh.describe(theirs.call.axes), 0, own, 1, theirs);
  describeCall(theirs, describeOp);
  CallFrame again = frameOf(theirs);
  require(sameCall(mesh, theirs, offerOf(again)), "a frame says all of a call");
}

static void checkRoundTrip(const Sent &sent, const ControlMessage &message,
                           const std::string &text, Deadline deadline) {
  sendControl(sent.socket(), message, text, deadline);
  std::string again;
  ControlMessage same = receiveControl(sent.sender(), &again, deadline);
  require(again == text && same.kind == message.kind &&
              same.status() == message.status() && same.op == message.op,
          "a message is read as it was sent");
}

static void takeMessages(std::string_view bytes) {
  constexpr int64_t ranks = 4;
  Sent sent(bytes);
  Deadline deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::string text;
  while (true) {
    ControlMessage message = receiveControl(sent.socket(), &text, deadline);
    require(text.size() == static_cast<size_t>(message.textBytes),
            "a text is whole");
    require(message.status() != TSR_OK, "a failure has a code");
    checkRoundTrip(sent, message, text, deadline);
    describePlace({message.inside != 0, message.op}, describeOp);
    for (int lane : {0, 1}) {
      int64_t next = message.waitsForOf(lane, ranks);
      require(next >= -1 && next < ranks, "who is waited for is a rank");
      meshOf(true).describe(message.axes[lane]);
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input(data, size);
  uint8_t flags = input.byte();
  if (flags & 1)
    accepts([&] { takeMessages(input.rest()); });
  else
    takeFrame(input.rest(), flags & 2);
  return 0;
}
