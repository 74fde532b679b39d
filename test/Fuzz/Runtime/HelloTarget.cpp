//===- HelloTarget.cpp - what processes tell each other at first ----------===//
// One byte says what the others are.
#include "runtime/collectives/process/Hello.h"
#include "test/Fuzz/Runtime/Fuzzed.h"

using namespace tessera;
using namespace fuzzed;

static void takeHello(const std::string &text) {
  Hello hello = readHello(text);
  disagreement(hello, Hello{TESSERA_VERSION, 0, 2, 7, "m", {{"mesh", "tp=2"}}});
  if (hello.version != TESSERA_VERSION)
    return;
  require(hello.port >= 1 && hello.port <= 65535, "ports are ports");
  Hello again = readHello(writeHello(hello));
  require(disagreement(again, hello).empty() && again.rank == hello.rank &&
              again.port == hello.port && again.machine == hello.machine,
          "a hello is read as it was written");
}

static void takeTable(const std::string &text) {
  constexpr int64_t world = 2;
  Table table = readTable(text, world);
  require(table.processes.size() == world, "a table has all processes");
  Table again = readTable(writeTable(table), world);
  require(again.cookie == table.cookie &&
              again.processes[1].host == table.processes[1].host &&
              again.processes[1].port == table.processes[1].port,
          "a table is read as it was written");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input(data, size);
  uint8_t kind = input.byte();
  std::string text(input.rest());
  accepts([&] {
    if (kind % 3 == 0)
      takeHello(text);
    else if (kind % 3 == 1)
      takeTable(text);
    else
      require(writeGreeting(readGreeting(text)) == text,
              "a greeting is written as it was read");
  });
  return 0;
}
