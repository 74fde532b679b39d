//===- Prediction.h - a simulated step, for people and programs -*- C++ -*-===//

#ifndef TESSERA_PREDICT_PREDICTION_H
#define TESSERA_PREDICT_PREDICTION_H

#include "tessera/Predict/MeasuredStep.h"
#include "tessera/Predict/SoftwareMemory.h"
#include "llvm/Support/JSON.h"

namespace tessera {

struct Prediction {
  const simulate::Program &program;
  const simulate::Cluster &cluster;
  const simulate::StepTimes &times;
  const MeasuredStep *measured = nullptr; ///< To compare with, if any.
  /// Memory as the cluster's own software would use it, if that is not Tessera.
  const SoftwareMemory *softwareMemory = nullptr;

  double tokensPerSecond() const;
  /// Flops per second of a device, of work that is not done again.
  double flopsPerDevice() const;
  /// Returns the share of the peak of a device in the program's precision.
  double utilization() const;
  /// Returns whether the memory of a device is large enough.
  bool fits() const;
  std::string text(size_t width) const;
  /// Writes the prediction, with what each stage does when, if times have
  /// spans.
  llvm::json::Value json() const;
  /// A trace of one rank per stage, as chrome://tracing and Perfetto read it;
  /// the runtime writes measured ones alike. Beside the measured step, the
  /// simulated ranks are processes of their own, after all measured ones.
  std::string trace() const;

private:
  std::string comparison(size_t width) const;
};

} // namespace tessera

#endif // TESSERA_PREDICT_PREDICTION_H
