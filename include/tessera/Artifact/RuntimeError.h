//===- RuntimeError.h - the runtime's errors --------------------*- C++ -*-===//

#ifndef TESSERA_ARTIFACT_RUNTIMEERROR_H
#define TESSERA_ARTIFACT_RUNTIMEERROR_H

#include "tessera/tessera.h"
#include "llvm/Support/Error.h"

namespace tessera {

/// Returns the error of this thread's last call of the runtime that failed.
inline llvm::Error runtimeError() {
  return llvm::createStringError(tsr_last_error());
}

} // namespace tessera

#endif // TESSERA_ARTIFACT_RUNTIMEERROR_H
