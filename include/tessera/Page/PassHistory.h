//===- PassHistory.h - the program after each pass --------------*- C++ -*-===//
// The history that a page shows: the changes of each pass, with names of values
// that stay as they are while the ops that make them stay (docs/Page.md).
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PAGE_PASSHISTORY_H
#define TESSERA_PAGE_PASSHISTORY_H

#include "lib/Page/ProgramLines.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include <map>

namespace tessera {

class PassHistory {
public:
  /// Takes what the compiler's PassObserver is told.
  void add(llvm::StringRef pass, llvm::StringRef what, mlir::ModuleOp module);

  /// `passes` are those that changed what is shown, with their `number` among
  /// all, as --dump-ir has it. To get from the lines before a pass to those
  /// after it, each of its `edits` keeps lines, leaves lines out and adds
  /// lines. A line is a number of `facts` and a text.
  llvm::json::Value json();

private:
  struct Line {
    ProgramLine source;
    std::vector<std::string> names; ///< In the form that is shown.
    std::string text;               ///< With these.
    int64_t facts = 0;
  };

  void nameValues(std::vector<Line> &lines,
                  const std::vector<int64_t> &continued);
  std::string freshName() { return std::to_string(nextName++); }
  int64_t numberOf(const LineFacts &facts);

  std::vector<Line> lines; ///< After the last pass.
  llvm::json::Array passes, factsJson;
  std::map<LineFacts, int64_t> factsNumbers;
  int64_t nextPass = 0, nextName = 0;
};

} // namespace tessera

#endif // TESSERA_PAGE_PASSHISTORY_H
