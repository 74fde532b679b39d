//===- PlanGroup.h - the options of a plan ----------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_PLANGROUP_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_PLANGROUP_H

#include "tessera/Options/PlanFlags.h"
#include "tessera/Plan/PlanFile.h"
#include "tools/tessera/options/OptionGroups.h"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace tessera {

/// Says when an option is fixed: in an imported program, in a .tsr file, or not
/// before its run.
enum class Fate { Imported, Compiled, Replaceable };

/// The options of PlanFlags.def of one command: their declaration, what is
/// given of them, and whether they go together.
class PlanGroup {
public:
  explicit PlanGroup(PlannedModel &options) : options(options) {}

  /// Declares the table. A command that runs none but `programs` hides the
  /// options whose purpose none of them has: they are parsed, so that the
  /// refusal says why. Other rules, and the command itself, hide nothing.
  void declare(CLI::App &app, const std::vector<ProgramSet> &programs = {});
  /// Declares the options of a serial program.
  void declareImport(CLI::App &app);
  /// Declares --ranks; the most ranks are a matter of the mesh.
  void declareRanks(CLI::App &app);
  /// Declares --plan, a file with values of the options of PlanFlags.def.
  void declarePlanFile(CLI::App &app);

  bool isGiven(const std::string &name) const;
  /// Returns when an option of the table is fixed; nothing of any other.
  std::optional<Fate> fateOf(const std::string &name) const;
  /// Returns whether an option of the table names no file and is no other word
  /// for --mesh.
  bool isChoice(const std::string &name) const;
  /// Returns the options that are given, and their texts, with --mesh in the
  /// place of other words for it.
  std::map<std::string, std::string> givenTexts() const;
  /// Returns the first given option that names a file; "" if there is none.
  std::string givenPath() const;
  GivenFlags givenRate() const;

  /// Returns the options that are given, except those about what a cluster or a
  /// search is yet to decide.
  GivenFlags given(const std::vector<FlagPurpose> &undecided = {}) const;

  /// Takes texts of options of the table as if the command line said them.
  void give(CLI::App &app, const std::map<std::string, std::string> &texts);
  /// Takes what --plan says and completes the mesh.
  void read(CLI::App &app);
  /// Returns what the file of --plan says, once it is read.
  const plan::PlanFile &file() const { return planned; }
  /// Chooses the programs of a command that runs one kind of them. An artifact
  /// has its own.
  void choosePrograms(ProgramSet programs);
  /// Refuses programs without a training step.
  void requireTraining() const;
  /// Completes the plan, refuses what does not go together and what would be
  /// ignored. Nothing changes an artifact.
  void checkRules(const GivenFlags &given);
  /// Completes the learning rate and refuses parts of it that do not go
  /// together. An artifact has the rest of them.
  void completeRate();
  /// Refuses options that a compiled model has fixed, and keys for a model that
  /// is compiled now.
  void checkArtifact() const;
  /// Makes all of these checks, for a command that compiles or describes a
  /// plan.
  void check();
  /// Reads and checks, for a command that does nothing between.
  void check(CLI::App &app);

private:
  struct Flag {
    std::string name;
    const CLI::Option *option;
    FlagCheck check;
    Fate fate;
  };

  using Chooses = std::function<bool(Fate, FlagPurpose)>;
  void declareTable(CLI::App &app, const Chooses &isDeclared,
                    const Chooses &isShown);
  void declareMeshAlias(CLI::App &app, MeshAxis axis, const char *name);
  void applyPlan(CLI::App &app);
  void applyOption(CLI::App &app, const std::string &name,
                   const std::string &text);
  void checkMesh();

  PlannedModel &options;
  plan::PlanFile planned;
  std::vector<Flag> flags;
  std::map<MeshAxis, int64_t> aliases; ///< Sizes of axes; 0: not given.
  std::map<MeshAxis, std::string> aliasNames;
};

/// Declares the argument that names the model.
void declareModel(CLI::App &app, ModelArgument &options, ModelKinds kinds);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_PLANGROUP_H
