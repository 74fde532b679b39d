//===- ArenaOverStep.cpp - what the arena holds, over a step --------------===//

#include "lib/Memory/ArenaOverStep.h"
#include "tessera/Program/ProgramJson.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"
#include <numeric>

using namespace tessera::rt;
using llvm::SmallVector;
using llvm::StringRef;
namespace program = tessera::program;

/// A curve of a screen has no more.
static constexpr int64_t kMostPoints = 240;

using Bytes = SmallVector<int64_t, 5>;

/// Returns the bytes of each kind at each time.
static std::vector<Bytes> bytesOverTime(const ArenaOverStep &arena) {
  size_t kinds = arena.kinds.size();
  std::vector<Bytes> all(arena.end + 2, Bytes(kinds, 0));
  for (const Holding &holding : arena.holdings)
    for (size_t kind = 0; kind < kinds; ++kind) {
      all[holding.begin][kind] += holding.bytes[kind];
      all[holding.end + 1][kind] -= holding.bytes[kind];
    }
  for (size_t time = 1; time < all.size(); ++time)
    for (size_t kind = 0; kind < kinds; ++kind)
      all[time][kind] += all[time - 1][kind];
  all.pop_back();
  return all;
}

static int64_t sumOf(const Bytes &bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), int64_t(0));
}

/// Returns the time of an interval that needs most: the peak where that is in
/// it.
static int64_t fullestOf(const std::vector<Bytes> &bytes, int64_t begin,
                         int64_t end, int64_t peak) {
  if (peak >= begin && peak < end)
    return peak;
  int64_t most = begin;
  for (int64_t time = begin; time < end; ++time)
    if (sumOf(bytes[time]) > sumOf(bytes[most]))
      most = time;
  return most;
}

static std::vector<program::ArenaPoint> pointsOf(const ArenaOverStep &arena) {
  std::vector<Bytes> bytes = bytesOverTime(arena);
  auto times = static_cast<int64_t>(bytes.size());
  int64_t count = std::min(times, kMostPoints);
  std::vector<program::ArenaPoint> points;
  for (int64_t k = 0; k < count; ++k) {
    int64_t time = fullestOf(bytes, times * k / count, times * (k + 1) / count,
                             arena.peak);
    Moment moment = arena.momentAt(time);
    points.push_back({time,
                      moment.name,
                      moment.phase,
                      {bytes[time].begin(), bytes[time].end()}});
  }
  return points;
}

/// Equal entries are one: as many micro-batches have the same frames as are in
/// flight.
static std::vector<program::AliveValues> aliveOf(const ArenaOverStep &arena) {
  struct Sum {
    int64_t count = 0, bytes = 0;
  };
  llvm::MapVector<std::tuple<StringRef, StringRef, StringRef>, Sum> sums;
  for (const Holding &holding : arena.holdings) {
    if (arena.peak < holding.begin || arena.peak > holding.end)
      continue;
    for (auto [kind, bytes] : llvm::zip(arena.kinds, holding.bytes))
      if (bytes) {
        Sum &sum = sums[{kind, holding.op, holding.name}];
        ++sum.count;
        sum.bytes += bytes;
      }
  }
  std::vector<program::AliveValues> alive;
  for (const auto &[what, sum] : sums) {
    auto [kind, op, name] = what;
    alive.push_back({kind.str(), op.str(), name.str(), sum.bytes, sum.count});
  }
  return alive;
}

std::string ArenaOverStep::json() const {
  program::OverStep described{{kinds.begin(), kinds.end()},
                              end + 1,
                              peak,
                              pointsOf(*this),
                              aliveOf(*this)};
  std::string text;
  llvm::raw_string_ostream(text) << program::toJson(described);
  return text;
}
