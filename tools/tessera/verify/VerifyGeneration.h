//===- VerifyGeneration.h - steps of rows, run and compared -----*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_VERIFY_VERIFYGENERATION_H
#define TESSERA_TOOLS_TESSERA_VERIFY_VERIFYGENERATION_H

#include "tools/tessera/verify/ForwardRun.h"
#include "tools/tessera/verify/VerifyNumerics.h"

namespace tessera {

struct GenerationRun {
  Precision precision;   ///< Sets the tolerance.
  int64_t timeoutMs = 0; ///< Time that ranks wait; 0: the runtime's.
};

/// Runs the sequences of `forward` with its parameters through the programs of
/// an artifact, all ranks in this process, by a random schedule, with NaN in
/// all memory that nobody has written; the logits after each position, or the
/// scores of random labels, are compared with those of the whole sequence; then
/// scores by logits that are all equal with what these must be.
/// `check.values` are positions.
/// False after an error that has been printed.
/// Replaces parameters by what programs for generation make of them: integers
/// times scales, where these hold such.
bool storeParameters(const std::string &path, NamedValues &parameters);

bool compareGeneration(const std::string &path, const ForwardResult &forward,
                       const GenerationRun &run, NumericCheck &check);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_VERIFY_VERIFYGENERATION_H
