//===- PlanGroup.cpp - the options of a plan ------------------------------===//

#include "tools/tessera/options/PlanGroup.h"
#include "tessera/Options/OptimizerDefaults.h"
#include "tessera/Options/PlanRules.h"
#include "tessera/Options/RateOptions.h"
#include "tools/tessera/options/Declare.h"
#include "tools/tessera/options/Suggestion.h"
#include <algorithm>

using namespace tessera;

//===----------------------------------------------------------------------===//
// Declaration
//===----------------------------------------------------------------------===//

void tessera::declareModel(CLI::App &app, ModelArgument &options,
                           ModelKinds kinds) {
  std::string what = "Hugging Face config.json, its directory";
  what += kinds == ModelKinds::Sources ? " or nn .mlir" : ", nn .mlir or .tsr";
  app.add_option("model", options.model, what)->required();
}

void PlanGroup::declareMeshAlias(CLI::App &app, MeshAxis axis,
                                 const char *name) {
  std::string flag = flagName(name);
  std::string help = "The same as " + std::string(nameOf(axis)) +
                     " in --mesh (default: as there)";
  aliasNames[axis] = flag;
  const CLI::Option *option =
      tessera::declare(app, flag, FlagCheck::Positive, aliases[axis], help);
  flags.push_back({flag, option, FlagCheck::Positive, Fate::Compiled});
}

void PlanGroup::declareTable(CLI::App &app, const Chooses &isDeclared,
                             const Chooses &isShown) {
  PlanOptions &plan = options.plan;
  auto keep = [&](const char *name, CLI::Option *option, FlagCheck check,
                  Fate fate, FlagPurpose purpose) {
    flags.push_back({flagName(name), option, check, fate});
    if (!isShown(fate, purpose))
      hide(*option);
  };
#define PLAN_GROUP(TITLE, EXAMPLE) beginGroup(app, TITLE, EXAMPLE);
#define PLAN_FLAG(FIELD, NAME, CHECK, FATE, PURPOSE, HELP)                     \
  if (isDeclared(Fate::FATE, FlagPurpose::PURPOSE))                            \
    keep(#NAME,                                                                \
         tessera::declare(app, flagName(#NAME), FlagCheck::CHECK, plan.FIELD,  \
                          HELP),                                               \
         FlagCheck::CHECK, Fate::FATE, FlagPurpose::PURPOSE);
#define DRIVER_FLAG PLAN_FLAG
#define PLAN_SWITCH(FIELD, NAME, VALUE, PURPOSE, HELP)                         \
  if (isDeclared(Fate::Compiled, FlagPurpose::PURPOSE))                        \
    keep(#NAME, declareSwitch(app, flagName(#NAME), #VALUE, plan.FIELD, HELP), \
         FlagCheck::NotNegative, Fate::Compiled, FlagPurpose::PURPOSE);
#define MESH_ALIAS(AXIS, NAME)                                                 \
  if (isDeclared(Fate::Compiled, FlagPurpose::General))                        \
    declareMeshAlias(app, MeshAxis::AXIS, #NAME);
#include "tessera/Options/PlanFlags.def"
}

void PlanGroup::declare(CLI::App &app,
                        const std::vector<ProgramSet> &programs) {
  declareTable(
      app, [](Fate, FlagPurpose) { return true; },
      [&](Fate, FlagPurpose purpose) {
        auto isUsed = [&](ProgramSet set) { return isUsedBy(purpose, set); };
        return programs.empty() ||
               std::any_of(programs.begin(), programs.end(), isUsed);
      });
}

void PlanGroup::declareImport(CLI::App &app) {
  declareTable(
      app, [](Fate fate, FlagPurpose) { return fate == Fate::Imported; },
      [](Fate, FlagPurpose) { return true; });
}

void PlanGroup::declareRanks(CLI::App &app) {
  beginGroup(app, "Parallelism");
  tessera::declare(app, "--ranks", FlagCheck::Positive, options.ranks,
                   "The most ranks that the mesh may have (default: no limit; "
                   "of a run 256)");
}

void PlanGroup::declarePlanFile(CLI::App &app) {
  beginGroup(app, "Parallelism");
  app.add_option("--plan", options.planFile,
                 "Take options from a file of tessera plan; options that are "
                 "given as well must say the same")
      ->type_name("FILE");
}

//===----------------------------------------------------------------------===//
// Given options
//===----------------------------------------------------------------------===//

bool PlanGroup::isGiven(const std::string &name) const {
  return std::any_of(flags.begin(), flags.end(), [&](const Flag &flag) {
    return flag.name == name && flag.option->count();
  });
}

std::optional<Fate> PlanGroup::fateOf(const std::string &name) const {
  for (const Flag &flag : flags)
    if (flag.name == name)
      return flag.fate;
  return std::nullopt;
}

bool PlanGroup::isChoice(const std::string &name) const {
  for (const auto &[axis, alias] : aliasNames)
    if (alias == name)
      return false;
  return std::any_of(flags.begin(), flags.end(), [&](const Flag &flag) {
    return flag.name == name && !namesPath(flag.check);
  });
}

std::map<std::string, std::string> PlanGroup::givenTexts() const {
  std::map<std::string, std::string> given;
  for (const Flag &flag : flags)
    if (flag.option->count())
      given[flag.name] = givenText(*flag.option);
  for (const auto &[axis, name] : aliasNames)
    if (given.erase(name))
      given["--mesh"] = options.plan.mesh.str();
  return given;
}

std::string PlanGroup::givenPath() const {
  for (const Flag &flag : flags)
    if (namesPath(flag.check) && flag.option->count())
      return flag.name;
  return "";
}

GivenFlags PlanGroup::givenRate() const {
  GivenFlags given;
  for (const std::string &name : flagsFor(FlagPurpose::LearningRate))
    if (isGiven(name))
      given.insert(name);
  return given;
}

//===----------------------------------------------------------------------===//
// The file of --plan
//===----------------------------------------------------------------------===//

void PlanGroup::give(CLI::App &app,
                     const std::map<std::string, std::string> &texts) {
  for (const auto &[name, text] : texts) {
    CLI::Option *option = app.get_option(name);
    option->add_result(text);
    option->run_callback();
  }
}

/// Takes what the file says as if it stood on the command line.
void PlanGroup::applyPlan(CLI::App &app) {
  if (options.planFile.empty())
    return;
  if (options.isArtifact())
    refuse("'" + options.model +
           "' is compiled already, so --plan cannot change it; give the "
           "config.json instead");
  refuseUnless(plan::readPlan(options.planFile, planned));
  refuseUnless(plan::checkModel(planned, options.planFile, options.model));
  for (const auto &[name, text] : planned.options)
    applyOption(app, "--" + name, text);
}

/// An option that is given besides must say the same.
void PlanGroup::applyOption(CLI::App &app, const std::string &name,
                            const std::string &text) {
  std::vector<std::string> shown;
  for (const Flag &flag : flags)
    if (!isHidden(*flag.option))
      shown.push_back(flag.name);
  if (!fateOf(name))
    refuse("'" + options.planFile + "': unknown option '" + name.substr(2) +
           "'; " +
           suggestion(nearestName(name, shown), "see tessera compile --help"));
  CLI::Option *option = app.get_option(name);
  if (option->count()) {
    std::string given = givenText(*option);
    if (given != text)
      refuse("'" + options.planFile + "' says " + name + " " + text +
             ", but the command line says " + given +
             "; leave out one of the two");
    return;
  }
  // The parser would take "5" for true.
  PlanOptions scratch;
  if (option->get_items_expected_max() == 0)
    if (std::string why = setPlannedFlag(scratch, name.substr(2), text);
        !why.empty())
      refuse("'" + options.planFile + "': " + why);
  try {
    give(app, {{name, text}});
  } catch (const CLI::ParseError &error) {
    std::string why = error.what();
    refuse("'" + options.planFile +
           "': " + (why.rfind("error: ", 0) == 0 ? why.substr(7) : why));
  }
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

void PlanGroup::read(CLI::App &app) {
  applyPlan(app);
  checkMesh();
}

/// The innermost axis of the aliases comes first: each goes outside of those
/// that are there.
void PlanGroup::checkMesh() {
  MeshShape &mesh = options.plan.mesh;
  for (auto alias = aliases.rbegin(); alias != aliases.rend(); ++alias) {
    auto [axis, size] = *alias;
    if (!size)
      continue;
    for (const MeshShape::Axis &known : mesh.axes)
      if (known.axis == axis && known.size != size)
        refuse("--mesh says " + std::string(nameOf(axis)) + "=" +
               std::to_string(known.size) + ", but " + aliasNames[axis] +
               " says " + std::to_string(size) + "; give one of the two");
    refuseUnless(mesh.add(axis, size));
  }
  int64_t ranks = options.plan.mesh.ranks();
  if (options.ranks && ranks > options.ranks)
    refuse("mesh " + options.plan.mesh.str() + " has " + std::to_string(ranks) +
           " ranks, but --ranks allows " + std::to_string(options.ranks) +
           "; use a smaller mesh or raise --ranks");
}

void PlanGroup::choosePrograms(ProgramSet programs) {
  ProgramSet &chosen = options.plan.programs;
  if (isGiven("--programs") && chosen != programs)
    refuse("this command runs --programs " + std::string(nameOf(programs)) +
           ", but --programs " + nameOf(chosen) + " is given; leave it out");
  if (!options.isArtifact())
    chosen = programs;
}

void PlanGroup::requireTraining() const {
  const ProgramSet programs = options.plan.programs;
  if (!trains(programs))
    refuse("--programs " + std::string(nameOf(programs)) +
           " makes no training step; leave it out");
}

GivenFlags PlanGroup::given(const std::vector<FlagPurpose> &undecided) const {
  GivenFlags given;
  for (const Flag &flag : flags)
    if (flag.option->count())
      given.insert(flag.name);
  for (FlagPurpose purpose : undecided)
    for (const std::string &name : flagsFor(purpose))
      given.erase(name);
  return given;
}

void PlanGroup::checkRules(const GivenFlags &given) {
  completePlan(options.plan, given);
  if (!options.isArtifact())
    refuseUnless(checkPlan(options.plan, given));
  options.plan.optimizer = completed(options.plan.optimizer);
}

void PlanGroup::completeRate() {
  if (!options.isArtifact())
    refuseUnless(tessera::completeRate(options.plan.learningRate, givenRate()));
}

void PlanGroup::checkArtifact() const {
  for (const Flag &flag : flags)
    if (options.isArtifact() && flag.fate != Fate::Replaceable &&
        flag.option->count())
      refuse("'" + options.model + "' is compiled already, so " + flag.name +
             " cannot change it; give the config.json instead");
  if (!options.trustedKeys.empty() && !options.isArtifact())
    refuse("--trusted-key says who must have signed a .tsr file, but '" +
           options.model +
           "' is compiled by this run itself; give a .tsr file or leave it "
           "out");
}

void PlanGroup::check() {
  checkRules(given());
  completeRate();
  checkArtifact();
}

void PlanGroup::check(CLI::App &app) {
  read(app);
  check();
}
