//===- AdapterAnchor.h - where adapters run ---------------------*- C++ -*-===//

#ifndef TESSERA_LIB_DISTRIBUTE_ADAPTERANCHOR_H
#define TESSERA_LIB_DISTRIBUTE_ADAPTERANCHOR_H

#include "tessera/Dialect/Dist/Dist.h"

namespace tessera {

/// Returns the state on `tp` of the result of an op with `nn.adapter`, whose
/// operands have theirs; nullopt where the cheapest will do. What splits the
/// layer splits its adapter:
/// * By columns, B is split and A is whole: x A is `R`, from the same x that
///   enters the layer, so that both gradients of x are one all-reduce. That of
///   A, [r, in], is reduced once per step; with x A at `I` that of x A would
///   be, for each micro-batch.
/// * By rows, A is split: x A is `P`, and stays so through B and the sum with
///   the layer's own partial sum, before its one all-reduce.
std::optional<dist::State> anchorOfAdapter(mlir::Operation *op,
                                           llvm::StringRef axis);

} // namespace tessera

#endif // TESSERA_LIB_DISTRIBUTE_ADAPTERANCHOR_H
