//===- OptimizerDefaults.h - what each optimizer takes ----------*- C++ -*-===//
// Optimizers share flags but not what these are by default, nor all flags. It
// needs no MLIR.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_OPTIONS_OPTIMIZERDEFAULTS_H
#define TESSERA_OPTIONS_OPTIMIZERDEFAULTS_H

#include "tessera/Options/PlanFlags.h"

namespace tessera {

/// Returns what is wrong with the options of an optimizer, or "": a flag of
/// `given` is another optimizer's.
std::string checkOptimizer(const OptimizerOptions &optimizer,
                           const GivenFlags &given);

/// Fills in the optimizer's own values for options that are not given; 0 for
/// those that it does not take.
OptimizerOptions completed(OptimizerOptions given);

/// Returns whether it has the bias corrections of its moments as inputs.
bool takesBiasCorrections(OptimizerKind kind);

} // namespace tessera

#endif // TESSERA_OPTIONS_OPTIMIZERDEFAULTS_H
