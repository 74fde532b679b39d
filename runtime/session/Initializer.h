//===- Initializer.h - initial parameters -----------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_SESSION_INITIALIZER_H
#define TESSERA_RUNTIME_SESSION_INITIALIZER_H

#include "runtime/device/Rank.h"

namespace tessera {

/// Returns element `index` (global, row-major) of a parameter, before rounding:
/// normal deviates are Box-Muller (1958) over two Philox words, as in
/// docs/Artifact.md. `key` is tsr_abi_stream(seed, -1, init.stream).
double initialValue(const Initial &init, uint64_t key, int64_t index);
/// values[i] = initialValue(init, key, first + i), faster.
void initialValues(const Initial &init, uint64_t key, int64_t first,
                   int64_t count, double *values);

/// Draws a parameter and its master: the same values whenever it is done.
/// TSR_INVALID_ARGUMENT if the parameter has no `init`.
void drawParameter(const Rank &rank, const TensorInfo &parameter, int64_t seed);
/// Draws the rank's parameters and masters, zeroes its moments.
/// TSR_INVALID_ARGUMENT if a parameter has no `init`.
void initializeState(const Rank &rank, int64_t seed);
/// Computes the tables of the program: inputs with an `init`.
void fillTables(const Rank &rank);
/// Zeroes the rank's moments.
void zeroMoments(const Rank &rank);

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_INITIALIZER_H
