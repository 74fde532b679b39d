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

/// Fails with TSR_MISMATCH, which names a key that both have with different
/// values, and both. Older artifacts and checkpoints have no keys.
void checkSameModel(const Keys &own, const Keys &saved,
                    const std::string &checkpoint);
/// Returns a line about each key that both have with different values.
std::vector<std::string> trainingDifferences(const Keys &own, const Keys &saved,
                                             const std::string &checkpoint);

/// Returns the manifest of a directory that is a checkpoint, and nullopt for
/// others: other programs write files of that name, too. TSR_CORRUPT.
std::optional<Manifest> manifestBeside(const std::string &directory);

/// Hashes values as bf16 rounds them, so that it does not matter in which type
/// or layout a file holds them.
std::string hashOfValues(
    int64_t elements,
    const std::function<void(int64_t first, int64_t count, double *out)> &read);
/// Describes files of weights as a base of adapters, by the plain names of
/// their tensors; integers are left out.
AdapterBase baseOf(const TensorFiles &weights);
/// Returns the weights that an adapter in a checkpoint was trained beside.
/// Older manifests do not name them, but they lie in the checkpoint.
AdapterBase trainedBase(const Manifest &manifest, const std::string &directory);
/// Fails with TSR_MISMATCH, which names a tensor that differs from the one that
/// the adapter was trained beside.
void checkSameBase(const AdapterBase &own, const AdapterBase &trained,
                   const std::string &model, const std::string &adapter);

} // namespace tessera

#endif // TESSERA_RUNTIME_CHECKPOINT_SAMEMODEL_H
