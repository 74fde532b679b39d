//===- Page.h - what a command says, as a page of HTML ----------*- C++ -*-===//
// One file that loads nothing else: the JSON that the command prints with
// --json, and the code that draws it (docs/Page.md).
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PAGE_PAGE_H
#define TESSERA_PAGE_PAGE_H

#include "llvm/Support/JSON.h"
#include <string>

namespace tessera {

/// `command` ("report") says what `data` is, and so which sections there are.
/// `passes` is what a PassHistory has, or null. A page that is `served` asks
/// the server that it came from.
struct PageContent {
  llvm::StringRef command, title;
  const llvm::json::Value &data;
  llvm::json::Value passes = nullptr;
  bool isServed = false;
};
std::string pageOf(const PageContent &content);

/// Writes the page; nothing where `path` is empty.
llvm::Error writePage(const std::string &path, const PageContent &content);
inline llvm::Error writePage(const std::string &path, llvm::StringRef command,
                             llvm::StringRef title,
                             const llvm::json::Value &data) {
  return writePage(path, {command, title, data});
}

} // namespace tessera

#endif // TESSERA_PAGE_PAGE_H
