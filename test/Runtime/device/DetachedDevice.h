//===- DetachedDevice.h - a device whose arena the host cannot reach ------===//
// Computes on the CPU, but gives its arena to nobody: what passes on it passes
// through read and write, as on an accelerator.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_RUNTIME_DEVICE_DETACHEDDEVICE_H
#define TESSERA_TEST_RUNTIME_DEVICE_DETACHEDDEVICE_H

#include "runtime/calls/CpuDevice.h"
#include "runtime/device/Arena.h"

#include <atomic>
#include <cstring>
#include <functional>

namespace fixture {

struct Traffic {
  std::atomic<int64_t> reads{0}, writes{0};
  std::atomic<int64_t> staged{0}; ///< staged writes
};

/// Staged: the host writes through memory of the device's.
enum class Reach { Detached, Staged, Addressable };

class DetachedRank final : public tessera::DeviceRank {
public:
  using OnWrite = std::function<void(tessera::Rank &)>;
  DetachedRank(tessera::Rank &rank, Reach reach, Traffic &traffic,
               const OnWrite &onWrite)
      : rank(rank), reach(reach), traffic(traffic), onWrite(onWrite) {
    arena.allocate(rank.metadata->arenaBytes);
  }
  unsigned char *hostArena() const override {
    return reach == Reach::Addressable ? arena.data() : nullptr;
  }
  void read(int64_t offset, int64_t bytes, void *host) const override {
    ++traffic.reads;
    std::memcpy(host, arena.data() + offset, bytes);
  }
  unsigned char *stage(int64_t bytes) override {
    if (reach != Reach::Staged)
      return nullptr;
    staging.assign(bytes, 0xA5);
    return staging.data();
  }
  unsigned char *stagePiece(int64_t bytes) override {
    if (reach != Reach::Staged)
      return nullptr;
    std::vector<unsigned char> &piece = pieces[nextPiece];
    nextPiece = (nextPiece + 1) % tessera::stagedPieces;
    piece.assign(bytes, 0xA5);
    return piece.data();
  }
  void write(int64_t offset, int64_t bytes, const void *host) override {
    if (onWrite)
      onWrite(rank);
    ++traffic.writes;
    traffic.staged += host == staging.data();
    std::memcpy(arena.data() + offset, host, bytes);
  }
  void copy(int64_t from, int64_t to, int64_t bytes) override {
    std::memcpy(arena.data() + to, arena.data() + from, bytes);
  }
  void zero(int64_t offset, int64_t bytes) override {
    std::memset(arena.data() + offset, 0, bytes);
  }
  void poison() override { arena.poison(); }
  tessera::Status run(const tessera::ProgramStep &step) override {
    ++steps;
    return tessera::runOnCpu(rank, arena.data(), step);
  }
  std::string describe() const override {
    return "detached, " + std::to_string(steps) + " steps";
  }

private:
  tessera::Rank &rank;
  Reach reach;
  Traffic &traffic;
  const OnWrite &onWrite;
  tessera::Arena arena;
  std::vector<unsigned char> staging, pieces[tessera::stagedPieces];
  int nextPiece = 0;
  int steps = 0;
};

class DetachedDevice final : public tessera::Device {
public:
  explicit DetachedDevice(Reach reach = Reach::Detached) : reach(reach) {}

  void check(const tessera::DeviceRequest &request) const override {
    if (onCheck)
      onCheck(request);
  }
  std::unique_ptr<tessera::DeviceRank> openRank(tessera::Rank &rank) override {
    if (onOpen)
      onOpen(rank);
    return std::make_unique<DetachedRank>(rank, reach, traffic, onWrite);
  }
  tessera::DeviceReport report() const override { return {}; }

  Traffic traffic;
  std::function<void(const tessera::DeviceRequest &)> onCheck;
  std::function<void(tessera::Rank &)> onOpen, onWrite;

private:
  Reach reach;
};

} // namespace fixture

#endif // TESSERA_TEST_RUNTIME_DEVICE_DETACHEDDEVICE_H
