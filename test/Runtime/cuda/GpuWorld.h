//===- GpuWorld.h - ranks of a test on the GPUs of the machine --*- C++ -*-===//
// Runs C++ bodies in the place of compiled programs: what they call is the
// table of the CUDA device. Several ranks share a GPU where there are fewer.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_GPUWORLD_H
#define TESSERA_TEST_RUNTIME_CUDA_GPUWORLD_H

#include "runtime/device/Rank.h"
#include "tessera/abi.h"

#include <algorithm>
#include <functional>

namespace gpu {

/// A rank's program, with shorter words for the calls.
struct Program {
  const tsr_abi_frame &frame;

  void *at(int64_t offset) const { return frame.arena + offset; }
  int32_t call(tsr_abi_entry entry, std::vector<void *> buffers,
               std::vector<int64_t> args) const {
    args.resize(std::max<size_t>(args.size(), TSR_COLLECTIVE_ARGS));
    buffers.resize(std::max<size_t>(buffers.size(), 3)); // no gates
    return entry(frame.context, 0, buffers.data(), args.data());
  }
};
using Body = std::function<int32_t(const Program &)>;

/// Ranks meet on the host as threads or processes; each rank is a thread in any
/// case.
enum class Hosts { Threads, Processes };

struct WorldOptions {
  std::vector<tessera::Axis> axes;
  int64_t arenaBytes = 1 << 16;
  Body body;
  std::vector<tessera::TensorInfo> tensors{};
  const tsr_abi_device_image *image = nullptr;
  bool poison = false;
  int timeoutMs = 20000;
  const char *communicator = "threads";
  Hosts hosts = Hosts::Threads;
};

/// One at a time: the body is the process's.
class World {
public:
  /// Throws tessera::Error as a session would.
  explicit World(const WorldOptions &options);
  ~World();

  /// Runs one step of all ranks; returns the first failure.
  tessera::Status step(int64_t number = 0, int64_t seed = 0);
  template <class T>
  void write(int64_t rank, int64_t offset, const std::vector<T> &values) {
    ranks[rank]->device->write(offset, values.size() * sizeof(T),
                               values.data());
  }
  template <class T>
  std::vector<T> read(int64_t rank, int64_t offset, int64_t count) const {
    std::vector<T> values(count);
    ranks[rank]->device->read(offset, count * sizeof(T), values.data());
    return values;
  }
  void copy(int64_t rank, int64_t from, int64_t to, int64_t bytes) {
    ranks[rank]->device->copy(from, to, bytes);
  }
  std::string describe() const { return ranks[0]->device->describe(); }
  int64_t size() const { return static_cast<int64_t>(ranks.size()); }
  const tessera::Mesh &mesh() const { return metadata->mesh; }

private:
  template <class Each> void onEveryRank(const Each &each);
  void connectThreads(const WorldOptions &options);
  void connectProcesses(const WorldOptions &options);
  void openDevices(const WorldOptions &options);
  tessera::DescribeOp describer() const;
  tessera::Status failure() const { return ranks[0]->communicator->failure(); }

  std::shared_ptr<tessera::Metadata> metadata;
  std::shared_ptr<tessera::Code> code;
  std::shared_ptr<tessera::Device> device;
  std::vector<std::unique_ptr<tessera::Rank>> ranks;
};

/// Returns a world of one rank.
WorldOptions single(int64_t arenaBytes, Body body);

} // namespace gpu

#endif // TESSERA_TEST_RUNTIME_CUDA_GPUWORLD_H
