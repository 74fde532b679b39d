//===- SamplingProblem.h - The arguments of entries of sampling -*- C++ -*-===//
// penalize, top and merge_top, decoded.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CPU_SAMPLINGPROBLEM_H
#define TESSERA_RUNTIME_CPU_SAMPLINGPROBLEM_H

#include <cstdint>
#include <string>

namespace tessera {

/// Sizes in elements, as TSR_PENALIZE_* of abi.h.
struct PenalizeProblem {
  int64_t rows, columns, start, valid, tokens, dtype;
  void *logits;
  const int32_t *seen;   ///< [rows, tokens]
  const void *penalties; ///< [rows]
};

/// The fields are the arguments TSR_TOP_* of abi.h.
struct TopProblem {
  int64_t rows, columns, start, valid, total, count, dtype;
  const void *logits;
  void *lists;           ///< [rows, count, numbers()]
  const void *sharpness; ///< [rows]; null: nothing is drawn.
  const int32_t *draws;  ///< [rows, 3]

  bool isDrawn() const { return draws != nullptr; }
  int64_t numbers() const { return isDrawn() ? 3 : 2; }
};

/// The fields are the arguments TSR_MERGE_TOP_* of abi.h.
struct MergeTopProblem {
  int64_t ranks, rows, count, numbers, dtype;
  const void *parts;
  void *lists;
};

/// Joins the two words that `draws` holds of a seed.
inline int64_t drawnSeed(const int32_t *draw) {
  return static_cast<int64_t>(static_cast<uint64_t>(
      static_cast<uint32_t>(draw[0]) |
      static_cast<uint64_t>(static_cast<uint32_t>(draw[1])) << 32));
}

/// Checks and decodes arguments. Returns 0, or non-zero with the reason in
/// *error.
int32_t decodePenalize(const int64_t *args, void *const *buffers,
                       PenalizeProblem *out, std::string *error);
int32_t decodeTop(const int64_t *args, void *const *buffers, TopProblem *out,
                  std::string *error);
int32_t decodeMergeTop(const int64_t *args, void *const *buffers,
                       MergeTopProblem *out, std::string *error);

} // namespace tessera

#endif // TESSERA_RUNTIME_CPU_SAMPLINGPROBLEM_H
