//===- NcclCollectives.h - a GPU per rank, through NCCL ---------*- C++ -*-===//
// A communicator per group of ranks, made before the first step; its unique id
// travels through the rank's communicator between hosts, so that ranks may be
// threads or processes. NCCL chooses the order of a sum.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_NCCL_NCCLCOLLECTIVES_H
#define TESSERA_RUNTIME_CUDA_NCCL_NCCLCOLLECTIVES_H

#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/collectives/Collectives.h"
#include "runtime/cuda/nccl/NcclLibrary.h"
#include "runtime/device/Rank.h"

#include <chrono>
#include <map>

namespace tessera::cuda {

class NcclCollectives final : public Collectives {
public:
  NcclCollectives(Rank &rank, int device, cudaStream_t stream)
      : nccl(NcclLibrary::get()), rank(rank), device(device), stream(stream) {}
  ~NcclCollectives() override;

  void announce(int entry, const Collective &call) override;
  void announce(const Coalesced &what) override;
  void announce(const Message &message) override;
  Status connect() override;
  Status allReduce(const Collective &call, void *data) override;
  Status allGather(const Collective &call, const void *src, void *dst) override;
  Status reduceScatter(const Collective &call, const void *src,
                       void *dst) override;
  Status allGatherCoalesced(const Coalesced &what) override;
  Status reduceScatterCoalesced(const Coalesced &what) override;
  Status allToAll(const Collective &call, const void *src, void *dst) override;
  Status broadcast(const Collective &call, int64_t root, void *data) override;
  Status shift(const Shift &call, const void *src, void *dst) override;
  Status zigzag(const Zigzag &call, const ZigzagBuffers &own) override;
  Status send(const Message &message, const void *data) override;
  Status receive(const Message &message, void *data) override;
  bool isCapturable() const override { return true; }
  void startWaiting() override {
    waitingSince = std::chrono::steady_clock::now();
  }
  Status poll() override;
  std::string describe() const override;

private:
  struct Group {
    std::vector<int64_t> ranks; ///< empty: not noted yet
    ncclComm_t comm = nullptr;
    int64_t lastOp = -1;

    int64_t size() const { return static_cast<int64_t>(ranks.size()); }
    /// Returns the place of a rank in the group.
    int memberOf(int64_t rank) const;
  };
  Group &groupOf(int64_t axes);
  int64_t axesTo(int64_t peer) const;
  bool isConnected() const;
  Status checkDevices();
  Status connectGroup(int64_t axes, Group &group);
  Group &use(int64_t op, int64_t axes);
  Status copyOwn(const Coalesced &what);
  int64_t stagedBytes(const Group &group, const Collective &call) const;
  Status swap(const Group &group, const char *out, char *in, int64_t bytes);
  /// A half of a slice and the chunk that it is, one of them here.
  struct Part;
  std::vector<Part> partsOf(const Zigzag &call, const ZigzagBuffers &own);
  Status exchange(const Group &group, const Zigzag &call,
                  const std::vector<Part> &parts);
  Status copyOwn(int64_t bytes, const void *src, void *dst);
  std::string describeTimeout() const;
  void abortAll();

  const NcclLibrary &nccl;
  Rank &rank;
  int device;
  cudaStream_t stream;
  bool devicesChecked = false;
  /// Axes of the collective that was queued last.
  int64_t lastAxes = -1;
  /// One for each set of axes, in every rank's order.
  std::map<int64_t, Group> groups;
  DeviceMemory staging;
  int64_t stagingNeeded = 0;
  std::chrono::steady_clock::time_point waitingSince;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_NCCL_NCCLCOLLECTIVES_H
