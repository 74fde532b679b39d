//===- RecipeOptions.h - options that a run takes over ----------*- C++ -*-===//
// A run that goes on keeps the options that it was given at first, unless they
// are given anew. Its checkpoint records them.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_RECIPEOPTIONS_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_RECIPEOPTIONS_H

#include "tools/tessera/options/DeclaredOptions.h"

namespace tessera {

class RecipeOptions : protected DeclaredOptions {
protected:
  explicit RecipeOptions(DriverOptions &options) : DeclaredOptions(options) {}
  /// Takes over what `read` finds in the checkpoint to resume, and keeps the
  /// result as the recipe of this run. Needs the mesh.
  void applyRecipe(RecipeReader read);

private:
  std::string resumedDirectory() const;
  bool isOverridden(const std::string &flag) const;
  void checkSeed();
  void takeRecipe(CLI::Option &option, const std::string &text);
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_RECIPEOPTIONS_H
