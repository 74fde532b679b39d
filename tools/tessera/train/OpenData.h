//===- OpenData.h - the data of a run ---------------------------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_TRAIN_OPENDATA_H
#define TESSERA_TOOLS_TESSERA_TRAIN_OPENDATA_H

#include "tessera/tessera.h"
#include "tools/tessera/input/ArtifactFile.h"
#include <memory>

namespace tessera {

struct DestroyData {
  void operator()(tsr_data *data) const { tsr_data_destroy(data); }
};
using OpenedData = std::unique_ptr<tsr_data, DestroyData>;

/// The part of --data that `options` train on, read as a model of `sizes` does.
/// Null after an error, which is printed.
OpenedData openTrainingData(const DriverOptions &options,
                            const DataSizes &sizes, int64_t seed);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_TRAIN_OPENDATA_H
