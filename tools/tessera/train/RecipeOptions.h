//===- RecipeOptions.h - options that a run takes over ----------*- C++ -*-===//
// A run that goes on keeps the options that it was given at first, unless they
// are given anew. Its checkpoint records them.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_RECIPEOPTIONS_H
#define TESSERA_TOOLS_TESSERA_TRAIN_RECIPEOPTIONS_H

#include "tools/tessera/options/PlanGroup.h"
#include "tools/tessera/train/TrainOptions.h"

namespace tessera {

/// Takes over what `read` finds in the checkpoint to resume, and keeps the
/// result as the recipe of this run. Needs the mesh. `app` is the command.
void applyRecipe(CLI::App &app, const PlanGroup &plan, TrainOptions &options,
                 RecipeReader read);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_RECIPEOPTIONS_H
