//===- CompareEncoding.h - encoded texts, run and compared ------*- C++ -*-===//

#ifndef TESSERA_LIB_VERIFY_COMPAREENCODING_H
#define TESSERA_LIB_VERIFY_COMPAREENCODING_H

#include "lib/Verify/CompareRuns.h"
#include "lib/Verify/ForwardRun.h"

namespace tessera {

/// Runs the sequences of `forward` with its parameters through the program of
/// an artifact, all ranks in this process, with NaN in all memory that nobody
/// has written: as many at a time as fit, and again until the logits of each
/// position were asked for. Hidden states and logits are compared with those of
/// the forward pass. If that has NaN, it is the difference. `values` are
/// positions.
llvm::Expected<NumericCheck> compareEncoding(const std::string &path,
                                             const ForwardResult &forward,
                                             Precision precision);

/// Stores parameters as storeParameters does, of a program that encodes;
/// parameters that it does not have stay.
llvm::Error storeEncoderParameters(const std::string &path,
                                   NamedValues &parameters);

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_COMPAREENCODING_H
