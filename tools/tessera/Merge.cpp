//===- Merge.cpp - tessera merge ------------------------------------------===//

#include "tessera/tessera.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/report/PrintError.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;

int tessera::runMerge(const DriverOptions &options) {
  if (tsr_adapter_merge(options.model.c_str(), options.adapter.c_str(),
                        options.output.c_str()) != TSR_OK)
    return printError(tsr_last_error());
  llvm::outs() << "wrote " << options.output << "\n";
  return 0;
}
