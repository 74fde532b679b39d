//===- PrintError.cpp - errors of the driver ------------------------------===//

#include "tools/tessera/output/PrintError.h"
#include "tools/tessera/output/Output.h"
#include <mutex>

using namespace tessera;

static std::string errorPrefix;

void tessera::setErrorRank(int64_t rank) {
  errorPrefix = "rank " + std::to_string(rank) + ": ";
}

/// MLIR reports from several threads.
static std::mutex printedMutex;
static std::string printed;

void tessera::noteError(const std::string &message) {
  std::lock_guard<std::mutex> lock(printedMutex);
  printed += (printed.empty() ? "" : "\n") + message;
}

const std::string &tessera::printedErrors() { return printed; }

int tessera::printError(const std::string &message) {
  noteError(message);
  standardError() << errorPrefix + "error: " + printableMessage(message) + "\n";
  return 1;
}

int tessera::printError(llvm::Error error) {
  return printError(llvm::toString(std::move(error)));
}

bool tessera::printIfError(llvm::Error error) {
  return error && printError(std::move(error));
}

void tessera::printNote(const std::string &message) {
  flushOutput(); // in the order of what is printed there
  standardError() << errorPrefix + "note: " + printableMessage(message) + "\n";
}
