//===- RowMessages.h - Compact rows in messages of fixed size ---*- C++ -*-===//
// Both sides of an exchange lay out a message in the order of compact rows, so
// it is made of a few pieces of them, which follow from counts alone. What is
// behind its last row is neither written nor read.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_EXPERTS_ROWMESSAGES_H
#define TESSERA_RUNTIME_CUDA_EXPERTS_ROWMESSAGES_H

#include "runtime/cuda/experts/RoutedRows.h"

namespace tessera::cuda {

/// After CountRows. A thread takes a member's message.
struct PlaceMessages {
  static constexpr int kThreads = 64, kMinBlocks = 1, kSharedBytes = 0;

  static Grid grid(const MessageParams &) { return {1, 1, 1}; }

  template <typename Exec>
  static TSR_DEVICE void run(const MessageParams &p, unsigned char *) {
    for (int i = Exec::thread(); i < p.members; i += kThreads) {
      int *at = p.at + i * (p.segments + 1), *row = p.row + i * p.segments;
      const int end = p.own ? placeOwn<Exec>(p, i, at, row)
                            : placePart<Exec>(p, i, at, row);
      if (i + 1 < p.members)
        continue;
      Exec::expect(end <= p.rows, "gates route more rows than the buffer has");
      *p.routed = end;
    }
  }

private:
  /// A part of the experts has its rows side by side. Returns their end.
  template <typename Exec>
  static TSR_DEVICE int placeOwn(const MessageParams &p, int member, int *at,
                                 int *row) {
    const int experts = p.experts / p.members;
    int first = 0, rows = 0;
    for (int x = 0; x < (member + 1) * experts; ++x)
      (x < member * experts ? first : rows) += p.counts[x];
    Exec::expect(rows <= p.most,
                 "gates route more rows to a member than its experts can have");
    const int left = rows > p.sent ? rows - p.sent : 0;
    at[0] = 0;
    at[1] = left < p.message ? left : p.message;
    row[0] = first + p.sent;
    return first + rows;
  }

  /// A part of the tokens has some rows of each expert. Returns the end of all
  /// parts' rows.
  template <typename Exec>
  static TSR_DEVICE int placePart(const MessageParams &p, int member, int *at,
                                  int *row) {
    int next = 0;
    at[0] = 0;
    for (int x = 0; x < p.experts; ++x)
      for (int part = 0; part < p.parts; ++part) {
        const int count = p.counts[x * p.parts + part];
        if (part == member) {
          row[x] = next;
          at[x + 1] = at[x] + count;
        }
        next += count;
      }
    Exec::expect(at[p.experts] <= p.message,
                 "gates route more rows of a member than its message has");
    return next;
  }
};

/// A warp moves a row of a message, if it has one, bit by bit as it is.
struct MoveRows : WarpPerRow {
  static Grid grid(const MessageParams &p) {
    return gridOf(int64_t(p.members) * p.message);
  }

  template <typename Exec>
  static TSR_DEVICE void run(const MessageParams &p, unsigned char *) {
    const int64_t inMessages = WarpPerRow::row<Exec>();
    if (inMessages >= int64_t(p.members) * p.message)
      return;
    const int member = int(inMessages / p.message);
    const int number = int(inMessages % p.message);
    const int *at = p.at + member * (p.segments + 1);
    if (number >= at[p.segments])
      return;
    int s = 0;
    while (number >= at[s + 1])
      ++s;
    const int64_t compact = p.row[member * p.segments + s] + number - at[s];
    const int64_t from = (p.packs ? compact : inMessages) * p.rowHalves;
    const int64_t to = (p.packs ? inMessages : compact) * p.rowHalves;
    copy<Exec>(p, static_cast<const uint16_t *>(p.from) + from,
               static_cast<uint16_t *>(p.to) + to);
  }

private:
  template <typename Exec>
  static TSR_DEVICE void copy(const MessageParams &p, const uint16_t *from,
                              uint16_t *to) {
    overColumns<Exec>(int(p.rowHalves), p.aligned, [&](int column, auto width) {
      if constexpr (decltype(width)::value == kVector)
        *reinterpret_cast<Piece *>(to + column) =
            *reinterpret_cast<const Piece *>(from + column);
      else
        to[column] = from[column];
    });
  }
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_EXPERTS_ROWMESSAGES_H
