//===- CompareGeneration.h - steps of rows, run and compared ----*- C++ -*-===//

#ifndef TESSERA_LIB_VERIFY_COMPAREGENERATION_H
#define TESSERA_LIB_VERIFY_COMPAREGENERATION_H

#include "lib/Verify/CompareRuns.h"
#include "lib/Verify/ForwardRun.h"

namespace tessera {

struct GenerationRun {
  Precision precision;   ///< Sets the tolerance.
  int64_t timeoutMs = 0; ///< Time that ranks wait; 0: the runtime's.
};

/// Replaces parameters by what programs for generation make of them: integers
/// times scales, where these hold such.
llvm::Error storeParameters(const std::string &path, NamedValues &parameters);

/// Runs the sequences of `forward` with its parameters through the programs of
/// an artifact, all ranks in this process, by a random schedule, with NaN in
/// all memory that nobody has written; the logits after each position, or the
/// scores of random labels, are compared with those of the whole sequence; then
/// scores by logits that are all equal with what these must be. If the forward
/// program has NaN, that is the difference. `values` are positions.
llvm::Expected<NumericCheck> compareGeneration(const std::string &path,
                                               const ForwardResult &forward,
                                               const GenerationRun &run);

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_COMPAREGENERATION_H
