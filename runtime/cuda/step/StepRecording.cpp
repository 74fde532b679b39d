#include "runtime/cuda/step/StepRecording.h"

#include <algorithm>

namespace tessera::cuda {

/// Returns whether an argument may differ from step to step without being
/// another call.
static bool varies(int entry, int64_t argument) {
  if (entry == TSR_ENTRY_LAUNCH)
    return argument >= TSR_LAUNCH_SCALARS;
  return isAttention(entry) &&
         (argument == TSR_ATTENTION_SEED || argument == TSR_ATTENTION_STEP);
}

void StepRecording::clear() {
  table.clear();
  digest = CallDigest();
}

void StepRecording::record(const Call &call) {
  Arity arity = arityOf(call);
  digest.add(int64_t(call.entry));
  for (int64_t i = 0; i < arity.buffers; ++i)
    digest.add(call.buffers[i]);
  for (int64_t i = 0; i < arity.args; ++i)
    if (!varies(call.entry, i))
      digest.add(call.args[i]);
  recordScalars(call);
}

void StepRecording::record(const tsr_abi_frame &frame,
                           const tsr_abi_calls &calls, const int64_t *scalars) {
  CallReader reader(frame.arena, calls, scalars);
  const List &list = listOf(calls, reader);
  digest.add(&calls);
  for (int64_t scalar : list.deciding)
    digest.add(scalars[scalar]);
  for (int64_t position : list.varying) {
    reader.moveTo(position);
    reader.read();
    recordScalars({reader.call().entry, 0, reader.buffers(), reader.args()});
  }
}

const StepRecording::List &StepRecording::listOf(const tsr_abi_calls &calls,
                                                 CallReader &reader) {
  if (auto known = lists.find(&calls); known != lists.end())
    return known->second;
  List list;
  for (int64_t i = 0; i < calls.count; ++i) {
    int64_t position = reader.position();
    reader.read();
    int entry = reader.call().entry;
    bool hasScalars = isAttention(entry);
    if (entry == TSR_ENTRY_LAUNCH)
      hasScalars = kernelOf(reader.buffers()).scalars > 0;
    if (hasScalars)
      list.varying.push_back(position);
    for (ScalarUse use : scalarsOf(calls, position))
      if (!varies(entry, use.argument))
        list.deciding.push_back(use.scalar);
  }
  std::sort(list.deciding.begin(), list.deciding.end());
  list.deciding.erase(std::unique(list.deciding.begin(), list.deciding.end()),
                      list.deciding.end());
  return lists.emplace(&calls, std::move(list)).first->second;
}

void StepRecording::recordScalars(const Call &call) {
  if (call.entry == TSR_ENTRY_LAUNCH)
    table.put(call.args + TSR_LAUNCH_SCALARS, kernelOf(call.buffers).scalars);
  if (!isAttention(call.entry) || dropoutOf(call) <= 0)
    return;
  auto key = static_cast<int64_t>(tsr_abi_stream(
      call.args[TSR_ATTENTION_SEED], call.args[TSR_ATTENTION_STEP],
      call.args[TSR_ATTENTION_STREAM]));
  table.put(&key, 1);
}

} // namespace tessera::cuda
