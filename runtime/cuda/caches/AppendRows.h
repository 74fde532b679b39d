//===- AppendRows.h - Rows of a step into a cache ---------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_CACHES_APPENDROWS_H
#define TESSERA_RUNTIME_CUDA_CACHES_APPENDROWS_H

#include "runtime/cuda/caches/CacheParams.h"
#include "runtime/cuda/experts/RowValues.h"

namespace tessera::cuda {

/// A warp moves a row to its place, bit by bit as it is.
struct AppendRows : WarpPerRow {
  static Grid grid(const AppendParams &p) { return gridOf(p.of.count); }

  template <typename Exec>
  static TSR_DEVICE void run(const AppendParams &p, unsigned char *) {
    const int64_t row = WarpPerRow::row<Exec>();
    if (row >= p.of.count || !p.of.isLive(row))
      return;
    const bool exists = p.of.exists(row);
    Exec::expect(exists, "append: a row has no such slot or position");
    const int position = p.of.positionOf[row];
    if (!exists || position % p.of.deal != p.of.ordinal)
      return;
    const int64_t place =
        p.of.slotStart(row) + position / p.of.deal % p.of.places;
    const auto *from =
        static_cast<const uint16_t *>(p.from) + row * p.rowHalves;
    auto *to = static_cast<uint16_t *>(p.cache) + place * p.placeHalves;
    overColumns<Exec>(int(p.placeHalves), p.aligned,
                      [&](int column, auto width) {
                        if constexpr (decltype(width)::value == kVector)
                          *reinterpret_cast<Piece *>(to + column) =
                              *reinterpret_cast<const Piece *>(from + column);
                        else
                          to[column] = from[column];
                      });
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CACHES_APPENDROWS_H
