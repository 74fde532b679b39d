//===- NcclCollectives.cpp - one process that drives one GPU per rank -----===//
// A communicator per group of ranks, made before the first step; its unique id
// travels through the threads' meeting point. NCCL chooses the order of a sum.

#include "Collectives.h"
#include "DType.h"
#include "DeviceMemory.h"
#include "Meetings.h"
#include "NcclLibrary.h"
#include "Rank.h"
#include "Rows.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>

namespace tessera::cuda {

namespace {
using Clock = std::chrono::steady_clock;

ncclDataType_t dataType(int dtype) {
  switch (dtype) {
  case TSR_DTYPE_BF16:
    return ncclBfloat16;
  case TSR_DTYPE_F64:
    return ncclFloat64;
  case TSR_DTYPE_I32:
    return ncclInt32;
  default:
    return ncclFloat32;
  }
}

ncclRedOp_t reductionOf(const Collective &call) {
  return call.reduction == TSR_REDUCE_MAX ? ncclMax : ncclSum;
}

class NcclCollectives final : public Collectives {
public:
  NcclCollectives(Rank &rank, cudaStream_t stream)
      : nccl(NcclLibrary::get()), rank(rank),
        meetings(*rank.world, rank.number), stream(stream) {}
  ~NcclCollectives() override;

  void note(const Collective &call) override;
  Status connect() override;
  Status allReduce(const Collective &call, void *data) override;
  Status allGather(const Collective &call, const void *src, void *dst) override;
  Status reduceScatter(const Collective &call, const void *src,
                       void *dst) override;
  bool isCapturable() const override { return true; }
  void startWaiting() override { waitingSince = Clock::now(); }
  Status poll() override;
  std::string describe() const override;

private:
  struct Group {
    Meetings::Seat seat;
    ncclComm_t comm = nullptr;
    int64_t lastOp = -1;
  };
  Status connectGroup(int64_t axes, Group &group);
  Group &use(const Collective &call);
  Status copyOwn(int64_t bytes, const void *src, void *dst);
  void abortAll();

  const NcclLibrary &nccl;
  Rank &rank;
  Meetings meetings;
  cudaStream_t stream;
  std::map<int64_t, Group> groups; ///< by set of axes: every rank's order
  DeviceMemory staging;
  int64_t stagingNeeded = 0;
  Clock::time_point waitingSince;
};

NcclCollectives::~NcclCollectives() {
  for (auto &[axes, group] : groups)
    if (group.comm)
      rank.world->failed() ? nccl.commAbort(group.comm)
                           : nccl.commDestroy(group.comm);
}

void NcclCollectives::note(const Collective &call) {
  Group &group = groups[call.axes];
  if (!group.seat.group)
    group.seat = meetings.seatOf(call.axes);
  if (call.outer > 1)
    stagingNeeded =
        std::max(stagingNeeded, call.outer * call.count * group.seat.size() *
                                    dtypeBytes(call.dtype));
}

Status NcclCollectives::connect() {
  if (stagingNeeded > staging.size()) {
    check(cudaStreamSynchronize(stream), "waiting for collectives");
    staging.allocate(stagingNeeded, "collectives");
  }
  for (auto &[axes, group] : groups)
    if (!group.comm && group.seat.size() > 1)
      if (Status status = connectGroup(axes, group); !status.ok())
        return status;
  return {};
}

Status NcclCollectives::connectGroup(int64_t axes, Group &group) {
  ncclUniqueId id;
  if (group.seat.member == 0)
    if (Status status =
            nccl.statusOf(nccl.getUniqueId(&id), "starting a group");
        !status.ok())
      return status;
  Collective call;
  call.axes = axes;
  if (Status status =
          meetings.open(group.seat, {"nccl", call, 0, &id, nullptr});
      !status.ok())
    return status;
  id = *static_cast<const ncclUniqueId *>(group.seat.offeredData()[0]);
  ncclResult_t result =
      nccl.commInitRank(&group.comm, static_cast<int>(group.seat.size()), id,
                        static_cast<int>(group.seat.member));
  if (Status status = nccl.statusOf(
          result, "connecting " + rank.metadata->mesh.describe(axes));
      !status.ok())
    return status;
  return meetings.close(group.seat); // nobody leaves before all are connected
}

NcclCollectives::Group &NcclCollectives::use(const Collective &call) {
  Group &group = groups[call.axes];
  group.lastOp = call.op;
  return group;
}

Status NcclCollectives::allReduce(const Collective &call, void *data) {
  Group &group = use(call);
  if (group.seat.size() == 1)
    return {};
  return nccl.statusOf(nccl.allReduce(data, data, call.count,
                                      dataType(call.dtype), reductionOf(call),
                                      group.comm, stream),
                       "all_reduce");
}

/// What gathering and scattering are in a group of one.
Status NcclCollectives::copyOwn(int64_t bytes, const void *src, void *dst) {
  if (src != dst)
    copyRows({1, bytes, src, 0, dst, 0}, stream);
  return {};
}

Status NcclCollectives::allGather(const Collective &call, const void *src,
                                  void *dst) {
  Group &group = use(call);
  int64_t size = group.seat.size();
  int64_t bytes = call.count * dtypeBytes(call.dtype);
  if (size == 1)
    return copyOwn(call.outer * bytes, src, dst);
  void *target = call.outer == 1 ? dst : staging.data();
  if (Status status = nccl.statusOf(
          nccl.allGather(src, target, call.outer * call.count,
                         dataType(call.dtype), group.comm, stream),
          "all_gather");
      !status.ok() || call.outer == 1)
    return status;
  for (int64_t i = 0; i < size; ++i)
    copyRows({call.outer, bytes, staging.data() + i * call.outer * bytes, bytes,
              static_cast<char *>(dst) + i * bytes, size * bytes},
             stream);
  return {};
}

Status NcclCollectives::reduceScatter(const Collective &call, const void *src,
                                      void *dst) {
  Group &group = use(call);
  int64_t size = group.seat.size();
  int64_t bytes = call.count * dtypeBytes(call.dtype);
  if (size == 1)
    return copyOwn(call.outer * bytes, src, dst);
  for (int64_t i = 0; call.outer > 1 && i < size; ++i)
    copyRows({call.outer, bytes, static_cast<const char *>(src) + i * bytes,
              size * bytes, staging.data() + i * call.outer * bytes, bytes},
             stream);
  const void *source = call.outer == 1 ? src : staging.data();
  return nccl.statusOf(nccl.reduceScatter(source, dst, call.outer * call.count,
                                          dataType(call.dtype),
                                          reductionOf(call), group.comm,
                                          stream),
                       "reduce_scatter");
}

/// Ends what waits on the GPU; the communicators are gone then.
void NcclCollectives::abortAll() {
  for (auto &[axes, group] : groups) {
    if (group.comm)
      nccl.commAbort(group.comm);
    group.comm = nullptr;
  }
}

Status NcclCollectives::poll() {
  Status failure = rank.world->failure();
  for (auto &[axes, group] : groups) {
    ncclResult_t result = ncclSuccess;
    if (failure.ok() && group.comm &&
        nccl.commGetAsyncError(group.comm, &result) == ncclSuccess &&
        result != ncclInProgress)
      failure = nccl.statusOf(result,
                              concat(rank.metadata->mesh.describe(axes),
                                     " on rank ", rank.number, ", last queued ",
                                     rank.metadata->describeOp(group.lastOp)));
  }
  if (failure.ok() &&
      Clock::now() - waitingSince > rank.world->options().timeout)
    failure = {TSR_TIMEOUT,
               concat("the step of rank ", rank.number,
                      " did not finish on the GPU within ",
                      rank.world->options().timeout.count(),
                      " ms; a rank of its groups is missing or slow")};
  if (failure.ok())
    return {};
  rank.communicator->abort(failure);
  abortAll();
  return failure;
}

std::string NcclCollectives::describe() const {
  return "nccl " + ncclVersion();
}

bool isOneOfManyProcesses() {
  const char *size = std::getenv("WORLD_SIZE"); // as torchrun and Slurm set it
  return size && std::atoi(size) > 1;
}
} // namespace

void checkNccl(int64_t ranks, int devices) {
  if (isOneOfManyProcesses())
    fail(TSR_UNSUPPORTED, "WORLD_SIZE is ", std::getenv("WORLD_SIZE"),
         ", but this version drives all GPUs from one process; start it once, "
         "without torchrun or srun");
  if (ranks > devices)
    fail(TSR_UNSUPPORTED, "communicator 'nccl' needs a GPU for each of the ",
         ranks, " ranks, there are ", devices,
         "; use communicator 'threads', which shares GPUs between ranks");
  NcclLibrary::get();
}

std::string ncclVersion() {
  try {
    int version = 0;
    NcclLibrary::get().getVersion(&version);
    return concat(version / 10000, ".", version % 10000 / 100, ".",
                  version % 100);
  } catch (const Error &) {
    return "";
  }
}

std::unique_ptr<Collectives> makeNcclCollectives(Rank &rank,
                                                 cudaStream_t stream) {
  return std::make_unique<NcclCollectives>(rank, stream);
}

} // namespace tessera::cuda
