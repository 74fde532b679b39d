//===- Verify.cpp - tessera verify ----------------------------------------===//

#include "Commands.h"

int tessera::runVerify(const DriverOptions &options) {
  (void)options;
  return printError("verify is not built into this version");
}
