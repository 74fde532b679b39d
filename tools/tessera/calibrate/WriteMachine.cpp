//===- WriteMachine.cpp - the file that calibrate writes ------------------===//

#include "tools/tessera/calibrate/WriteMachine.h"
#include "tessera/Target/OutputFile.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;

int tessera::writeMachine(const DriverOptions &options,
                          const std::string &comment,
                          const simulate::Cluster &cluster) {
  std::string path = options.output.empty() ? "machine.toml" : options.output;
  std::string text = comment + simulate::clusterText(cluster);
  if (path == "-") {
    standardOutput() << text;
    return 0;
  }
  if (std::error_code error = writeOutput(path, {text}))
    return printError("cannot write '" + path + "': " + error.message());
  standardOutput() << "wrote " << printable(path) << ": "
                   << printable(cluster.name) << "\n";
  return 0;
}
