//===- ReportJson.h - a program's numbers as JSON ---------------*- C++ -*-===//
// Entries of `ops` and `report` in docs/Artifact.md.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_TARGET_REPORTJSON_H
#define TESSERA_LIB_TARGET_REPORTJSON_H

#include "lib/Target/ProgramReport.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace tessera {

/// Entries of a list, with commas between them. `stage`: whose they are.
std::string opsJson(llvm::ArrayRef<CallRecord> calls,
                    std::optional<int64_t> stage);
/// `ranks` run the program, each with its part of the data.
llvm::json::Object reportJson(const ProgramReport &report, int64_t ranks);

} // namespace tessera

#endif // TESSERA_LIB_TARGET_REPORTJSON_H
