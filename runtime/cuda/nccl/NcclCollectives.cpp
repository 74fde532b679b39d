//===- NcclCollectives.cpp - groups: made, watched, ended -----------------===//

#include "runtime/cuda/nccl/NcclCollectives.h"
#include "runtime/collectives/Slices.h"
#include "runtime/cuda/nccl/NcclConnection.h"
#include "runtime/support/DType.h"

#include <algorithm>
#include <array>

namespace tessera::cuda {

using Clock = std::chrono::steady_clock;

NcclCollectives::~NcclCollectives() {
  for (auto &[axes, group] : groups)
    if (group.comm)
      rank.communicator->failed() ? nccl.commAbort(group.comm)
                                  : nccl.commDestroy(group.comm);
}

NcclCollectives::Group &NcclCollectives::groupOf(int64_t axes) {
  Group &group = groups[axes];
  if (group.ranks.empty())
    group.ranks = rank.metadata->mesh.group(rank.number, axes);
  return group;
}

void NcclCollectives::announce(int entry, const Collective &call) {
  int64_t elements = groupOf(call.axes).size() * call.outer * call.count;
  if (entry == TSR_ENTRY_ZIGZAG)
    elements = 2 * call.outer * call.count; // the halves of a slice
  const bool isWhole =
      entry == TSR_ENTRY_ALL_TO_ALL
          ? sourceSlices(call, 1).count == 1 && targetSlices(call, 1).count == 1
          : call.outer == 1;
  if (isWhole)
    return; // it is already in its place
  if (entry == TSR_ENTRY_ALL_TO_ALL)
    elements *= 2 * call.rows; // outgoing rows, then incoming ones
  stagingNeeded = std::max(stagingNeeded, elements * dtypeBytes(call.dtype));
}

void NcclCollectives::announce(const Coalesced &what) {
  const Group &group = groupOf(what.call.axes);
  int64_t bytes = 0;
  for (const Coalesced::Member &member : what.members)
    bytes += stagedBytes(group, member.call);
  stagingNeeded = std::max(stagingNeeded, bytes);
}

void NcclCollectives::announce(const Message &message) {
  groupOf(axesTo(message.peer));
}

bool NcclCollectives::isConnected() const {
  return std::all_of(groups.begin(), groups.end(), [](const auto &entry) {
    return entry.second.comm || entry.second.size() == 1;
  });
}

Status NcclCollectives::connect() {
  if (stagingNeeded > staging.size()) {
    check(cudaStreamSynchronize(stream), "waiting for collectives");
    staging.allocate(stagingNeeded, "collectives");
  }
  if (isConnected())
    return {};
  if (Status status = checkDevices(); !status.ok())
    return status;
  for (auto &[axes, group] : groups)
    if (!group.comm && group.size() > 1)
      if (Status status = connectGroup(axes, group); !status.ok())
        return status;
  return {};
}

/// NCCL itself would only say "invalid usage".
Status NcclCollectives::checkDevices() {
  if (devicesChecked)
    return {};
  devicesChecked = true;
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "asking for the GPU");
  using Id = std::array<char, sizeof properties.uuid.bytes>;
  const Mesh &mesh = rank.metadata->mesh;
  Collective call;
  call.axes = (int64_t(1) << mesh.axes.size()) - 1;
  call.count = sizeof(Id) / sizeof(int32_t);
  call.dtype = TSR_DTYPE_I32;
  std::vector<Id> ids(mesh.ranks());
  if (Status status =
          rank.communicator->allGather(call, properties.uuid.bytes, ids.data());
      !status.ok())
    return status;
  for (size_t i = 0; i < ids.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (ids[i] == ids[j])
        return {TSR_UNSUPPORTED,
                concat("ranks ", j, " and ", i,
                       " are on the same GPU, "
                       "communicator 'nccl' needs one for each; use "
                       "communicator 'threads', which shares GPUs between the "
                       "ranks of one process, or fewer ranks")};
  return {};
}

Status NcclCollectives::connectGroup(int64_t axes, Group &group) {
  int member = group.memberOf(rank.number);
  ncclUniqueId id{};
  if (member == 0)
    if (Status status =
            nccl.statusOf(nccl.getUniqueId(&id), "starting a group");
        !status.ok())
      return status;
  Collective call;
  call.axes = axes;
  call.count = sizeof id / sizeof(int32_t);
  call.dtype = TSR_DTYPE_I32;
  if (Status status = rank.communicator->broadcast(call, 0, &id); !status.ok())
    return status;
  NcclSeat seat{id, static_cast<int>(group.size()), member, device,
                rank.metadata->mesh.describe(axes)};
  if (Status status = connectNccl(nccl, seat, rank, &group.comm); !status.ok())
    return status;
  return rank.communicator->barrier(call); // all are connected, or none goes on
}

/// Ends what waits on the GPU; the communicators are gone then.
void NcclCollectives::abortAll() {
  for (auto &[axes, group] : groups) {
    if (group.comm)
      nccl.commAbort(group.comm);
    group.comm = nullptr;
  }
}

/// The host only knows what was queued, and where the other ranks' hosts are.
std::string NcclCollectives::describeTimeout() const {
  auto last = groups.find(lastAxes);
  std::string queued =
      last == groups.end()
          ? "no collective was queued"
          : concat("queued last was ",
                   rank.metadata->describeOp(last->second.lastOp), " over ",
                   rank.metadata->mesh.describe(lastAxes));
  return concat("the step of rank ", rank.number,
                " did not finish on its GPU within ", rank.timeout.count(),
                " ms; ", queued, "; ", rank.communicator->describeOthers());
}

Status NcclCollectives::poll() {
  Status failure = rank.communicator->failure();
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
  if (failure.ok() && Clock::now() - waitingSince > rank.timeout)
    failure = {TSR_TIMEOUT, describeTimeout()};
  if (failure.ok())
    return {};
  rank.communicator->abort(failure);
  abortAll();
  return failure;
}

std::string NcclCollectives::describe() const {
  return "nccl " + ncclVersion();
}

void checkNccl(const LocalRanks &ranks, int devices) {
  if (ranks.count > devices)
    fail(TSR_UNSUPPORTED, "communicator 'nccl' needs a GPU for each of the ",
         ranks.count, " ranks, there are ", devices,
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

std::unique_ptr<Collectives> makeNcclCollectives(Rank &rank, int device,
                                                 cudaStream_t stream) {
  return std::make_unique<NcclCollectives>(rank, device, stream);
}

} // namespace tessera::cuda
