//===- PrintError.cpp - errors of the driver ------------------------------===//

#include "tools/tessera/report/PrintError.h"
#include <cstdio>

using namespace tessera;

static std::string errorPrefix;

void tessera::setErrorRank(int64_t rank) {
  errorPrefix = "rank " + std::to_string(rank) + ": ";
}

int tessera::printError(const std::string &message) {
  std::fprintf(stderr, "%serror: %s\n", errorPrefix.c_str(), message.c_str());
  return 1;
}
