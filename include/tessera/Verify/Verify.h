//===- Verify.h - is the distributed program the serial one? ----*- C++ -*-===//
// The checks compare types, the program without its distribution, and numbers;
// programs for inference are compared with the model, too.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_VERIFY_VERIFY_H
#define TESSERA_VERIFY_VERIFY_H

#include "mlir/IR/MLIRContext.h"
#include "tessera/Pipelines/PlannedModel.h"
#include "tessera/Text/ProgressListener.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace tessera {

/// The result of one check.
struct Verdict {
  std::string check;   ///< The name: "types", "erasure", "f64", ..
  std::string what;    ///< It says what was compared, and how far it differs.
  std::string failure; ///< The first difference; "" if there is none.
};

/// Returns why the programs of a model and its plan cannot be compared, with
/// the remedy, or "".
std::string refuseVerification(const PlannedModel &model);

/// Compares the programs that the model's plan asks for with serial ones: the
/// typed programs as they are, then small models of the same make by running
/// them in this process, in f64 and in the plan's precision. Returns a verdict
/// for each check. Failure means that a program was refused or could not be
/// run; errors are diagnostics of the context, which has the dialects of
/// `registerCompilerDialects`.
mlir::FailureOr<std::vector<Verdict>>
verifyModel(mlir::MLIRContext &context, const PlannedModel &model,
            const Progress &progress = {});

/// Returns the first verdict that fails, or null.
const Verdict *firstFailure(const std::vector<Verdict> &verdicts);

/// Returns verdicts as `tessera verify --json` prints them.
llvm::json::Object verdictsJson(const std::vector<Verdict> &verdicts);

} // namespace tessera

#endif // TESSERA_VERIFY_VERIFY_H
