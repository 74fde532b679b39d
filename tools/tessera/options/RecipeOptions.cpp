//===- RecipeOptions.cpp - options that a run takes over ------------------===//

#include "tools/tessera/options/RecipeOptions.h"
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

std::string RecipeOptions::resumedDirectory() const {
  const bool wants = resume->count() > 0 || options.resumesIfAny;
  if (options.command != Command::Train || !wants)
    return "";
  return resume->count() && !options.resumeDir.empty() ? options.resumeDir
                                                       : options.checkpointDir;
}

/// Returns whether another choice has replaced an option of the recipe, or an
/// artifact or a program has fixed it.
bool RecipeOptions::isOverridden(const std::string &flag) const {
  const bool hasSchedule = isGiven("--lr-schedule");
  if ((flag == "--min-lr" || flag == "--decay-steps") && hasSchedule)
    return true;
  // Evaluation data that is named replaces what was held out.
  if (flag == "--validation-fraction" && !options.evalData.empty())
    return true;
  auto hasOwn = [&](const char *other) {
    return train->get_option(other)->count() > 0;
  };
  if ((flag == "--steps" && hasOwn("--epochs")) ||
      (flag == "--epochs" && hasOwn("--steps")))
    return true;
  // No batch fits every mesh.
  if (flag == "--batch") {
    const MeshShape &mesh = options.plan.mesh;
    const int64_t parts = mesh.sizeOf(MeshAxis::Data) *
                          mesh.sizeOf(MeshAxis::Expert) *
                          std::max<int64_t>(1, options.plan.sizes.microBatches);
    const auto batch = options.recipe.given.find(flag);
    if (std::atoll(batch->second.c_str()) % parts != 0)
      return true;
  }
  for (const Flag &known : flags)
    if (known.name == flag)
      return (options.isArtifact() && known.fate != Fate::Replaceable) ||
             (options.isProgram() && known.fate == Fate::Imported);
  return false;
}

void RecipeOptions::takeRecipe(CLI::Option &option, const std::string &text) {
  try {
    option.add_result(text);
    option.run_callback();
  } catch (const CLI::ParseError &error) {
    refuse("the checkpoint was trained with " + option.get_name() + " " + text +
           ", which is refused (" + error.what() + "); give it anew");
  }
}

/// The order of the data and what dropout drops follow from the seed.
void RecipeOptions::checkSeed() {
  const std::optional<int64_t> &before = options.recipe.seed;
  if (!before)
    return;
  if (train->get_option("--seed")->count() && options.seed != *before)
    refuse("--seed is " + std::to_string(options.seed) +
           ", but the run that goes on has the seed " +
           std::to_string(*before) +
           ", which its data and dropout follow from; leave --seed out, or "
           "start a new run from its weights with --load-weights");
  options.seed = *before;
}

void RecipeOptions::applyRecipe(RecipeReader read) {
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
          isOfRecipe ? train->get_option_no_throw(flag) : nullptr;
      if (option && !option->count() && !isOverridden(flag))
        taken.emplace_back(option, text);
    }
    for (const auto &[option, text] : taken)
      takeRecipe(*option, text);
  }
  if (options.command != Command::Train)
    return;
  for (const std::string &flag : recipeOptions)
    if (const CLI::Option *option = train->get_option(flag); option->count())
      recipe.now[flag] = givenText(*option);
}
