//===- TypeCheck.h - the typed programs, compared without a run -*- C++ -*-===//

#ifndef TESSERA_LIB_VERIFY_TYPECHECK_H
#define TESSERA_LIB_VERIFY_TYPECHECK_H

#include "mlir/IR/BuiltinOps.h"
#include "tessera/Pipelines/PlannedModel.h"
#include <string>

namespace tessera {

/// The findings about the typed program, without a run.
struct TypeCheck {
  int64_t ops = 0, conversions = 0;
  /// The first difference between the erased program and the serial one; "" if
  /// there is none.
  std::string difference;
  /// The same of a program for generation, unrolled over positions, and the
  /// model; or of one for encoding, without its choice of positions.
  std::string unrolled;
  /// The model is an encoder-decoder one: a program for encoding is its
  /// encoder, and those for generation are not unrolled.
  bool isPair = false;
};

/// Builds the typed programs of the model for its mesh and for none, with
/// the verifier on after every pass, and compares them by erasure.
mlir::FailureOr<TypeCheck> checkTypes(mlir::MLIRContext &context,
                                      const PlannedModel &options);

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_TYPECHECK_H
