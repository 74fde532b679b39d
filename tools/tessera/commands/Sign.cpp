//===- Sign.cpp - tessera sign --------------------------------------------===//

#include "tessera/Artifact/ArtifactFile.h"
#include "tessera/Target/OutputFile.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;

namespace {

class Sign : public Command {
public:
  void declare(CLI::App &app) override;
  int run() override;

private:
  std::string path, output, key; ///< Files; output "": the .tsr file itself.
};

const CommandRegistration<Sign>
    registration({40, "sign", "Sign a .tsr file, for --trusted-key of train",
                  " model.tsr --key key.pem -o signed.tsr"});

} // namespace

void Sign::declare(CLI::App &app) {
  app.add_option("artifact", path, "The .tsr file")->required();
  beginGroup(app, "Signing", "--key key.pem");
  app.add_option("--key", key,
                 "File with an Ed25519 private key, as openssl genpkey "
                 "writes it")
      ->required()
      ->type_name("FILE");
  declareOutput(app, "tsr", "Output file (default: the .tsr file itself)",
                output);
}

int Sign::run() {
  if (std::string why =
          firstOf({checkSignable(path),
                   checkInput("--key", key,
                              "make one with: openssl genpkey -algorithm "
                              "ed25519 -out key.pem"),
                   checkOutput(output, "model.tsr")});
      !why.empty())
    return printError(why);
  const void *bytes = nullptr;
  size_t count = 0;
  if (tsr_artifact_sign(path.c_str(), key.c_str(), &bytes, &count) != TSR_OK)
    return printError(tsr_last_error());
  const std::string &written = output.empty() ? path : output;
  if (printIfError(writeFile(
          written, {llvm::StringRef(static_cast<const char *>(bytes), count)})))
    return 1;
  // A device or a pipe cannot be read again.
  if (!llvm::sys::fs::is_regular_file(written))
    return 0;
  ArtifactFile artifact;
  if (printIfError(artifact.load(written)))
    return 1;
  standardOutput() << "wrote " << printable(written) << ": signed by key "
                   << artifact.signer() << "\n";
  return 0;
}
