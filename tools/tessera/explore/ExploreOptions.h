//===- ExploreOptions.h - what tessera explore shows ------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_EXPLORE_EXPLOREOPTIONS_H
#define TESSERA_TOOLS_TESSERA_EXPLORE_EXPLOREOPTIONS_H

#include "tools/tessera/options/CommandTable.h"
#include "tools/tessera/options/OptionGroups.h"
#include <map>

namespace tessera {

/// The options of tessera explore. 0 and "" mean: not given.
struct ExploreOptions : PlannedModel {
  std::string cluster; ///< A file.
  int32_t port = 0;    ///< 0: any free one.
  std::string html;    ///< A file.
  bool json = false;
  /// Options of PlanFlags.def that the page may choose, and the texts of those
  /// that were given.
  std::vector<OptionEntry> choices;
  std::map<std::string, std::string> given;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_EXPLORE_EXPLOREOPTIONS_H
