//===- Answers.h - what the page of tessera explore is answered -*- C++ -*-===//
// A plan is compiled by a process of its own, `tessera explore --json`, so that
// nothing that it does can end the server.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_EXPLORE_ANSWERS_H
#define TESSERA_TOOLS_TESSERA_EXPLORE_ANSWERS_H

#include "tools/tessera/explore/ExploreOptions.h"
#include "tools/tessera/explore/PageServer.h"
#include "llvm/Support/JSON.h"
#include <condition_variable>
#include <mutex>

namespace tessera {

class Answers {
public:
  explicit Answers(const ExploreOptions &options);

  /// The options that may be chosen, with their values at the start.
  llvm::json::Value choices() const;

  /// `body` is {"options": {"--mesh": "tp=2", "--sequence-parallel": true}}.
  /// The answer is {"data": .., "notes": ".."}, of which data are those of
  /// `tessera explore --json`, or {"error": ".."}. One plan is compiled at a
  /// time, and few wait.
  std::string to(const std::string &body, const IsAwaited &isAwaited);

private:
  llvm::Expected<std::vector<std::string>> wordsOf(llvm::StringRef body) const;
  llvm::Error addOption(llvm::StringRef name, const llvm::json::Value &value,
                        std::vector<std::string> &words) const;
  std::string compile(const std::vector<std::string> &words,
                      const IsAwaited &isAwaited);

  const ExploreOptions &options;
  std::string program; ///< This one.
  std::mutex mutex;
  std::condition_variable isFree;
  bool isCompiling = false;
  int waiting = 0;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_EXPLORE_ANSWERS_H
