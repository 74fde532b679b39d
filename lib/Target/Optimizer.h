//===- Optimizer.h - LLVM's optimiser, kept cheap ---------------*- C++ -*-===//
// Kernels are vectorised already: only scalar clean-up, in time linear in the
// size of the module.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_TARGET_OPTIMIZER_H
#define TESSERA_LIB_TARGET_OPTIMIZER_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tessera {

void optimize(llvm::Module &module, llvm::TargetMachine &machine);

} // namespace tessera

#endif // TESSERA_LIB_TARGET_OPTIMIZER_H
