//===- PrintError.h - errors of the driver ----------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OUTPUT_PRINTERROR_H
#define TESSERA_TOOLS_TESSERA_OUTPUT_PRINTERROR_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace tessera {

/// Prefixes all later errors with "rank N: ", for a run of several processes.
void setErrorRank(int64_t rank);

/// Prints "error: message" to standard error and returns 1.
int printError(const std::string &message);
int printError(llvm::Error error);
/// Prints an error if there is one. Returns whether there was.
bool printIfError(llvm::Error error);

/// Remembers an error that somebody else has printed, without "error: ".
void noteError(const std::string &message);
/// Returns all errors so far, a line each.
const std::string &printedErrors();
/// Prints "note: message" to standard error: nothing is wrong, but one may not
/// expect it.
void printNote(const std::string &message);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OUTPUT_PRINTERROR_H
