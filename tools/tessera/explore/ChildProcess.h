//===- ChildProcess.h - a program that is run for its output ----*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_EXPLORE_CHILDPROCESS_H
#define TESSERA_TOOLS_TESSERA_EXPLORE_CHILDPROCESS_H

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace tessera {

struct ChildResult {
  std::string output, errors; ///< Standard output and error.
  /// Why these say nothing: it was not started, killed, or wrote too much.
  std::string failure;
  int exitCode = 0;
};

/// Runs a program with `words`, the first of which is its path, without a shell
/// and without an input, until it ends. It is killed where `isAwaited`, which
/// is asked several times a second, is false, or after `mostBytes` of output.
ChildResult runChild(const std::vector<std::string> &words, size_t mostBytes,
                     const std::function<bool()> &isAwaited);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_EXPLORE_CHILDPROCESS_H
