#include "runtime/cpu/SamplingProblem.h"

#include "tessera/abi.h"
#include "tessera/tessera.h"

#include <initializer_list>

using namespace tessera;

namespace {

struct Size {
  const char *name;
  int64_t value, least;
};

int32_t check(const char *entry, std::initializer_list<Size> sizes,
              int64_t dtype, std::string *error) {
  for (const Size &size : sizes)
    if (size.value < size.least)
      *error = std::string(entry) + ": " + size.name + " is " +
               std::to_string(size.value) + ", it must be at least " +
               std::to_string(size.least);
  if (error->empty() && dtype != TSR_DTYPE_F32 && dtype != TSR_DTYPE_F64)
    *error = std::string(entry) + ": dtype " + std::to_string(dtype) +
             " is not supported; use f32 (0) or f64 (2)";
  return error->empty() ? 0 : TSR_INVALID_ARGUMENT;
}

int32_t checkValid(const char *entry, int64_t valid, int64_t columns,
                   std::string *error) {
  if (valid <= columns)
    return 0;
  *error = std::string(entry) + ": " + std::to_string(valid) + " of " +
           std::to_string(columns) + " columns cannot be valid";
  return TSR_INVALID_ARGUMENT;
}

} // namespace

int32_t tessera::decodePenalize(const int64_t *args, void *const *buffers,
                                PenalizeProblem *out, std::string *error) {
  *out = {args[TSR_PENALIZE_ROWS],
          args[TSR_PENALIZE_COLUMNS],
          args[TSR_PENALIZE_START],
          args[TSR_PENALIZE_VALID],
          args[TSR_PENALIZE_TOKENS],
          args[TSR_PENALIZE_DTYPE],
          buffers[0],
          static_cast<const int32_t *>(buffers[1]),
          buffers[2]};
  error->clear();
  if (int32_t status = check("penalize",
                             {{"ROWS", out->rows, 0},
                              {"COLUMNS", out->columns, 1},
                              {"START", out->start, 0},
                              {"VALID", out->valid, 0},
                              {"TOKENS", out->tokens, 0}},
                             out->dtype, error))
    return status;
  return checkValid("penalize", out->valid, out->columns, error);
}

int32_t tessera::decodeTop(const int64_t *args, void *const *buffers,
                           TopProblem *out, std::string *error) {
  const bool drawn = args[TSR_TOP_DRAWN] != 0;
  *out = {args[TSR_TOP_ROWS],
          args[TSR_TOP_COLUMNS],
          args[TSR_TOP_START],
          args[TSR_TOP_VALID],
          args[TSR_TOP_TOTAL],
          args[TSR_TOP_COUNT],
          args[TSR_TOP_DTYPE],
          buffers[0],
          buffers[1],
          drawn ? buffers[2] : nullptr,
          drawn ? static_cast<const int32_t *>(buffers[3]) : nullptr};
  error->clear();
  if (int32_t status = check("top",
                             {{"ROWS", out->rows, 0},
                              {"COLUMNS", out->columns, 1},
                              {"START", out->start, 0},
                              {"VALID", out->valid, 0},
                              {"TOTAL", out->total, 1},
                              {"COUNT", out->count, 1}},
                             out->dtype, error))
    return status;
  return checkValid("top", out->valid, out->columns, error);
}

int32_t tessera::decodeMergeTop(const int64_t *args, void *const *buffers,
                                MergeTopProblem *out, std::string *error) {
  *out = {args[TSR_MERGE_TOP_RANKS],
          args[TSR_MERGE_TOP_ROWS],
          args[TSR_MERGE_TOP_COUNT],
          args[TSR_MERGE_TOP_NUMBERS],
          args[TSR_MERGE_TOP_DTYPE],
          buffers[0],
          buffers[1]};
  error->clear();
  return check("merge_top",
               {{"RANKS", out->ranks, 1},
                {"ROWS", out->rows, 0},
                {"COUNT", out->count, 1},
                {"NUMBERS", out->numbers, 2}},
               out->dtype, error);
}
