//===- main.cpp - the driver ----------------------------------------------===//

#include "Commands.h"

using namespace tessera;

int main(int argc, char **argv) {
  DriverOptions options;
  int exitCode = 0;
  if (!parseCommandLine(argc, argv, options, exitCode))
    return exitCode;
  switch (options.command) {
  case Command::Import:
    return runImport(options);
  default:
    return 1;
  }
}
