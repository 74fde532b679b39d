//===- CollectiveReport.cpp - what a program communicates -----------------===//

#include "tessera/Report/CollectiveReport.h"
#include "tessera/Program/PartName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tessera;

/// "bucket 3 of stage 1" -> "bucket # of stage 1", and its number; -1: none.
static int64_t markBucket(std::string &name) {
  StringRef rest = name;
  if (!rest.consume_front("bucket "))
    return -1;
  rest.consume_front("of shards ");
  size_t prefix = name.size() - rest.size();
  uint64_t number = 0;
  if (rest.consumeInteger(10, number) ||
      !(rest.empty() || rest.starts_with(" ")))
    return -1;
  name = (StringRef(name).take_front(prefix) + "#" + rest).str();
  return static_cast<int64_t>(number);
}

static CollectiveGroup groupOf(const program::Call &call, Window window) {
  CollectiveGroup group;
  StringRef kind = call.op;
  kind.consume_back("_coalesced"); // the number of tensors tells it
  group.kind = kind.str();
  group.place = program::placeOf(call.name);
  if (int64_t bucket = markBucket(group.place); bucket >= 0) {
    group.isBucket = true;
    group.numbers.insert(bucket);
  }
  group.phase = call.phase;
  group.reason = call.reason;
  group.bytesOfCall = group.leastBytes = call.bytes;
  group.calls = call.times;
  group.tensors = group.calls * call.tensors;
  group.bytesOfStep = group.calls * group.bytesOfCall;
  if (window.end) {
    group.asyncCalls = group.calls;
    group.windows[call.stage.value_or(0)].push_back(window);
  }
  if (call.layer >= 0)
    group.numbers.insert(call.layer);
  group.axes = call.axes;
  return group;
}

bool CollectiveGroup::isAlike(const CollectiveGroup &other) const {
  return kind == other.kind && axes == other.axes && place == other.place &&
         phase == other.phase && reason == other.reason &&
         isBucket == other.isBucket &&
         (isBucket || bytesOfCall == other.bytesOfCall) &&
         numbers.empty() == other.numbers.empty();
}

void CollectiveGroup::add(const CollectiveGroup &other) {
  calls += other.calls;
  tensors += other.tensors;
  bytesOfCall = std::max(bytesOfCall, other.bytesOfCall);
  leastBytes = std::min(leastBytes, other.leastBytes);
  bytesOfStep += other.bytesOfStep;
  asyncCalls += other.asyncCalls;
  numbers.insert(other.numbers.begin(), other.numbers.end());
  for (const auto &[stage, more] : other.windows)
    llvm::append_range(windows[stage], more);
}

std::string CollectiveGroup::axesText() const { return join(axes, ","); }

std::string CollectiveGroup::where() const {
  return program::placeText(place, numbers);
}

void tessera::addCollective(std::vector<CollectiveGroup> &groups,
                            const program::Call &call, Window window) {
  CollectiveGroup group = groupOf(call, window);
  auto same = llvm::find_if(groups, [&](const CollectiveGroup &other) {
    return other.isAlike(group);
  });
  if (same == groups.end())
    groups.push_back(std::move(group));
  else
    same->add(group);
}

void tessera::addWorkBeside(std::vector<CollectiveGroup> &groups, int64_t stage,
                            const WorkInTime &work) {
  for (CollectiveGroup &group : groups) {
    auto own = group.windows.find(stage);
    if (own == group.windows.end())
      continue;
    Work inside = work.inside(own->second);
    group.beside.ops = std::max(group.beside.ops, inside.ops);
    group.beside.flops = std::max(group.beside.flops, inside.flops);
    group.windows.erase(own);
  }
}
