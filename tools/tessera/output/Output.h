//===- Output.h - what the driver prints ------------------------*- C++ -*-===//
// Nothing else of the driver writes to standard output or standard error, since
// names and texts of files pass through here: they are printed as printable.hpp
// writes them, so that no byte of a file commands a terminal.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TOOLS_TESSERA_OUTPUT_OUTPUT_H
#define TESSERA_TOOLS_TESSERA_OUTPUT_OUTPUT_H

#include "tessera/printable.hpp"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <system_error>

namespace tessera {

/// Returns standard output or standard error. Line breaks and tabs stay; a
/// value that may hold them is passed through `printable`.
llvm::raw_ostream &standardOutput();
llvm::raw_ostream &standardError();

/// Prints to `standardOutput()` as printf does.
[[gnu::format(printf, 1, 2)]] void printFormatted(const char *format, ...);

/// Prints a text that a model has made or read. A file or a pipe gets its
/// bytes.
void printModelText(llvm::StringRef text);

/// Prints JSON in a line, or indented, in which characters that nobody sees are
/// escapes.
void printJson(const llvm::json::Value &value, unsigned indent = 0);

/// Moves the cursor back to the start of a line of a terminal and writes `line`
/// over what was there.
void printOverLine(llvm::StringRef line);

void flushOutput();

/// Flushes standard output, and returns the error of all writes to it: the disk
/// behind it may be full.
std::error_code finishOutput();

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OUTPUT_OUTPUT_H
