//===- DeclaredOptions.h - the options of every subcommand ------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_DECLAREDOPTIONS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_DECLAREDOPTIONS_H

#include "tessera/Options/PlanFlags.h"
#include "tools/tessera/options/DriverOptions.h"
#include "tools/tessera/options/HelpText.h"
#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tessera {

/// Ends the parsing with an error.
[[noreturn]] void refuse(const std::string &message);
void refuseUnless(const std::string &why);

/// Returns the text of an option, or of its default value if it is not given.
std::string givenText(const CLI::Option &option);

/// When an option is fixed: in an imported program, in a .tsr file, or not
/// before its run.
enum class Fate { Imported, Compiled, Replaceable };

/// Which options of PlanFlags.def a command has.
enum class Extent { Import, Plan };

/// The parser with all commands and their options, whose values go to
/// `options`.
class DeclaredOptions {
protected:
  explicit DeclaredOptions(DriverOptions &options);
  /// Of PlanFlags.def alone.
  bool isGiven(const std::string &name) const;

  struct Flag {
    std::string name;
    const CLI::Option *option;
    FlagCheck check;
    Fate fate;
  };

  DriverOptions &options;
  std::shared_ptr<HelpFormatter> formatter = std::make_shared<HelpFormatter>();
  CLI::App app{"Tessera compiles a Transformer into a distributed training "
               "program and runs it",
               "tessera"};
  std::string rendezvous, secretFile;
  std::map<MeshAxis, int64_t> aliases; ///< Sizes of axes; 0: not given.
  std::map<MeshAxis, std::string> aliasNames;
  std::vector<Flag> flags; ///< Of the table, of all commands.
  CLI::Option *resume = nullptr;
  CLI::App *train = nullptr, *evaluate = nullptr, *planning = nullptr;

private:
  void declareCommands();
  void setDefaults(CLI::App *generate, CLI::App *encode);
  CLI::App *command(Command command, const char *name, const char *what,
                    const char *example);
  void addModel(CLI::App *sub);
  void addPlan(CLI::App *sub, Extent extent);
  void addPlanFile(CLI::App *sub);
  void addMeshAlias(CLI::App *sub, MeshAxis axis, const char *name);
  void beginGroup(CLI::App *sub, const std::string &title,
                  const std::string &example);
  void addRanks(CLI::App *sub);
  void addData(CLI::App *sub);
  void addCheckpoints(CLI::App *sub);
  void addLaunch(CLI::App *sub);
  void addTrust(CLI::App *sub);
  void addThreads(CLI::App *sub);
  /// Of what runs a model: its weights, trust in them and threads.
  void addModelWeights(CLI::App *sub);
  void addEvalOptions(CLI::App *sub);
  void addEvaluations(CLI::App *sub);
  void addSamples(CLI::App *sub);
  void addEvaluate(CLI::App *sub);
  void addGenerate(CLI::App *sub);
  void addEncode(CLI::App *sub);
  void addTraining(CLI::App *sub);
  void addOutput(CLI::App *sub, const std::string &extension, const char *what);
  void addJson(CLI::App *sub);
  void addHtml(CLI::App *sub, const char *what);
  void addReport(CLI::App *sub);
  void addSimulate(CLI::App *sub);
  void addCalibrate(CLI::App *sub);
  CLI::Option *addCluster(CLI::App *sub, const char *what);
  void requireCluster(CLI::App *sub);
  void addExplore(CLI::App *sub);
  void addPlanning(CLI::App *sub);
  CLI::Option *addAdapter(CLI::App *sub);
  void addSigning(CLI::App *sub);
  void addMerging(CLI::App *sub);
  void addTokenizing(CLI::App *sub);
  void addDocuments(CLI::App *sub, TokenizeOptions &tokenize);
  void keep(const std::string &name, const CLI::Option *option, FlagCheck check,
            Fate fate) {
    flags.push_back({name, option, check, fate});
  }
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_DECLAREDOPTIONS_H
