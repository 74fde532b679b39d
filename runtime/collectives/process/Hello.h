//===- Hello.h - what processes tell each other at first --------*- C++ -*-===//
// JSON from the other side of a connection: it is read within limits, every
// field is checked, and what is wrong is TSR_CORRUPT with the field's path.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_HELLO_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_HELLO_H

#include "runtime/support/Status.h"
#include "tessera/json_limits.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// Properties that must be the same in all processes, as (name, value).
using Agreement = std::vector<std::pair<std::string, std::string>>;

/// Describes the processor that a process computes with.
struct Processor {
  int64_t path = 0;     ///< a CpuPath
  std::string identity; ///< equal ones give equal bits
};

/// Describes what the processors of all processes have in common.
struct SharedProcessor {
  bool isMixed = false; ///< identities differ
  int64_t path = 0;     ///< the least
  int64_t rank = 0;     ///< the first that has it
};

/// The name in an agreement of what a program was compiled for.
constexpr const char *kProgramProcessor = "a program for the processor";

/// A process's message to rank 0.
struct Hello {
  std::string version;
  int64_t rank = 0, world = 1; ///< the process's, and how many there are
  int port = 0;                ///< the port on which it listens for the others
  std::string machine;         ///< processes of one machine have the same
  Agreement agreement;
  Processor processor = {};
  /// Processes have the same if what they send each other leaves no machine.
  std::string network = {};
};
std::string writeHello(const Hello &hello);
/// Reads a message; if it is of another version, only `version`, `rank` and
/// `world`.
Hello readHello(const std::string &text);
constexpr size_t longestHello = json_kinds::hello.bytes;

/// Rank 0's answer when all have come and agree.
struct Table {
  struct Process {
    std::string host; ///< "": the rendezvous's
    int port = 0;
    std::string machine, network = {};
  };
  uint64_t cookie = 0; ///< the first word between two processes
  std::vector<Process> processes;
  SharedProcessor processor = {};
};
std::string writeTable(const Table &table);
/// Writes rank 0's answer when something is wrong.
std::string writeRefusal(const Status &why);
/// Returns the table of a world, or the refusal as an Error.
Table readTable(const std::string &text, int64_t world);
constexpr size_t longestTable = json_kinds::rendezvous_table.bytes;

/// The first words on a connection between two ranks.
struct Greeting {
  uint64_t cookie = 0;
  int64_t rank = 0, purpose = 0;
};
std::string writeGreeting(const Greeting &greeting);
/// Reads a greeting. TSR_CORRUPT.
Greeting readGreeting(const std::string &bytes);

/// Returns why the process cannot take part with rank 0's; empty if it can.
std::string disagreement(const Hello &theirs, const Hello &own);

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_HELLO_H
