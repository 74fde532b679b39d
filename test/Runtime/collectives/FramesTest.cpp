//===- FramesTest.cpp - what processes say of a call and of themselves ----===//
#include "runtime/collectives/process/Frames.h"
#include "runtime/support/Status.h"

#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <pthread.h>
#include <thread>

using namespace tessera;

namespace {

Deadline soon() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(300);
}

TEST(Frames, HoldAllOfACall) {
  Offer offer;
  offer.kind = "reduce_scatter";
  offer.call.op = 1;
  offer.call.axes = 2;
  offer.call.count = 3;
  offer.call.dtype = TSR_DTYPE_BF16;
  offer.call.reduction = TSR_REDUCE_MAX;
  offer.call.outer = 4;
  offer.call.rows = 5;
  offer.call.gathersOuter = true;
  offer.root = 6;
  CallFrame frame = frameOf(offer);
  ASSERT_TRUE(isFrame(frame));
  Offer read = offerOf(frame);
  EXPECT_STREQ(read.kind, "reduce_scatter");
  EXPECT_EQ(read.call.op, 1);
  EXPECT_EQ(read.call.axes, 2);
  EXPECT_EQ(read.call.count, 3);
  EXPECT_EQ(read.call.dtype, TSR_DTYPE_BF16);
  EXPECT_EQ(read.call.reduction, TSR_REDUCE_MAX);
  EXPECT_EQ(read.call.outer, 4);
  EXPECT_EQ(read.call.rows, 5);
  EXPECT_TRUE(read.call.gathersOuter);
  EXPECT_EQ(read.root, 6);
}

TEST(Frames, OfStrangersAreNoneOrEnd) {
  CallFrame frame = frameOf({});
  frame.magic ^= 1;
  EXPECT_FALSE(isFrame(frame));
  frame = frameOf({});
  std::memset(frame.kind, 'x', sizeof frame.kind);
  EXPECT_TRUE(isFrame(frame));
  EXPECT_EQ(std::strlen(offerOf(frame).kind), sizeof frame.kind - 1);
}

TEST(ControlMessage, NamesRanksAndCodesThatExist) {
  ControlMessage message{ControlMessage::Here};
  for (int64_t peer : {0, 3}) {
    message.waitsFor[1] = peer;
    EXPECT_EQ(message.waitsForOf(1, 4), peer);
    EXPECT_EQ(message.waitsForOf(0, 4), -1);
  }
  for (int64_t peer : {-2, -1, 4, 5}) {
    message.waitsFor[1] = peer;
    EXPECT_EQ(message.waitsForOf(1, 4), -1);
  }
  for (int code : {TSR_INVALID_ARGUMENT, TSR_TIMEOUT, TSR_INTERNAL}) {
    message.code = code;
    EXPECT_EQ(message.status(), code);
  }
  for (int code : {int(TSR_OK), TSR_INTERNAL + 1}) {
    message.code = code;
    EXPECT_EQ(message.status(), TSR_INTERNAL);
  }
}

/// Two ends of one connection.
struct Pair {
  Pair() {
    std::vector<Socket> listeners = listenOn({"127.0.0.1", 0});
    near = connectTo({"127.0.0.1", portOf(listeners[0])}, "itself", soon());
    far = acceptFrom(listeners[0], soon());
  }
  Socket near, far;
};

/// Waits for a byte of the other side; returns how that ended, and after how
/// long.
std::pair<std::string, double> waitForByte(const Socket &socket,
                                           std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  try {
    char byte;
    receiveAll(socket, &byte, 1, start + time);
    return {"", elapsed()};
  } catch (const Error &error) {
    EXPECT_EQ(error.status.code, TSR_TIMEOUT);
    return {error.what(), elapsed()};
  }
}

TEST(Socket, SilentProcessIsGivenUpAtTheDeadline) {
  Pair pair;
  auto [why, seconds] = waitForByte(pair.near, std::chrono::milliseconds(200));
  EXPECT_EQ(why, "itself at 127.0.0.1 does not answer");
  EXPECT_GE(seconds, 0.2);
}

TEST(Socket, WhatIsThereIsReadAfterTheDeadline) {
  Pair pair;
  sendAll(pair.far, "x", 1, soon());
  EXPECT_EQ(waitForByte(pair.near, std::chrono::seconds(300)).first, "");
  sendAll(pair.far, "x", 1, soon());
  std::this_thread::sleep_for(std::chrono::milliseconds(100)); // it is there
  EXPECT_EQ(waitForByte(pair.near, std::chrono::milliseconds(-1)).first, "");
}

/// A signal interrupts the wait of a thread, which goes on waiting.
TEST(Socket, SignalsDoNotEndAWait) {
  struct sigaction handler {
  }, before{};
  handler.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR1, &handler, &before), 0);
  Pair pair;
  pthread_t waiting = pthread_self();
  std::thread other([&] {
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      pthread_kill(waiting, SIGUSR1);
    }
    sendAll(pair.far, "x", 1, soon());
  });
  EXPECT_EQ(waitForByte(pair.near, std::chrono::seconds(300)).first, "");
  other.join();
  sigaction(SIGUSR1, &before, nullptr);
}

TEST(ControlMessage, CarriesItsText) {
  Pair pair;
  for (std::string sent : {"", "why", "another"}) {
    ControlMessage message{ControlMessage::Failed, TSR_IO};
    sendControl(pair.near, message, sent, soon());
    std::string text = "before";
    ControlMessage got = receiveControl(pair.far, &text, soon());
    EXPECT_EQ(got.kind, ControlMessage::Failed);
    EXPECT_EQ(got.status(), TSR_IO);
    EXPECT_EQ(text, sent);
  }
}

TEST(ControlMessage, OfStrangersIsRefused) {
  constexpr int64_t longest = 1 << 20;
  struct Case {
    int64_t kind, textBytes;
    bool isRefused;
  };
  for (const Case &stranger : {Case{ControlMessage::Failed - 1, 0, true},
                               {ControlMessage::Failed, 0, false},
                               {ControlMessage::Goodbye, 0, false},
                               {ControlMessage::Goodbye + 1, 0, true},
                               {ControlMessage::Where, -1, true},
                               {ControlMessage::Where, longest + 1, true}}) {
    Pair pair;
    ControlMessage message{stranger.kind};
    message.textBytes = stranger.textBytes;
    sendAll(pair.near, &message, sizeof message, soon());
    std::string text, why;
    try {
      receiveControl(pair.far, &text, soon());
    } catch (const Error &error) {
      why = error.status.message;
    }
    EXPECT_EQ(why,
              stranger.isRefused ? "127.0.0.1 sent what is no message" : "")
        << stranger.kind << " with " << stranger.textBytes;
  }
}

} // namespace
