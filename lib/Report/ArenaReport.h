//===- ArenaReport.h - what a rank's memory holds over a step ---*- C++ -*-===//

#ifndef TESSERA_LIB_REPORT_ARENAREPORT_H
#define TESSERA_LIB_REPORT_ARENAREPORT_H

#include "tessera/Program/Program.h"
#include "llvm/Support/JSON.h"

namespace tessera {

/// The arena of docs/Artifact.md's metadata for `tessera report --json`: bytes,
/// kinds and moments as they are; what is alive at the peak, of equal parts of
/// all layers together, the largest first. With stages each one's as well.
llvm::json::Object arenaReport(const program::Arena &arena);

} // namespace tessera

#endif // TESSERA_LIB_REPORT_ARENAREPORT_H
