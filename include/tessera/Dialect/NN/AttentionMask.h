//===- AttentionMask.h - which keys a query of attention sees ---*- C++ -*-===//
// A mask says which scores are left to compute, and how a ring deals them out.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_NN_ATTENTIONMASK_H
#define TESSERA_DIALECT_NN_ATTENTIONMASK_H

#include "mlir/IR/Value.h"
#include <cstdint>

namespace tessera::nn {

/// Without `causal` a query sees all keys; with it those up to its own
/// position, and with a `window` the last so many of these.
struct AttentionMask {
  bool causal = false;
  int64_t window = 0; ///< 0: none.

  /// Returns how many pairs of `positions` queries and keys are visible in one
  /// head; each half of a plane counts as half.
  double pairs(int64_t positions) const;
  /// Returns whether the ranks of a ring have chunks of balanced work instead
  /// of slices (rt.zigzag). Where a window hides at least half of the keys, a
  /// slice needs only a few slices before it, which is less work than balanced
  /// chunks of all.
  bool cutsChunks(int64_t positions) const {
    return causal && (window == 0 || window > positions / 2);
  }
  /// Steps of a ring of `ranks` slices of `slice` positions: the own slice and
  /// those before it of which some query sees a key.
  int64_t ringSteps(int64_t slice, int64_t ranks) const;
};

/// Counts the operations of `products` matrix products per visible pair.
/// Queries are [batch, sequence, heads.., head size], some or all of the
/// positions that keys have.
int64_t attentionFlops(mlir::Value query, mlir::Value key, AttentionMask mask,
                       int64_t products);
/// Counts the operations for rows at any position of caches [lanes, slots,
/// places, ..]: half of the places in the mean, and no more than a window.
int64_t cachedAttentionFlops(mlir::Value query, mlir::Value keys,
                             AttentionMask mask);

} // namespace tessera::nn

#endif // TESSERA_DIALECT_NN_ATTENTIONMASK_H
