//===- OverStep.h - what an arena holds over a step -------------*- C++ -*-===//

#ifndef TESSERA_DIALECT_RT_OVERSTEP_H
#define TESSERA_DIALECT_RT_OVERSTEP_H

#include "llvm/ADT/StringRef.h"

namespace tessera::rt {

/// The attribute beside `rt.arena`: JSON for people, docs/Artifact.md's
/// `over_step`.
constexpr llvm::StringLiteral kArenaOverStepAttr = "rt.arena_over_step";

} // namespace tessera::rt

#endif // TESSERA_DIALECT_RT_OVERSTEP_H
