//===- SameModel.h - is a checkpoint of this model? -------------*- C++ -*-===//
// Shapes alone do not tell two heads from four. Checkpoints name the keys of
// the config that they are of, and adapters the weights that they adapt.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CHECKPOINT_SAMEMODEL_H
#define TESSERA_RUNTIME_CHECKPOINT_SAMEMODEL_H

#include "runtime/checkpoint/Checkpoint.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tessera {

using Keys = std::map<std::string, std::string>;

/// TSR_MISMATCH names a key that both have with different values, and both.
/// Older artifacts and checkpoints have no keys.
void checkSameModel(const Keys &own, const Keys &saved,
                    const std::string &checkpoint);
/// Lines about keys that both have with different values.
std::vector<std::string> trainingDifferences(const Keys &own, const Keys &saved,
                                             const std::string &checkpoint);

/// Of a directory that a checkpoint is, its manifest; nullopt of others, as
/// other programs write files of that name, too. TSR_CORRUPT.
std::optional<Manifest> manifestBeside(const std::string &directory);

/// Hashes values as bf16 rounds them, so that it does not matter in which type
/// or layout a file holds them.
std::string hashOfValues(
    int64_t elements,
    const std::function<void(int64_t first, int64_t count, double *out)> &read);
/// The base that files of weights are, by the plain names of their tensors;
/// integers are left out.
AdapterBase baseOf(const TensorFiles &weights);
/// What an adapter in a checkpoint was trained beside; older manifests do not
/// say it, but the weights lie there, too.
AdapterBase trainedBase(const Manifest &manifest, const std::string &directory);
/// TSR_MISMATCH names a tensor that is another one in the base of the adapter.
void checkSameBase(const AdapterBase &own, const AdapterBase &trained,
                   const std::string &model, const std::string &adapter);

} // namespace tessera

#endif // TESSERA_RUNTIME_CHECKPOINT_SAMEMODEL_H
