//===- Suggestion.h - what a mistyped word may have meant -------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_OPTIONS_SUGGESTION_H
#define TESSERA_TOOLS_TESSERA_OPTIONS_SUGGESTION_H

#include <string>
#include <vector>

namespace tessera {

/// The name that the fewest single letters inserted, deleted, replaced or
/// swapped with their neighbour turn the word into; "" where that is more than
/// a third of its letters.
std::string nearestName(const std::string &word,
                        const std::vector<std::string> &names);

/// Returns "did you mean NAME?", or what else is to be said without a name.
std::string suggestion(const std::string &name, const std::string &otherwise);

/// Returns what stands here for an option of Megatron, DeepSpeed or
/// transformers:
/// "--mesh tp=N" for "--tp"; "" for others.
std::string standInFor(const std::string &option);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_OPTIONS_SUGGESTION_H
