//===- ProcessGroup.h - what a session's processes agree on -----*- C++ -*-===//
// All calls are collective: each process makes the same ones, in the same
// order, and between steps.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SESSION_PROCESSGROUP_H
#define TESSERA_RUNTIME_SESSION_PROCESSGROUP_H

#include "runtime/session/SessionCore.h"

#include <functional>
#include <string>
#include <vector>

namespace tessera {

class ProcessGroup {
public:
  explicit ProcessGroup(const SessionCore &core) : core(core) {}

  /// Returns whether this process has all ranks.
  bool isOne() const { return core.world != nullptr; }
  /// Runs `body` in each process; if it fails in one, all throw.
  void together(const std::function<void()> &body) const;
  int32_t largest(int32_t value) const;
  /// TSR_MISMATCH: the processes' values differ; `what` names them.
  void checkSame(const std::string &what, int64_t value) const;
  /// Returns the values of all processes by rank.
  std::vector<int64_t> gatherAll(int64_t value) const;
  std::vector<std::string> gatherTexts(const std::string &text) const;
  /// Runs `gather`, which writes `count` values in the first process, and
  /// copies them to all.
  void gatherToAll(const std::function<void()> &gather, void *values,
                   int64_t count, int dtype) const;

private:
  Status gatherFailure(const Status &own) const;
  Collective overAll(int64_t count, int dtype) const;

  const SessionCore &core;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_PROCESSGROUP_H
