//===- NumericVerdict.h - what is said of runs ------------------*- C++ -*-===//

#ifndef TESSERA_LIB_VERIFY_NUMERICVERDICT_H
#define TESSERA_LIB_VERIFY_NUMERICVERDICT_H

#include "lib/Verify/CompareRuns.h"
#include "lib/Verify/ForwardRun.h"
#include "tessera/Verify/Verify.h"

namespace tessera {

/// Returns the verdict on runs in a precision; `compared` names and counts what
/// was compared.
Verdict numericVerdict(const PlannedModel &model, Precision precision,
                       const NumericCheck &check, const std::string &compared);

/// Returns " (parameter wte)", the value that differs most, or "".
std::string worstText(const NumericCheck &check);

/// Returns "; not attention of h.0: its batch has ..", or "".
std::string wholeText(const Formulation &formulas);

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_NUMERICVERDICT_H
