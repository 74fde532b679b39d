//===- Page.h - what a command says, as a page of HTML ----------*- C++ -*-===//
// One file that loads nothing else: the JSON that the command prints with
// --json, and the code that draws it (docs/Page.md).
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_PAGE_PAGE_H
#define TESSERA_TOOLS_TESSERA_PAGE_PAGE_H

#include "llvm/Support/JSON.h"
#include <string>

namespace tessera {

/// `command` ("report") says what `data` is, and so which sections there are.
std::string pageOf(llvm::StringRef command, llvm::StringRef title,
                   const llvm::json::Value &data);

/// Writes the page; nothing where `path` is empty. False after an error that
/// has been printed.
bool writePage(const std::string &path, llvm::StringRef command,
               llvm::StringRef title, const llvm::json::Value &data);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_PAGE_PAGE_H
