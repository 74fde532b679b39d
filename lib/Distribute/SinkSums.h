//===- SinkSums.h - sums of sums over micro-batches -------------*- C++ -*-===//

#ifndef TESSERA_LIB_DISTRIBUTE_SINKSUMS_H
#define TESSERA_LIB_DISTRIBUTE_SINKSUMS_H

#include "tessera/Dialect/NN/NN.h"

namespace tessera {

/// add(sum_j x_j, sum_j y_j) -> sum_j add(x_j, y_j), for sums over the
/// micro-batches of a loop that nothing else reads. A parameter that several
/// pipeline stages use has a sum at each of them; the serial program adds
/// inside the loop. Replaces the loop where that happens.
void sinkSums(nn::MicroBatchesOp loop);

} // namespace tessera

#endif // TESSERA_LIB_DISTRIBUTE_SINKSUMS_H
