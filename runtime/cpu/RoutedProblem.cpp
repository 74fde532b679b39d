//===- RoutedProblem.cpp - Decodes the arguments of routed ----------------===//

#include "runtime/cpu/RoutedProblem.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

using namespace tessera;

static bool isFloat(int64_t dtype) {
  return dtype >= TSR_DTYPE_F32 && dtype <= TSR_DTYPE_F64;
}

// top_k makes gates; dispatch and collect have one operand beside them.
int tessera::operandsOfRouted(int64_t kind) {
  if (kind == TSR_ROUTED_TOP_K)
    return 1;
  return kind == TSR_ROUTED_DISPATCH || kind == TSR_ROUTED_COLLECT ? 2 : 3;
}

int32_t tessera::decodeRouted(const int64_t *args, void *const *buffers,
                              RoutedProblem *out, std::string *error) {
  const int64_t kind = args[TSR_ROUTED_KIND];
  const int64_t in = args[TSR_ROUTED_DTYPE_IN];
  const int64_t result = args[TSR_ROUTED_DTYPE_OUT];
  if (kind < TSR_ROUTED_TOP_K || kind > TSR_ROUTED_PRODUCT_GRAD_WEIGHT) {
    *error = "routed: unknown kind " + std::to_string(kind);
    return TSR_INVALID_ARGUMENT;
  }
  // f64 goes with f64 only.
  if (!isFloat(in) || !isFloat(result) ||
      (in == TSR_DTYPE_F64) != (result == TSR_DTYPE_F64)) {
    *error =
        "routed: dtypes " + std::to_string(in) + " -> " +
        std::to_string(result) +
        " are not supported; both are f32 (0) or bf16 (1), or both f64 (2)";
    return TSR_UNSUPPORTED;
  }
  for (int size = TSR_ROUTED_TOKENS; size <= TSR_ROUTED_K; ++size)
    if (args[size] < 0) {
      *error = "routed: negative size " + std::to_string(args[size]);
      return TSR_INVALID_ARGUMENT;
    }
  const bool isTopK = kind == TSR_ROUTED_TOP_K;
  if (isTopK && args[TSR_ROUTED_K] > args[TSR_ROUTED_EXPERTS]) {
    *error = "routed: " + std::to_string(args[TSR_ROUTED_K]) + " of " +
             std::to_string(args[TSR_ROUTED_EXPERTS]) + " experts";
    return TSR_INVALID_ARGUMENT;
  }
  const int operands = operandsOfRouted(kind);
  *out = {kind,
          args[TSR_ROUTED_TOKENS],
          args[TSR_ROUTED_EXPERTS],
          args[TSR_ROUTED_COLUMNS],
          args[TSR_ROUTED_INNER],
          args[TSR_ROUTED_K],
          args[TSR_ROUTED_WEIGHTED] != 0,
          args[TSR_ROUTED_TRANSPOSED] != 0,
          in,
          result,
          buffers[0],
          operands == 3 ? buffers[1] : nullptr,
          isTopK ? nullptr : buffers[operands - 1],
          buffers[operands]};
  return 0;
}
