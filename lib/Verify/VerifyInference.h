//===- VerifyInference.h - checks of programs for inference -----*- C++ -*-===//

#ifndef TESSERA_LIB_VERIFY_VERIFYINFERENCE_H
#define TESSERA_LIB_VERIFY_VERIFYINFERENCE_H

#include "tessera/Verify/Verify.h"

namespace tessera {

/// Compares the programs that continue texts with the model's forward program.
/// Appends the verdict.
mlir::LogicalResult verifyGeneration(mlir::MLIRContext &context,
                                     const PlannedModel &model,
                                     Precision precision,
                                     std::vector<Verdict> &verdicts);

/// Does the same with the program that encodes texts.
mlir::LogicalResult verifyEncoding(mlir::MLIRContext &context,
                                   const PlannedModel &model,
                                   Precision precision,
                                   std::vector<Verdict> &verdicts);

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_VERIFYINFERENCE_H
