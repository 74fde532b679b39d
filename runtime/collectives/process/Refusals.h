//===- Refusals.h - connections that were dropped, and why ------*- C++ -*-===//
// Tells the operator of this side, and nobody on the other one: the first of
// each kind at once, more of it from time to time, and all when nobody comes.
// The texts may quote strangers, and are made printable.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_REFUSALS_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_REFUSALS_H

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace tessera {

/// Takes a line for the operator.
using OperatorNote = std::function<void(const std::string &)>;

/// Reasons to drop a connection. Each is told once, and then seldom.
enum class Refusal {
  Foreign,  ///< speaks another protocol
  Secret,   ///< has none, has one, or has another
  Crowd,    ///< was silent while many came
  Late,     ///< did not bring its message in time
  Broken,   ///< closed, or could not be read
  Message,  ///< brought what is no message, or is too long
  Version,  ///< is another version of Tessera
  World,    ///< has another number of processes
  Rank,     ///< is no rank of the run
  Taken,    ///< is a rank that has come already
  Settings, ///< does not agree with rank 0
  OtherRun, ///< is of another run
};

class Refusals {
public:
  explicit Refusals(OperatorNote note = {}) : note(std::move(note)) {}

  void record(Refusal kind, const std::string &host, const std::string &why);
  /// Returns "" or "; 3 connections were refused: 2 times, the last from
  /// 10.0.0.7: why; ...".
  std::string describe() const;

private:
  struct Kind {
    int64_t count = 0;
    std::string last; ///< "10.0.0.7: why"
    std::chrono::steady_clock::time_point quietUntil{};
  };

  OperatorNote note;
  std::map<Refusal, Kind> kinds;
  int64_t total = 0;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_REFUSALS_H
