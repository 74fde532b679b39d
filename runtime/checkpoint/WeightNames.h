//===- WeightNames.h - the names that weights have in files -----*- C++ -*-===//
// Parameters have the names that `transformers` gives them today. Files of
// other versions and classes name them in other ways, hold buffers and heads of
// other tasks, and hold a tied tensor once or twice: what is known of this is
// in the tables of WeightNames.cpp, for all families together.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CHECKPOINT_WEIGHTNAMES_H
#define TESSERA_RUNTIME_CHECKPOINT_WEIGHTNAMES_H

#include <string>
#include <vector>

namespace tessera {

/// Returns the one name for all that files give a tensor: without the prefix of
/// a class with a head, and "weight" for the "gamma" of old files.
std::string plainName(const std::string &name);

/// Replaces each number between dots by a `*`: layers of a model look alike.
std::string namePattern(const std::string &name);

/// Returns the name that older checkpoints give a state tensor: a parameter, or
/// a moment of one.
std::string nameBefore(const std::string &name);

// The functions below take plain names.

/// Returns whether it is no weight: a mask or a table that a file need not
/// hold.
bool isBuffer(const std::string &name);
/// Returns whether it belongs to a head, what is on top of the layers: each
/// task has another one.
bool isHead(const std::string &name);
/// Returns the other names of the tensor if a model ties the two.
std::vector<std::string> tiedNames(const std::string &name);
/// Returns whether a model that ties the two keeps the second one and stores
/// the first one at most as a copy of it.
bool isStoredForAnother(const std::string &name, const std::string &other);

} // namespace tessera

#endif // TESSERA_RUNTIME_CHECKPOINT_WEIGHTNAMES_H
