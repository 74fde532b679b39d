//===- OpenData.cpp - the data of a run -----------------------------------===//

#include "tools/tessera/train/OpenData.h"
#include "tools/tessera/report/PrintError.h"

using namespace tessera;

OpenedData tessera::openTrainingData(const DriverOptions &options,
                                     const DataSizes &sizes, int64_t seed) {
  tsr_data_options wanted = {};
  wanted.size = sizeof wanted;
  wanted.format = options.dataFormat.c_str();
  wanted.sequence = sizes.sequence;
  wanted.target = sizes.target;
  wanted.vocabulary = sizes.vocabulary;
  wanted.seed = seed;
  wanted.weights =
      options.dataWeights.empty() ? nullptr : options.dataWeights.data();
  wanted.validation_fraction = options.validationFraction;
  std::vector<const char *> paths;
  for (const std::string &path : options.data)
    paths.push_back(path.c_str());
  tsr_data *opened = nullptr;
  if (tsr_data_open(paths.data(), paths.size(), &wanted, &opened) != TSR_OK)
    printError(tsr_last_error());
  return OpenedData(opened);
}
