#include "runtime/calls/CpuDevice.h"

#include "runtime/calls/Calls.h"
#include "runtime/calls/Entry.h"
#include "runtime/device/Arena.h"

#include <cstring>

namespace tessera {

namespace {
class CpuRank final : public DeviceRank {
public:
  explicit CpuRank(Rank &rank) : rank(rank) {
    arena.allocate(rank.metadata->arenaBytesAt(rank.stage));
  }
  unsigned char *hostArena() const override { return arena.data(); }
  void read(int64_t offset, int64_t bytes, void *host) const override {
    std::memcpy(host, arena.data() + offset, bytes);
  }
  void write(int64_t offset, int64_t bytes, const void *host) override {
    std::memcpy(arena.data() + offset, host, bytes);
  }
  void copy(int64_t from, int64_t to, int64_t bytes) override {
    std::memcpy(arena.data() + to, arena.data() + from, bytes);
  }
  void zero(int64_t offset, int64_t bytes) override {
    arena.zero(offset, bytes);
  }
  void poison() override { arena.poison(); }
  Status run(const ProgramStep &step) override {
    return runOnCpu(rank, arena.data(), step);
  }
  std::string describe() const override { return "cpu"; }

private:
  Rank &rank;
  Arena arena;
};

class CpuDevice final : public Device {
public:
  void check(const DeviceRequest &request) const override {
    const bool isOwn =
        request.hasAllRanks()
            ? request.communicator == "threads"
            : request.communicator == "tcp" || request.communicator == "mpi";
    if (!isOwn)
      fail(TSR_UNSUPPORTED, "communicator '", request.communicator,
           "' does not connect ranks ",
           request.hasAllRanks() ? "of one process" : "that are processes",
           " on device 'cpu'; use ",
           request.hasAllRanks() ? "'threads'" : "'tcp' or 'mpi'");
    checkMemory(request.metadata.arenaBytes, request.ranks.machine);
  }
  std::unique_ptr<DeviceRank> openRank(Rank &rank) override {
    return std::make_unique<CpuRank>(rank);
  }
  DeviceReport report() const override {
    DeviceReport report;
    report.parts = {{"cores", describeCores(), "", ""}};
    return report;
  }
};
} // namespace

std::shared_ptr<Device> makeCpuDevice() {
  return std::make_shared<CpuDevice>();
}

Status runOnCpu(Rank &rank, unsigned char *arena, const ProgramStep &step) {
  tsr_abi_frame frame{&cpuApi(),   &rank,     arena,
                      step.number, step.seed, rank.coordinates.data(),
                      runCalls};
  return statusOfProgram(rank, step, step.program(&frame));
}

void runProgram(Rank &rank, const ProgramStep &step) noexcept {
  Status status;
  try {
    status = rank.device->run(step);
  } catch (...) {
    status = currentStatus();
  }
  if (!status.ok() && !rank.communicator->failed())
    rank.communicator->abort(status);
  if (rank.background)
    rank.background->drain();
  rank.messages.clear();
  rank.communicator->left();
}

} // namespace tessera
