//===- Sign.cpp - tessera sign --------------------------------------------===//

#include "tessera/Target/OutputFile.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;

int tessera::runSign(const DriverOptions &options) {
  const void *bytes = nullptr;
  size_t count = 0;
  if (tsr_artifact_sign(options.model.c_str(), options.key.c_str(), &bytes,
                        &count) != TSR_OK)
    return printError(tsr_last_error());
  std::string output = options.output.empty() ? options.model : options.output;
  if (std::error_code error = writeOutput(
          output, {llvm::StringRef(static_cast<const char *>(bytes), count)}))
    return printError("cannot write '" + output + "': " + error.message());
  // A device or a pipe cannot be read again.
  if (!llvm::sys::fs::is_regular_file(output))
    return 0;
  ArtifactFile artifact;
  if (!artifact.load(output))
    return 1;
  standardOutput() << "wrote " << printable(output) << ": signed by key "
                   << artifact.signer() << "\n";
  return 0;
}
