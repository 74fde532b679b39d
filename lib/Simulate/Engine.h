//===- Engine.h - stages, queues and messages in virtual time ---*- C++ -*-===//
#ifndef TESSERA_LIB_SIMULATE_ENGINE_H
#define TESSERA_LIB_SIMULATE_ENGINE_H

#include "tessera/Simulate/Simulate.h"

namespace tessera::simulate {

/// Times a step of a program that the cluster can run. Fails where stages wait
/// for each other.
llvm::Expected<StepTimes> runEngine(const Program &program,
                                    const Cluster &cluster, bool wantsSpans);

} // namespace tessera::simulate

#endif // TESSERA_LIB_SIMULATE_ENGINE_H
