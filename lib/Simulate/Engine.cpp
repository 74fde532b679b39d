//===- Engine.cpp - stages, queues and messages in virtual time -----------===//
// A stage runs until it waits for a transfer that cannot end yet, because
// another stage has not come so far. Transfers of a queue run one after the
// other, in the order in which they start.
//===----------------------------------------------------------------------===//

#include "lib/Simulate/Engine.h"
#include "lib/Simulate/SharedCores.h"
#include "lib/Simulate/TransferRules.h"
#include "lib/Simulate/WholeLayers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <deque>

using namespace tessera;
using namespace tessera::simulate;
using llvm::Error;
using llvm::Expected;

namespace {

/// A collective or message of one stage, from its start to its end.
struct Transfer {
  int64_t call = 0, microBatch = 0;
  double ready = 0; ///< The time at which the program starts it.
  double end = -1;  ///< -1: not known yet.
};

/// The place of the call that a stage runs next.
struct Cursor {
  size_t part = 0;
  int64_t round = 0; ///< The round of a loop.
  size_t range = 0;
  int64_t call = 0;
};

/// Calls that run one after the other, so many times.
struct Part {
  std::vector<CallRange> ranges;
  int64_t times = 1, microBatch = 0;
};

struct Queue {
  std::deque<size_t> waiting; ///< Transfers that have not ended.
  double free = 0;
};

struct Stage {
  const StageProgram *program = nullptr;
  std::vector<double> seconds; ///< Seconds of each call.
  /// The calls that each call waits for.
  std::vector<std::vector<int64_t>> starts;
  std::vector<Part> parts;
  Cursor at;
  double now = 0;
  double workBegin = 0;  ///< The begin of the last call that computes.
  double overlapped = 0; ///< The time of calls beside all others.
  std::vector<Transfer> transfers;
  std::vector<Queue> queues;
  std::map<std::vector<int64_t>, size_t> queueNumbers;
  /// The last transfer of a call and micro-batch.
  llvm::DenseMap<std::pair<int64_t, int64_t>, size_t> pending;
  std::optional<size_t>
      awaited; ///< The transfer of the blocking call that it is at.

  bool isDone() const { return at.part == parts.size(); }
  void goTo(size_t part) {
    at = {part, 0, 0, part < parts.size() ? parts[part].ranges[0].begin : 0};
  }
};

/// Transfers at the heads of their queues that need each other.
struct Meeting {
  struct Arrival {
    int64_t stage;
    size_t transfer, queue;
    double begin;
  };
  std::deque<std::vector<Arrival>> rounds;
  /// The rounds that each place has arrived in so far.
  std::vector<size_t> roundOf;
  size_t done = 0; ///< Rounds that were removed.
};

/// Messages from one stage to another that are sent and not received yet.
struct Mailbox {
  std::deque<std::pair<double, double>> sent; ///< Begin and end.
  /// The stage whose queue has a receive at its head, and the queue's number.
  std::optional<std::pair<int64_t, size_t>> receiver;
};

class Engine {
public:
  Engine(const Program &program, const Cluster &cluster, bool wantsSpans)
      : program(program), cluster(cluster), wantsSpans(wantsSpans) {}

  Expected<StepTimes> run();

private:
  void prepare(int64_t number);
  void addParts(Stage &stage);
  bool advance(int64_t number);
  bool runCall(int64_t number);
  bool runTransfer(int64_t number, const Call &call);
  bool runWait(int64_t number);
  void compute(int64_t number, const Call &call);
  void waitUntil(int64_t number, double end, const Call &call);
  void step(Stage &stage);
  void shareCores();
  size_t queueOf(Stage &stage, const Call &call);
  int64_t microBatchOf(const Stage &stage) const;
  size_t begin(int64_t number, int64_t call, int64_t microBatch, double ready);
  double endOfWait(const Stage &stage, const Call &call) const;
  void drain(int64_t number, size_t queue);
  void arrive(int64_t number, size_t queue, const Call &call);
  void finish(int64_t number, size_t queue, double begin, double end);
  void buffer(int64_t number, size_t queue, const Call &call);
  void meet(Meeting &meeting);
  Error explainHang() const;

  const Program &program;
  const Cluster &cluster;
  const TransferRules rules{program, cluster};
  const bool wantsSpans;
  const bool hasSharedCores = cluster.coresPerNode > 0;
  const bool keepsSpans = wantsSpans || hasSharedCores;
  std::vector<Stage> stages;
  StepTimes times;
  std::map<std::vector<int64_t>, Meeting> meetings;
  std::map<std::vector<int64_t>, Mailbox> mailboxes;
  std::vector<int64_t> woken; ///< Stages that may go on.
};

} // namespace

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Parts are loops, or tasks with the calls before and after them.
void Engine::addParts(Stage &stage) {
  const StageProgram &of = *stage.program;
  int64_t end = static_cast<int64_t>(of.calls.size()), done = 0;
  const WholeLayers layers(of);
  auto add = [&](CallRange calls, int64_t times, int64_t microBatch) {
    std::vector<CallRange> ranges = {calls};
    if (cluster.software.recomputesWhole)
      ranges = layers.inPlaceOf(calls);
    if (!ranges.empty())
      stage.parts.push_back({std::move(ranges), times, microBatch});
  };
  auto addStraight = [&](int64_t until) {
    while (done < until) {
      int64_t begin = done, count = of.calls[begin].times;
      while (done < until && of.calls[done].times == count)
        ++done;
      add({begin, done}, count, 0);
    }
  };
  if (of.tasks.empty())
    return addStraight(end);
  addStraight(of.tasks.front().begin);
  for (program::TaskEntry entry : of.order)
    add({of.tasks[entry.task].begin, of.tasks[entry.task].end}, 1,
        entry.microBatch);
  done = of.tasks.back().end;
  addStraight(end);
}

void Engine::prepare(int64_t number) {
  Stage &stage = stages[number];
  stage.program = &program.stages[number];
  stage.starts.resize(stage.program->calls.size());
  // Equal calls of many layers have equal costs.
  std::map<std::tuple<std::vector<size_t>, Collective, int64_t>, double> known;
  int64_t index = 0;
  for (const Call &call : stage.program->calls) {
    bool isCollective = call.kind == CallKind::Collective;
    auto key = std::make_tuple(
        std::vector<size_t>(call.meshAxes.begin(), call.meshAxes.end()),
        call.collective, call.bytes);
    auto found = isCollective ? known.find(key) : known.end();
    double seconds = found != known.end()
                         ? found->second
                         : secondsOf(call, program, number, cluster);
    if (isCollective)
      known[key] = seconds;
    stage.seconds.push_back(seconds);
    if (call.wait)
      stage.starts[call.wait].push_back(index);
    ++index;
  }
  addParts(stage);
  stage.goTo(0);
}

int64_t Engine::microBatchOf(const Stage &stage) const {
  const Part &part = stage.parts[stage.at.part];
  return part.times > 1 ? stage.at.round : part.microBatch;
}

void Engine::step(Stage &stage) {
  const Part &part = stage.parts[stage.at.part];
  if (++stage.at.call < part.ranges[stage.at.range].end)
    return;
  stage.at.range = (stage.at.range + 1) % part.ranges.size();
  stage.at.call = part.ranges[stage.at.range].begin;
  if (stage.at.range == 0 && ++stage.at.round == part.times)
    stage.goTo(stage.at.part + 1);
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

size_t Engine::queueOf(Stage &stage, const Call &call) {
  auto [found, isNew] =
      stage.queueNumbers.try_emplace(rules.queueOf(call), stage.queues.size());
  if (isNew)
    stage.queues.emplace_back();
  return found->second;
}

/// Returns when the transfer that a stage waits for lets it go on; -1: not
/// known yet. In slices, the reader of a tensor begins with the first one, and
/// the last one follows the call that makes it.
double Engine::endOfWait(const Stage &stage, const Call &call) const {
  const Transfer &transfer = stage.transfers[*stage.awaited];
  int64_t slices = rules.slicesOf(call);
  if (slices == 1 || transfer.end < 0)
    return transfer.end;
  double all = stage.seconds[transfer.call];
  double one = all / static_cast<double>(slices);
  return call.collective == Collective::AllGather
             ? transfer.end - all + one
             : std::max(transfer.end, stage.now + one);
}

void Engine::finish(int64_t number, size_t queue, double begin, double end) {
  Stage &stage = stages[number];
  Queue &from = stage.queues[queue];
  Transfer &transfer = stage.transfers[from.waiting.front()];
  transfer.end = end;
  from.waiting.pop_front();
  from.free = end;
  const Call &call = stage.program->calls[transfer.call];
  StageTimes &result = times.stages[number];
  if (rules.isOverlapped(call))
    stage.overlapped += stage.seconds[transfer.call];
  for (size_t axis : call.meshAxes)
    if (axis == call.meshAxes.front())
      result.collectives[axis] += stage.seconds[transfer.call];
  if (keepsSpans)
    result.spans.push_back({transfer.call, transfer.microBatch, begin, end,
                            Span::Transfer, activityOf(program, call)});
}

void Engine::meet(Meeting &meeting) {
  while (!meeting.rounds.empty()) {
    const std::vector<Meeting::Arrival> all = meeting.rounds.front();
    if (all.size() < meeting.roundOf.size())
      return;
    meeting.rounds.pop_front();
    ++meeting.done;
    double begin = 0, seconds = 0;
    for (const Meeting::Arrival &arrival : all) {
      begin = std::max(begin, arrival.begin);
      const Stage &stage = stages[arrival.stage];
      seconds = std::max(seconds,
                         stage.seconds[stage.transfers[arrival.transfer].call]);
    }
    for (const Meeting::Arrival &arrival : all) {
      finish(arrival.stage, arrival.queue, begin, begin + seconds);
      woken.push_back(arrival.stage);
    }
    for (const Meeting::Arrival &arrival : all)
      drain(arrival.stage, arrival.queue);
  }
}

/// A send ends alone, a receive with what was sent.
void Engine::buffer(int64_t number, size_t queue, const Call &call) {
  Stage &stage = stages[number];
  const Transfer &transfer =
      stage.transfers[stage.queues[queue].waiting.front()];
  Mailbox &box = mailboxes[rules.meetingOf(number, call)];
  double begin = std::max(stage.queues[queue].free, transfer.ready);
  if (call.kind == CallKind::Send) {
    double end = begin + stage.seconds[transfer.call];
    box.sent.push_back({begin, end});
    finish(number, queue, begin, end);
    if (!box.receiver)
      return;
    auto [receiver, itsQueue] = *std::exchange(box.receiver, std::nullopt);
    woken.push_back(receiver);
    return drain(receiver, itsQueue);
  }
  if (box.sent.empty()) {
    box.receiver = {number, queue};
    return;
  }
  auto [sent, came] = box.sent.front();
  box.sent.pop_front();
  finish(number, queue, std::max(begin, sent), std::max(begin, came));
}

/// The transfer at the head of a queue is ready for its partners.
void Engine::arrive(int64_t number, size_t queue, const Call &call) {
  Stage &stage = stages[number];
  Queue &from = stage.queues[queue];
  size_t transfer = from.waiting.front();
  Meeting &meeting = meetings[rules.meetingOf(number, call)];
  bool isMessage = call.kind != CallKind::Collective;
  if (meeting.roundOf.empty())
    meeting.roundOf.resize(isMessage ? 2 : stages.size());
  size_t place = !isMessage ? number : call.kind == CallKind::Send ? 0 : 1;
  size_t round = meeting.roundOf[place]++ - meeting.done;
  if (meeting.rounds.size() <= round)
    meeting.rounds.resize(round + 1);
  double begin = std::max(from.free, stage.transfers[transfer].ready);
  meeting.rounds[round].push_back({number, transfer, queue, begin});
  meet(meeting);
}

/// Ends what can end at the head of a queue. A head that waits for its partners
/// has arrived once; its end drains the queue again.
void Engine::drain(int64_t number, size_t queue) {
  Stage &stage = stages[number];
  while (!stage.queues[queue].waiting.empty()) {
    Queue &from = stage.queues[queue];
    const Transfer &transfer = stage.transfers[from.waiting.front()];
    const Call &call = stage.program->calls[transfer.call];
    if (crossesStages(program, call)) {
      bool isMessage = call.kind != CallKind::Collective;
      if (!isMessage || !cluster.software.buffersMessages)
        return arrive(number, queue, call);
      size_t before = stage.queues[queue].waiting.size();
      buffer(number, queue, call);
      if (stage.queues[queue].waiting.size() == before)
        return;
      continue;
    }
    double begin = std::max(from.free, transfer.ready);
    finish(number, queue, begin, begin + stage.seconds[transfer.call]);
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void Engine::compute(int64_t number, const Call &call) {
  Stage &stage = stages[number];
  double seconds = stage.seconds[stage.at.call];
  StageTimes &result = times.stages[number];
  Activity activity = activityOf(program, call);
  result.seconds[static_cast<size_t>(activity)] += seconds;
  if (keepsSpans)
    result.spans.push_back({stage.at.call, microBatchOf(stage), stage.now,
                            stage.now + seconds, Span::Work, activity});
  stage.workBegin = stage.now;
  stage.now += seconds;
}

/// `call` is what the stage waits for.
void Engine::waitUntil(int64_t number, double end, const Call &call) {
  Stage &stage = stages[number];
  if (end <= stage.now)
    return;
  Activity activity = activityOf(program, call);
  StageTimes &result = times.stages[number];
  result.seconds[static_cast<size_t>(activity)] += end - stage.now;
  if (keepsSpans)
    result.spans.push_back({stage.at.call, microBatchOf(stage), stage.now, end,
                            Span::Wait, activity});
  stage.now = end;
}

/// Queues a transfer; returns its number.
size_t Engine::begin(int64_t number, int64_t call, int64_t microBatch,
                     double ready) {
  Stage &stage = stages[number];
  size_t queue = queueOf(stage, stage.program->calls[call]);
  size_t index = stage.transfers.size();
  stage.transfers.push_back({call, microBatch, ready, -1});
  bool isHead = stage.queues[queue].waiting.empty();
  stage.queues[queue].waiting.push_back(index);
  if (isHead)
    drain(number, queue);
  return index;
}

/// Returns false if it cannot end yet.
bool Engine::runTransfer(int64_t number, const Call &call) {
  Stage &stage = stages[number];
  if (rules.isDeferred(call))
    return true;
  if (!stage.awaited) {
    int64_t microBatch = microBatchOf(stage);
    bool followsSlices =
        rules.slicesOf(call) > 1 && call.collective != Collective::AllGather;
    double ready = followsSlices ? stage.workBegin : stage.now;
    size_t index = begin(number, stage.at.call, microBatch, ready);
    if (!rules.blocks(call)) {
      stage.pending[{stage.at.call, microBatch}] = index;
      return true;
    }
    stage.awaited = index;
  }
  double end = endOfWait(stage, call);
  if (end < 0)
    return false;
  waitUntil(number, end, call);
  stage.awaited.reset();
  return true;
}

/// Returns false if a transfer that it waits for cannot end yet.
bool Engine::runWait(int64_t number) {
  Stage &stage = stages[number];
  int64_t microBatch = microBatchOf(stage);
  std::vector<std::pair<int64_t, int64_t>> awaited;
  for (int64_t start : stage.starts[stage.at.call]) {
    std::pair<int64_t, int64_t> key = {start, microBatch};
    const Call &call = stage.program->calls[start];
    if (rules.isDeferred(call) && !stage.pending.count(key))
      stage.pending[key] = begin(number, start, microBatch, stage.now);
    auto found = stage.pending.find(key);
    if (found == stage.pending.end() || rules.isOverlapped(call))
      continue;
    if (stage.transfers[found->second].end < 0)
      return false;
    awaited.push_back(key);
  }
  for (std::pair<int64_t, int64_t> key : awaited) {
    double end = stage.transfers[stage.pending[key]].end;
    double seconds = stage.seconds[key.first] * (1 - cluster.software.hidden);
    waitUntil(number, std::max(end, stage.now + seconds),
              stage.program->calls[key.first]);
    stage.pending.erase(key);
  }
  return true;
}

bool Engine::runCall(int64_t number) {
  const Call &call = stages[number].program->calls[stages[number].at.call];
  switch (call.kind) {
  case CallKind::Wait:
    return runWait(number);
  case CallKind::Collective:
  case CallKind::Send:
  case CallKind::Receive:
    return runTransfer(number, call);
  default:
    compute(number, call);
    return true;
  }
}

/// Runs a stage as far as it comes.
bool Engine::advance(int64_t number) {
  Stage &stage = stages[number];
  while (!stage.isDone()) {
    if (!runCall(number))
      return false;
    step(stage);
  }
  return true;
}

Error Engine::explainHang() const {
  for (size_t number = 0; number < stages.size(); ++number) {
    const Stage &stage = stages[number];
    if (stage.isDone())
      continue;
    const Call &call = stage.program->calls[stage.at.call];
    return llvm::createStringError(
        llvm::formatv("stage {0} waits forever in call {1} ({2} {3})", number,
                      stage.at.call, call.op, call.name));
  }
  return Error::success();
}

/// Ranks that share the cores of a CPU do the same, but slower.
void Engine::shareCores() {
  const SharedCores shared(program, cluster, times);
  times.seconds = shared.at(times.seconds);
  for (auto [number, result] : llvm::enumerate(times.stages)) {
    Stage &stage = stages[number];
    stage.now = shared.at(stage.now);
    result.seconds = {};
    llvm::fill(result.collectives, 0);
    for (Span &span : result.spans) {
      span.begin = shared.at(span.begin);
      span.end = shared.at(span.end);
      const Call &call = stage.program->calls[span.call];
      double seconds = span.end - span.begin;
      if (span.kind != Span::Transfer)
        result.seconds[static_cast<size_t>(span.activity)] += seconds;
      else if (!call.meshAxes.empty())
        result.collectives[call.meshAxes.front()] += seconds;
    }
  }
}

Expected<StepTimes> Engine::run() {
  stages.resize(program.stages.size());
  times.stages.resize(stages.size());
  for (size_t number = 0; number < stages.size(); ++number) {
    times.stages[number].collectives.resize(program.mesh.size());
    prepare(static_cast<int64_t>(number));
    woken.push_back(static_cast<int64_t>(number));
  }
  while (!woken.empty()) {
    int64_t number = woken.back();
    woken.pop_back();
    advance(number);
  }
  if (Error error = explainHang())
    return error;
  for (const Stage &stage : stages)
    times.seconds = std::max({times.seconds, stage.now, stage.overlapped});
  if (hasSharedCores)
    shareCores();
  for (auto [stage, result] : llvm::zip(stages, times.stages)) {
    if (!wantsSpans)
      result.spans.clear();
    result.end = stage.now;
    result.seconds[static_cast<size_t>(Activity::Stages)] +=
        times.seconds - stage.now;
  }
  return std::move(times);
}

Expected<StepTimes> tessera::simulate::runEngine(const Program &program,
                                                 const Cluster &cluster,
                                                 bool wantsSpans) {
  return Engine(program, cluster, wantsSpans).run();
}
