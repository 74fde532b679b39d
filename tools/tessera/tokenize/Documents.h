//===- Documents.h - the texts of files -------------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TOKENIZE_DOCUMENTS_H
#define TESSERA_TOOLS_TESSERA_TOKENIZE_DOCUMENTS_H

#include "tools/tessera/options/DriverOptions.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace tessera {

/// What is done with a document; returns what is wrong with it, or "".
using DocumentVisitor =
    llvm::function_ref<std::string(const std::string &text)>;

/// Visits the documents of all texts in order, one in memory at a time. Returns
/// what is wrong, with the file and the line; "" if nothing is.
std::string visitDocuments(const TokenizeOptions &options,
                           DocumentVisitor visit);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TOKENIZE_DOCUMENTS_H
