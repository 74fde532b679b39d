//===- StartingPoint.cpp - which parameters a run begins with -------------===//

#include "tools/tessera/train/StartingPoint.h"
#include "tessera/printable.hpp"
#include "tools/tessera/input/ModelFiles.h"
#include "tools/tessera/output/PrintError.h"

using namespace tessera;

/// Says which options start from other than random parameters.
static std::string remedies(const std::string &folder) {
  return "start from weights with --load-weights " +
         (folder.empty() ? "PATH" : shellWord(folder)) +
         ", continue a run with --resume, or give --random-weights if they are "
         "meant to be random";
}

std::string tessera::checkStartingPoint(const TrainOptions &options,
                                        Frozen frozen) {
  if (options.resumes || !options.weights.empty() || options.randomWeights)
    return "";
  std::string file = weightsBeside(options),
              folder = file.empty() ? "" : modelFolder(options);
  if (frozen == Frozen::AllButAdapters)
    return "--lora trains an adapter of weights that stay as they are, but "
           "these would be random; " +
           remedies(folder);
  if (frozen == Frozen::Some && !file.empty())
    return "--freeze keeps parameters as they are, but they would be random, "
           "although there is " +
           file + "; " + remedies(folder);
  if (options.launch.rank != 0)
    return "";
  if (frozen == Frozen::Some)
    printNote("the parameters that --freeze keeps as they are are random; " +
              remedies(""));
  else if (!file.empty())
    printNote("the parameters are random, and " + file +
              " is not read; start from it with --load-weights " +
              shellWord(folder));
  return "";
}
