//===- CheckProgram.h - does metadata contradict itself? --------*- C++ -*-===//

#ifndef TESSERA_LIB_PROGRAM_CHECKPROGRAM_H
#define TESSERA_LIB_PROGRAM_CHECKPROGRAM_H

#include "tessera/Program/Program.h"
#include "llvm/Support/Error.h"

namespace tessera::program {

/// Fails if members of the program contradict each other, or name what does not
/// exist. Readers rely on it: lists by stage have an entry for each stage.
llvm::Error checkProgram(const Program &program);

} // namespace tessera::program

#endif // TESSERA_LIB_PROGRAM_CHECKPROGRAM_H
