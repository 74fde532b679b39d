//===- RecipeOptions.cpp - options that a run takes over ------------------===//

#include "tools/tessera/train/RecipeOptions.h"
#include "tools/tessera/options/Declare.h"
#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

using namespace tessera;

/// A run that goes on takes these options over unless they are given: they make
/// a run what it is, whatever it runs on.
static const std::set<std::string> recipeOptions = {"--optimizer",
                                                    "--weight-decay",
                                                    "--no-decay",
                                                    "--clip",
                                                    "--beta1",
                                                    "--beta2",
                                                    "--momentum",
                                                    "--nesterov",
                                                    "--lr",
                                                    "--lr-schedule",
                                                    "--min-lr",
                                                    "--warmup-steps",
                                                    "--decay-steps",
                                                    "--steps",
                                                    "--batch",
                                                    "--seq-length",
                                                    "--precision",
                                                    "--decoder-seq-length",
                                                    "--ignore-labels",
                                                    "--document-mask",
                                                    "--separator",
                                                    "--padding-mask",
                                                    "--freeze",
                                                    "--lora",
                                                    "--seed",
                                                    "--validation-fraction",
                                                    "--epochs"};

namespace {

class Recipe {
public:
  Recipe(CLI::App &app, const PlanGroup &plan, TrainOptions &options)
      : app(app), plan(plan), options(options) {}
  void apply(RecipeReader read);

private:
  std::string resumedDirectory() const;
  bool isOverridden(const std::string &flag) const;
  bool isGiven(const char *flag) const {
    return app.get_option(flag)->count() > 0;
  }
  void checkSeed();
  void take(CLI::Option &option, const std::string &text);

  CLI::App &app;
  const PlanGroup &plan;
  TrainOptions &options;
};

std::string Recipe::resumedDirectory() const {
  if (!isGiven("--resume") && !options.resumesIfAny)
    return "";
  return isGiven("--resume") && !options.resumeDir.empty()
             ? options.resumeDir
             : options.checkpointDir;
}

/// Returns whether another choice has replaced an option of the recipe, or an
/// artifact or a program has fixed it.
bool Recipe::isOverridden(const std::string &flag) const {
  const bool hasSchedule = isGiven("--lr-schedule");
  if ((flag == "--min-lr" || flag == "--decay-steps") && hasSchedule)
    return true;
  // Evaluation data that is named replaces what was held out.
  if (flag == "--validation-fraction" && !options.evalData.empty())
    return true;
  if ((flag == "--steps" && isGiven("--epochs")) ||
      (flag == "--epochs" && isGiven("--steps")))
    return true;
  // No batch fits every mesh.
  if (flag == "--batch") {
    const int64_t parts = options.plan.mesh.lanes() *
                          std::max<int64_t>(1, options.plan.sizes.microBatches);
    const auto batch = options.recipe.given.find(flag);
    if (std::atoll(batch->second.c_str()) % parts != 0)
      return true;
  }
  const std::optional<Fate> fate = plan.fateOf(flag);
  return fate && ((options.isArtifact() && *fate != Fate::Replaceable) ||
                  (options.isProgram() && *fate == Fate::Imported));
}

void Recipe::take(CLI::Option &option, const std::string &text) {
  try {
    option.add_result(text);
    option.run_callback();
  } catch (const CLI::ParseError &error) {
    refuse("the checkpoint was trained with " + option.get_name() + " " + text +
           ", which is refused (" + error.what() + "); give it anew");
  }
}

/// The order of the data and what dropout drops follow from the seed.
void Recipe::checkSeed() {
  const std::optional<int64_t> &before = options.recipe.seed;
  if (!before)
    return;
  if (isGiven("--seed") && options.seed != *before)
    refuse("--seed is " + std::to_string(options.seed) +
           ", but the run that goes on has the seed " +
           std::to_string(*before) +
           ", which its data and dropout follow from; leave --seed out, or "
           "start a new run from its weights with --load-weights");
  options.seed = *before;
}

void Recipe::apply(RecipeReader read) {
  const std::string directory = resumedDirectory();
  RunRecipe &recipe = options.recipe;
  if (!directory.empty() && read && read(directory, recipe)) {
    checkSeed();
    // An option that is taken counts as given: --lr-schedule would override
    // --min-lr.
    std::vector<std::pair<CLI::Option *, std::string>> taken;
    for (const auto &[flag, text] : recipe.given) {
      const bool isOfRecipe = recipeOptions.count(flag) != 0 &&
                              refusePlanned(flag.substr(2)).empty();
      CLI::Option *option =
          isOfRecipe ? app.get_option_no_throw(flag) : nullptr;
      if (option && !option->count() && !isOverridden(flag))
        taken.emplace_back(option, text);
    }
    for (const auto &[option, text] : taken)
      take(*option, text);
  }
  for (const std::string &flag : recipeOptions)
    if (const CLI::Option *option = app.get_option(flag); option->count())
      recipe.now[flag] = givenText(*option);
}

} // namespace

void tessera::applyRecipe(CLI::App &app, const PlanGroup &plan,
                          TrainOptions &options, RecipeReader read) {
  Recipe(app, plan, options).apply(read);
}
