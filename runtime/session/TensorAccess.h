//===- TensorAccess.h - between global tensors and ranks' arenas ----------===//
// Global arrays are row-major in the tensor's `shape` (equally its file shape).
// Callers run these while the ranks' programs do not. Where the host cannot
// reach an arena, a rank's part of the tensor is read through a copy, and
// written piece by piece.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SESSION_TENSORACCESS_H
#define TESSERA_RUNTIME_SESSION_TENSORACCESS_H

#include "runtime/device/Rank.h"

#include <functional>

namespace tessera {

using Ranks = std::vector<std::unique_ptr<Rank>>;

// The process with rank 0 gets the result of the next three functions. If there
// are several processes, all make the same calls; the others need not give a
// buffer.
/// values[elements]: shards put together, partial sums added in rank order.
void readGlobal(const Ranks &ranks, const TensorInfo &tensor, double *values);
/// Reads values rounded to f32.
void readGlobal(const Ranks &ranks, const TensorInfo &tensor, float *values);
/// Reads the stored bytes of a tensor that is not partial.
void readGlobalBytes(const Ranks &ranks, const TensorInfo &tensor, char *bytes);
/// values[localElements], padding included.
void readLocal(const Rank &rank, const TensorInfo &tensor, double *values);

/// Write and read a tensor of one element; a rank that does not hold it writes
/// nothing.
void writeScalar(Rank &rank, const TensorInfo &tensor, double value);
double readScalar(const Rank &rank, const TensorInfo &tensor);
/// Zeroes the rank's part.
void zeroTensor(const Rank &rank, const TensorInfo &tensor);

/// Gives elements [first, first + count) of the global tensor, in f64.
using Source = std::function<void(int64_t first, int64_t count, double *out)>;

/// Fills the rank's part of a tensor: padding with zeros; where the tensor is
/// partial, the first partial sum is the value and the others are zero. Runs on
/// the rank's threads.
void writeShard(const Rank &rank, const TensorInfo &tensor,
                const Source &source);
/// Fills a parameter and its master. The parameter's values are rounded to the
/// master's type first, as if they were read from it. Where the rank has the
/// same elements of both, the source gives each once.
void writeWithMaster(const Rank &rank, const TensorInfo &parameter,
                     const TensorInfo &master, const Source &source);
/// Gives elements [first, first + count) of a global tensor of i32.
using Tokens = std::function<void(int64_t first, int64_t count, int32_t *out)>;

/// Writes a tensor of i32 likewise, in place.
void writeTokens(const Rank &rank, const TensorInfo &tensor,
                 const Tokens &tokens);
/// Gives elements [first, first + count) of a global tensor as it stores them.
using Stored = std::function<void(int64_t first, int64_t count, char *out)>;

/// Writes a tensor from its stored bytes, on the rank's threads.
void writeStored(const Rank &rank, const TensorInfo &tensor,
                 const Stored &stored);

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_TENSORACCESS_H
