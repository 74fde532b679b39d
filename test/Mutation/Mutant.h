//===- Mutant.h - one change of a program ---------------------------------===//
// A mutant names its ops by their number in @step, so that it can be applied to
// any copy of the program, in any context.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_MUTATION_MUTANT_H
#define TESSERA_TEST_MUTATION_MUTANT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <string>
#include <vector>

namespace tessera::test {

/// What the compiler has made of the program when it is changed.
enum class Stage { Typed, Localized, Lowered, Planned };

struct Mutant {
  Stage stage = Stage::Typed;
  std::string kind;  ///< Row of the table.
  std::string what;  ///< The op and its change.
  std::string right; ///< Why it is another correct program; "": it is not.
  /// Changes a copy of the program.
  std::function<void(mlir::ModuleOp)> apply;
};

using Mutants = std::vector<Mutant>;

/// Why a mutant can be another correct program.
constexpr const char *kShiftCancels =
    "a softmax does not depend on its shift, as long as ranks agree on it";
constexpr const char *kNothingInPadding =
    "no token lies in the padding of the vocabulary";

/// Ops of @step, in order.
std::vector<mlir::Operation *> opsOf(mlir::ModuleOp module);
/// "'rt.all_reduce' of h.0.mlp, backward".
std::string describe(mlir::Operation *op);
/// "forward", "backward" or "optimizer".
std::string phaseOf(mlir::Operation *op);

/// Conversions deleted, changed and rewired; inputs in another state.
Mutants typedMutants(mlir::ModuleOp typed);
/// Global sizes taken for local ones, inputs placed elsewhere. `isRead` says
/// whether the factors of an op make a difference to the lowered program.
Mutants
localizedMutants(mlir::ModuleOp localized,
                 llvm::function_ref<bool(llvm::StringRef opName)> isRead);
/// All-reduces deleted and changed, positions of a rank and keys of dropout
/// replaced.
Mutants loweredMutants(mlir::ModuleOp lowered);
/// Calls that prepare a buffer skipped.
Mutants plannedMutants(mlir::ModuleOp planned);

} // namespace tessera::test

#endif // TESSERA_TEST_MUTATION_MUTANT_H
