//===- OpenData.h - the data of a run ---------------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_OPENDATA_H
#define TESSERA_TOOLS_TESSERA_TRAIN_OPENDATA_H

#include "tessera/Artifact/ArtifactFile.h"
#include "tessera/tessera.h"
#include "tools/tessera/options/OptionGroups.h"
#include <memory>

namespace tessera {

struct DestroyData {
  void operator()(tsr_data *data) const { tsr_data_destroy(data); }
};
using OpenedData = std::unique_ptr<tsr_data, DestroyData>;

/// Returns what the metadata of an artifact says of its model.
program::Model modelOf(const tsr_artifact *artifact);
/// Returns the sizes that the metadata of an artifact says.
DataSizes dataSizesOf(const tsr_artifact *artifact);

/// The part of --data that `options` train on, read as a model of `sizes` does.
/// Null after an error, which is printed.
OpenedData openTrainingData(const RunSettings &options, const DataSizes &sizes,
                            int64_t seed);

/// Opens the data that a model is measured on: --eval-data, else what is held
/// out of --data, else all of it. Its order is always the same. Null as above.
OpenedData openEvaluationData(const RunSettings &options,
                              const DataSizes &sizes);

/// Returns whether tokens are the bytes of texts.
bool isOfBytes(const tsr_data *data);

/// Compares all tokens of `data`, which `files` hold, between the processes:
/// different ones would make nonsense. Prints an error where they differ.
bool compareData(const RunSettings &options, tsr_session *session,
                 const tsr_data *data, const std::vector<std::string> &files);

/// Says that these files are hashed, if that takes a while.
void printHashing(const RunSettings &options,
                  const std::vector<std::string> &paths);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_OPENDATA_H
