//===- RoutedSuite.h - What every backend of routed must do -----*- C++ -*-===//
// Calls of routed against the CPU's entry. Operands are small integers, so that
// sums are exact in any order and results are compared for equality; rows that
// are not routed hold NaN, and so do those behind the last compact one.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_EXPERTS_ROUTEDSUITE_H
#define TESSERA_TEST_RUNTIME_CUDA_EXPERTS_ROUTEDSUITE_H

#include "test/Runtime/cpu/TestBuffer.h"

#include <functional>
#include <string>

namespace tessera::test {

/// Who is routed: a mixture; all rows to one expert, or to all; nobody.
enum class Routes { Mixed, One, All, Nobody };

struct RoutedSizes {
  int64_t tokens, experts, columns, inner;
  Routes routes;
};

/// Runs a call: its arguments as TSR_ROUTED_*, its buffers in order, of which
/// the last is written.
using RoutedBackend = std::function<void(const std::vector<int64_t> &args,
                                         std::vector<Buffer> &buffers)>;

/// Compares all kinds with all dtypes, plain and transposed, weighted or not,
/// on rows for each expert and token and on compact ones.
void expectEqualsCpu(const RoutedBackend &backend, const RoutedSizes &sizes);

/// The gates of k experts, among equal logits of the first ones.
void expectGatesOfCpu(const RoutedBackend &backend, int64_t tokens,
                      int64_t experts, int64_t k);

/// Compact rows that `members` ranks exchange, in rounds of `room` rows from
/// each, or in one (0).
struct MessageSizes {
  int64_t members, tokens, experts, columns, room; /* tokens: of a rank */
  Routes routes;
};

/// Compares messages on both sides, and what experts do with a round's rows.
/// Rows that a message does not hold stay as they were.
void expectRoundsOfCpu(const RoutedBackend &backend, const MessageSizes &sizes);
/// Rows that fit in one round and do not, all at one expert, nobody's.
const std::vector<MessageSizes> &messageSizes();

/// Returns sizes with ragged and whole tiles, rows that are aligned and not,
/// more than one tile.
const std::vector<RoutedSizes> &routedSizes();

} // namespace tessera::test

#endif // TESSERA_TEST_RUNTIME_CUDA_EXPERTS_ROUTEDSUITE_H
