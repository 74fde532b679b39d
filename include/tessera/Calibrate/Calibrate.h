//===- Calibrate.h - a machine as a cluster of one --------------*- C++ -*-===//

#ifndef TESSERA_CALIBRATE_CALIBRATE_H
#define TESSERA_CALIBRATE_CALIBRATE_H

#include "mlir/IR/MLIRContext.h"
#include "tessera/Simulate/Cluster.h"
#include "tessera/Text/ProgressListener.h"
#include <string>

namespace tessera {

struct MeasuredMachine {
  simulate::Cluster cluster;
  std::string comment; ///< Lines that say how its numbers are to be read.
};

struct CalibrationOptions {
  bool isQuick = false; ///< It takes few sizes, in a second or two.
  Progress progress;
};

/// Measures the processors of this machine, or the GPUs that this process sees,
/// which must be alike. Errors are diagnostics of the context, as compileModel
/// has them.
mlir::FailureOr<MeasuredMachine> measureCpus(mlir::MLIRContext &context,
                                             const CalibrationOptions &options);
mlir::FailureOr<MeasuredMachine> measureGpus(mlir::MLIRContext &context,
                                             const CalibrationOptions &options);

} // namespace tessera

#endif // TESSERA_CALIBRATE_CALIBRATE_H
