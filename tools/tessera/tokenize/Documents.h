//===- Documents.h - the texts of files -------------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TOKENIZE_DOCUMENTS_H
#define TESSERA_TOOLS_TESSERA_TOKENIZE_DOCUMENTS_H

#include "tools/tessera/tokenize/TokenizeOptions.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace tessera {

/// The result of visiting a document.
struct Visit {
  std::string wrong;    ///< The fault of the document, or "".
  bool isEmpty = false; ///< It has no token.
};

using DocumentVisitor = llvm::function_ref<Visit(const std::string &text)>;

/// Counts what is in no document.
struct LeftOut {
  int64_t texts = 0; ///< They have no byte, or no token.
  int64_t lines = 0; ///< They are blank.

  /// "2 empty texts, 1 blank line", or "".
  std::string text() const;
};

/// Visits the documents of all texts in order, one in memory at a time. Texts
/// and lines that are empty are left out and counted, or refused if the options
/// are strict. Returns what is wrong, with the file and the line; "" if nothing
/// is.
std::string visitDocuments(const TokenizeOptions &options,
                           DocumentVisitor visit, LeftOut &leftOut);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TOKENIZE_DOCUMENTS_H
