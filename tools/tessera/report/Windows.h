//===- Windows.h - what is computed beside communication --------*- C++ -*-===//
// A collective that is started early and waited for late has a window of the
// program. What is computed in several windows is counted once.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_REPORT_WINDOWS_H
#define TESSERA_TOOLS_TESSERA_REPORT_WINDOWS_H

#include <cstdint>
#include <vector>

namespace tessera {

/// Ops that compute, and their flops, per optimizer step.
struct Work {
  int64_t ops = 0;
  double flops = 0;
};

/// Calls `begin` to `end` - 1 of a program, by number.
struct Window {
  int64_t begin = 0, end = 0;
};

/// The work of a program's calls, in their order.
class ProgramWork {
public:
  /// Of the next call; nothing for one that communicates.
  void add(const Work &work);
  /// In any of the windows.
  Work inside(std::vector<Window> windows) const;
  int64_t calls() const { return static_cast<int64_t>(sums.size()) - 1; }

private:
  std::vector<Work> sums = std::vector<Work>(1); ///< Of the first n calls.
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_REPORT_WINDOWS_H
