//===- PrintError.cpp - errors of the driver ------------------------------===//

#include "tools/tessera/report/PrintError.h"
#include <cstdio>
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
  std::fprintf(stderr, "%serror: %s\n", errorPrefix.c_str(), message.c_str());
  return 1;
}

void tessera::printNote(const std::string &message) {
  std::fflush(stdout); // in the order of what is printed there
  std::fprintf(stderr, "%snote: %s\n", errorPrefix.c_str(), message.c_str());
}
