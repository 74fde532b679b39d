//===- VerifyTraining.h - checks of training steps --------------*- C++ -*-===//

#ifndef TESSERA_LIB_VERIFY_VERIFYTRAINING_H
#define TESSERA_LIB_VERIFY_VERIFYTRAINING_H

#include "tessera/Verify/Verify.h"

namespace tessera {

/// Compares steps of the serial and the parallel program; in f64 also those of
/// the serial program and of one with attention, norms and rotations as
/// formulas. Appends the verdicts.
mlir::LogicalResult verifyTraining(mlir::MLIRContext &context,
                                   const PlannedModel &model,
                                   Precision precision,
                                   std::vector<Verdict> &verdicts);

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_VERIFYTRAINING_H
