//===- ScatterProblem.cpp - Decodes the arguments of scatter_add ----------===//

#include "runtime/cpu/ScatterProblem.h"
#include "tessera/abi.h"
#include "tessera/tessera.h"

using namespace tessera;

int32_t tessera::decodeScatter(const int64_t *args, void *const *buffers,
                               ScatterProblem *out, std::string *error) {
  const int64_t source = args[TSR_SCATTER_DTYPE_SRC];
  const int64_t table = args[TSR_SCATTER_DTYPE_TABLE];
  const bool sourceKnown = source >= TSR_DTYPE_F32 && source <= TSR_DTYPE_F64;
  if (!sourceKnown || (table != TSR_DTYPE_F32 && table != TSR_DTYPE_F64)) {
    *error = "scatter_add: dtypes " + std::to_string(source) + " -> " +
             std::to_string(table) +
             " are not supported; the source is f32 (0), bf16 (1) or f64 (2), "
             "the table f32 or f64";
    return TSR_UNSUPPORTED;
  }
  if (args[TSR_SCATTER_ROWS] >= 0 && args[TSR_SCATTER_COLS] >= 0) {
    *out = {args[TSR_SCATTER_ROWS],
            args[TSR_SCATTER_COLS],
            args[TSR_SCATTER_START],
            args[TSR_SCATTER_VALID],
            source,
            table,
            buffers[0],
            static_cast<const int32_t *>(buffers[1]),
            buffers[2]};
    return 0;
  }
  *error = "scatter_add: negative size: rows " +
           std::to_string(args[TSR_SCATTER_ROWS]) + ", cols " +
           std::to_string(args[TSR_SCATTER_COLS]);
  return TSR_INVALID_ARGUMENT;
}
