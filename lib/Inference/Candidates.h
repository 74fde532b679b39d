//===- Candidates.h - what sampling reads of logits -------------*- C++ -*-===//

#ifndef TESSERA_LIB_INFERENCE_CANDIDATES_H
#define TESSERA_LIB_INFERENCE_CANDIDATES_H

#include "mlir/IR/Builders.h"

namespace tessera {

/// The settings for the choice of the token after each row, as data of a
/// program.
struct SamplingData {
  mlir::Value tokens; ///< i32 [b, m, w]: of the text; negative ones are none.
  mlir::Value penalties; ///< [b, m]: of repetition, as the logits' elements.
  mlir::Value sharpness; ///< [b, m]: 1 / temperature.
  mlir::Value draws;     ///< i32 [b, m, 3]: seed and position; nn.top.

  bool isWhole() const { return tokens && penalties && sharpness && draws; }
};

/// The part of the logits that a host needs to choose a token, and to give its
/// log-probability and those of the tokens beside it.
struct Candidates {
  mlir::Value best;  ///< [b, m, count, 2]: the largest logits.
  mlir::Value drawn; ///< [b, m, 1, 3]: a sample of the whole vocabulary.
  mlir::Value total; ///< [b, m]: the sum of exp(sharpness (logit - largest)).
};

/// Emits serial nn ops that make them of `logits` [b, m, v], with the
/// repetition penalty applied. A split vocabulary sends `count` pairs for each
/// row, and no logits.
Candidates findCandidates(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value logits, const SamplingData &data,
                          int64_t count);

} // namespace tessera

#endif // TESSERA_LIB_INFERENCE_CANDIDATES_H
