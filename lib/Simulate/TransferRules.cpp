//===- TransferRules.cpp - how the software runs transfers ----------------===//

#include "lib/Simulate/TransferRules.h"
#include "llvm/ADT/STLExtras.h"

using namespace tessera;
using namespace tessera::simulate;

bool tessera::simulate::crossesStages(const Program &program,
                                      const Call &call) {
  return llvm::is_contained(call.meshAxes,
                            static_cast<size_t>(program.stageAxis));
}

std::vector<int64_t> TransferRules::queueOf(const Call &call) const {
  std::vector<int64_t> key;
  bool isMessage = call.kind != CallKind::Collective;
  bool isBetweenThreads = isMessage && !program.isCuda && cluster.nodes == 1;
  if (cluster.software.hasQueuePerGroup || isBetweenThreads) {
    key = {isMessage ? static_cast<int64_t>(call.kind) : 0,
           isMessage ? *call.peer : 0};
    key.insert(key.end(), call.meshAxes.begin(), call.meshAxes.end());
  } else {
    key = {call.wait || program.isCuda};
  }
  return key;
}

bool TransferRules::isCollectiveOver(const std::set<std::string> &axes,
                                     const Call &call) const {
  return call.kind == CallKind::Collective &&
         llvm::all_of(call.meshAxes, [&](size_t axis) {
           return axes.count(program.mesh[axis].name);
         });
}

bool TransferRules::isOverlapped(const Call &call) const {
  return isCollectiveOver(cluster.software.overlappedAxes, call);
}

bool TransferRules::isDeferred(const Call &call) const {
  return call.wait != 0 &&
         (program.stages.size() > 1 || cluster.software.alwaysDefers) &&
         isCollectiveOver(cluster.software.deferredAxes, call);
}

bool TransferRules::blocks(const Call &call) const {
  if (isOverlapped(call))
    return false;
  return call.wait == 0 || llvm::any_of(call.meshAxes, [&](size_t axis) {
           return cluster.software.blockingAxes.count(program.mesh[axis].name);
         });
}

int64_t TransferRules::slicesOf(const Call &call) const {
  if (call.kind != CallKind::Collective || !blocks(call))
    return 1;
  int64_t slices = 1;
  for (size_t axis : call.meshAxes) {
    if (!cluster.software.slicedAxes.count(program.mesh[axis].name))
      return 1;
    slices *= program.mesh[axis].size;
  }
  return slices;
}

std::vector<int64_t> TransferRules::meetingOf(int64_t stage,
                                              const Call &call) const {
  std::vector<int64_t> key;
  if (call.kind == CallKind::Send)
    key = {stage, *call.peer};
  else if (call.kind == CallKind::Receive)
    key = {*call.peer, stage};
  else
    key = {-1, -1};
  key.push_back(call.wait != 0);
  for (size_t axis : call.meshAxes)
    key.push_back(static_cast<int64_t>(axis));
  return key;
}
