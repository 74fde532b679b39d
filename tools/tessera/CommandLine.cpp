//===- CommandLine.cpp - the command line of every subcommand -------------===//

#include "Options.h"
#include <CLI/CLI.hpp>

using namespace tessera;

namespace {

class CommandLine {
public:
  explicit CommandLine(DriverOptions &options) : options(options) {
    app.require_subcommand(1);
    CLI::App *import = add(Command::Import, "import",
                           "Import a Hugging Face config as an nn program");
    import
        ->add_option("model", options.model, "config.json, directory or .mlir")
        ->required();
    import->add_option("-o,--output", options.output, "Output file");
    import->add_option("--seq-length", options.sequence);
    import->add_option("--batch", options.batch);
    import->add_option("--micro-batches", options.microBatches);
    import->add_option("--precision", options.precision);
  }
  bool parse(int argc, char **argv, int &exitCode) {
    try {
      app.parse(argc, argv);
      return true;
    } catch (const CLI::ParseError &error) {
      exitCode = app.exit(error) ? 1 : 0;
      return false;
    }
  }

private:
  CLI::App *add(Command command, const char *name, const char *what) {
    CLI::App *sub = app.add_subcommand(name, what);
    sub->callback([this, command] { options.command = command; });
    return sub;
  }
  CLI::App app{"Tessera: compiles and trains distributed Transformers",
               "tessera"};
  DriverOptions &options;
};

} // namespace

bool tessera::parseCommandLine(int argc, char **argv, DriverOptions &options,
                               int &exitCode) {
  return CommandLine(options).parse(argc, argv, exitCode);
}
