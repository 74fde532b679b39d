//===- MessageSeeds.cpp - messages between processes ----------------------===//
#include "runtime/collectives/process/Frames.h"
#include "runtime/collectives/process/Handshake.h"
#include "runtime/collectives/process/Hello.h"
#include "test/Fuzz/Runtime/Seeds.h"

using namespace tessera;
using namespace seeds;

namespace {

std::string withLength(const std::string &text) {
  return bytesOf(static_cast<uint32_t>(text.size())) + text;
}

void writeProcesses() {
  Agreement agreement = {{"mesh", "tp=2"}, {"seed", "1"}};
  std::string hello =
      writeHello({TESSERA_VERSION, 1, 2, 4001, "m1", agreement});
  std::string table =
      writeTable({uint64_t(1) << 63, {{"", 4000, "m0"}, {"h", 4001, "m1"}}});
  std::string refusal = writeRefusal({TSR_MISMATCH, "another version"});
  seed("Hello", "hello", '\0' + hello);
  seed("Hello", "table", '\1' + table);
  seed("Hello", "refusal", '\1' + refusal);
  auto seedHello = [](const char *name, const Hello &said) {
    seed("Hello", name, '\0' + writeHello(said));
  };
  seedHello("other-version", {"0", 1, 2, 4001, "m1", {}});
  seedHello("other-world", {TESSERA_VERSION, 1, 3, 4001, "m1", {}});
  seedHello("other-mesh", {TESSERA_VERSION, 1, 2, 1, "m", {{"mesh", "dp=2"}}});
  std::string triple = hello;
  triple.replace(triple.find("\"tp=2\""), 6, "\"tp=2\",1");
  seed("Hello", "triple", '\0' + triple);
  seed("Hello", "cookie", "\1{\"cookie\": \"1\"}");
  seed("Hello", "processes", "\1{\"cookie\": 1, \"processes\": []}");
  seed("Hello", "short-greeting", "\2greeting");
  seed("Hello", "greeting", '\2' + writeGreeting({1, 1, 2}));
  Opening opening = openingFor(Secret());
  std::string piece = bytesOf(opening) + withLength(hello);
  std::string other = bytesOf(opening).substr(0, 20);
  auto said = [](char who, const std::string &words) {
    return std::string{who, static_cast<char>(words.size())} + words;
  };
  seed("Reception", "two-callers",
       '\0' + said(0, other) + said(1, piece) + said(0, ""));
  std::string silent;
  for (char who = 0; who < 4; ++who)
    silent += said(who, "T");
  seed("Reception", "four-silent", '\0' + silent);
  seed("Reception", "no-process", '\0' + said(0, std::string(48, 'x')));
  seed("Reception", "no-secret", '\2' + said(0, bytesOf(opening)));
  seed("Reception", "long-message",
       '\0' + said(0, bytesOf(opening) + std::string(4, '\x7f')));
  opening.hasSecret = 1;
  seed("Reception", "wrong-secret",
       '\2' + said(0, bytesOf(opening) + std::string(32, 'p')));
  std::string called = bytesOf(opening);
  std::string longs, start = bytesOf(openingFor(Secret())) +
                             withLength(std::string(256, 'x')).substr(0, 200);
  for (char who = 0; who < 3; ++who)
    longs += said(who, start) + said(who, std::string(55, 'x'));
  seed("Reception", "three-long", '\0' + longs);
  auto meeting = [](const std::string &first, const std::string &second) {
    std::string words = "\4";
    for (const std::string &message : {first, second})
      words += std::string{static_cast<char>(message.size())} + message;
    return words;
  };
  seed("Reception", "meets-other-settings",
       meeting(hello, R"({"version":"x","rank":1,"world":2})"));
  seed("Reception", "meets-no-rank",
       meeting(R"({"version":"x","rank":1,"world":9})", "{}"));
  seed("Reception", "answer",
       '\1' + bytesOf(openingFor(Secret())) + withLength(table));
  seed("Reception", "answer-of-no-process", '\1' + std::string(48, 'x'));
  seed("Reception", "answer-wants-secret", '\1' + called);
  seed("Reception", "answer-has-no-secret",
       '\3' + bytesOf(openingFor(Secret())));
  seed("Reception", "answer-without-proof", '\3' + called + "proof");
  seed("Reception", "answer-wrong-proof", '\3' + called + std::string(32, 'p'));
}

void writeFrames() {
  Collective call;
  call.op = 3;
  call.axes = 2;
  call.count = 16;
  for (const char *kind : {"all_reduce", "all_to_all"})
    seed("Frame", kind, '\2' + bytesOf(frameOf({kind, call, 0, {}, {}})));
  ControlMessage here{ControlMessage::Here}, failed{ControlMessage::Failed};
  here.waitsFor[0] = 1;
  here.axes[0] = 3;
  failed.code = TSR_IO;
  failed.textBytes = 4;
  seed("Frame", "messages", '\1' + bytesOf(here) + bytesOf(failed) + "disk");
}

} // namespace

void seeds::writeMessages() {
  writeProcesses();
  writeFrames();
}
