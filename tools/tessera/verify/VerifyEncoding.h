//===- VerifyEncoding.h - encoded texts, run and compared -------*- C++ -*-===//

#ifndef TESSERA_TOOLS_TESSERA_VERIFY_VERIFYENCODING_H
#define TESSERA_TOOLS_TESSERA_VERIFY_VERIFYENCODING_H

#include "tools/tessera/verify/ForwardRun.h"
#include "tools/tessera/verify/VerifyNumerics.h"

namespace tessera {

/// Runs the sequences of `forward` with its parameters through the program of
/// an artifact, all ranks in this process, with NaN in all memory that nobody
/// has written: as many at a time as fit, and again until the logits of each
/// position were asked for. Hidden states and logits are compared with those of
/// the forward pass. `check.values` are positions. False after an error that
/// has been printed.
bool compareEncoding(const std::string &path, const ForwardResult &forward,
                     Precision precision, NumericCheck &check);

/// Stores parameters as storeParameters does, of a program that encodes;
/// parameters that it does not have stay.
bool storeEncoderParameters(const std::string &path, NamedValues &parameters);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_VERIFY_VERIFYENCODING_H
