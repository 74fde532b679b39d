//===- Engine.cpp - stages, queues and messages in virtual time -----------===//
// A stage runs until it waits for a transfer that cannot end yet, because
// another stage has not come so far. Transfers of a queue run one after the
// other, in the order in which they start.
//===----------------------------------------------------------------------===//

#include "lib/Simulate/SharedCores.h"
#include "lib/Simulate/WholeLayers.h"
#include "tessera/Options/Counted.h"
#include "tessera/Simulate/Simulate.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <deque>

using namespace tessera;
using namespace tessera::simulate;
using llvm::Error;
using llvm::Expected;

const char *tessera::simulate::nameOf(Activity activity) {
  constexpr const char *names[kActivities] = {
      "products", "attention", "kernels", "collectives", "stages"};
  return names[static_cast<size_t>(activity)];
}

static bool crossesStages(const Program &program, const Call &call) {
  return llvm::is_contained(call.axes, static_cast<size_t>(program.stageAxis));
}

Activity tessera::simulate::activityOf(const Program &program,
                                       const Call &call) {
  switch (call.kind) {
  case CallKind::Product:
    return Activity::Products;
  case CallKind::Attention:
  case CallKind::AttentionGradient:
    return Activity::Attention;
  case CallKind::Kernel:
    return Activity::Kernels;
  case CallKind::Collective:
  case CallKind::Send:
  case CallKind::Receive:
  case CallKind::Wait:
    break;
  }
  return crossesStages(program, call) ? Activity::Stages
                                      : Activity::Collectives;
}

namespace {

/// A collective or message of one stage, from its start to its end.
struct Transfer {
  int64_t call = 0, microBatch = 0;
  double ready = 0; ///< When the program starts it.
  double end = -1;  ///< -1: not known yet.
};

/// What a stage runs next.
struct Cursor {
  size_t part = 0;
  int64_t round = 0; ///< Of a loop.
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
  std::vector<double> seconds;              ///< By call.
  std::vector<std::vector<int64_t>> starts; ///< By call: what it waits for.
  std::vector<Part> parts;
  Cursor at;
  double now = 0;
  double workBegin = 0;  ///< Of the last call that computes.
  double overlapped = 0; ///< Of its calls, those beside all others.
  std::vector<Transfer> transfers;
  std::vector<Queue> queues;
  std::map<std::vector<int64_t>, size_t> queueNumbers;
  /// The last transfer of a call and micro-batch.
  llvm::DenseMap<std::pair<int64_t, int64_t>, size_t> pending;
  std::optional<size_t> awaited; ///< Of the blocking call that it is at.

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
  std::vector<size_t> roundOf; ///< By place: rounds it has arrived in so far.
  size_t done = 0;             ///< Rounds that were removed.
};

/// Messages from one stage to another that are sent and not received yet.
struct Mailbox {
  std::deque<std::pair<double, double>> sent; ///< Begin and end.
  /// Whose queue has a receive at its head, and the number of the queue.
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
  bool blocks(const Call &call) const;
  bool isCollectiveOver(const std::set<std::string> &axes,
                        const Call &call) const;
  bool isOverlapped(const Call &call) const;
  bool isDeferred(const Call &call) const;
  size_t begin(int64_t number, int64_t call, int64_t microBatch, double ready);
  int64_t slicesOf(const Call &call) const;
  double endOfWait(const Stage &stage, const Call &call) const;
  void drain(int64_t number, size_t queue);
  void arrive(int64_t number, size_t queue, const Call &call);
  void finish(int64_t number, size_t queue, double begin, double end);
  void buffer(int64_t number, size_t queue, const Call &call);
  void meet(Meeting &meeting);
  std::vector<int64_t> meetingOf(int64_t number, const Call &call) const;
  Error explainHang() const;

  const Program &program;
  const Cluster &cluster;
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

/// Loops, or tasks with what is before and after them.
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
  for (StageProgram::Entry entry : of.order)
    add(of.tasks[entry.task], 1, entry.microBatch);
  done = of.tasks.back().end;
  addStraight(end);
}

void Engine::prepare(int64_t number) {
  Stage &stage = stages[number];
  stage.program = &program.stages[number];
  stage.starts.resize(stage.program->calls.size());
  // Equal calls of many layers have equal costs.
  std::map<std::pair<std::vector<size_t>, std::pair<int, double>>, double>
      known;
  int64_t index = 0;
  for (const Call &call : stage.program->calls) {
    bool isCollective = call.kind == CallKind::Collective;
    auto key = std::make_pair(
        call.axes,
        std::make_pair(static_cast<int>(call.collective), call.bytes));
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

/// On a GPU a rank has one stream for all of them. The threads of a CPU run
/// those that block themselves, and messages between them wait for no others.
size_t Engine::queueOf(Stage &stage, const Call &call) {
  std::vector<int64_t> key;
  bool isMessage = call.kind != CallKind::Collective;
  bool isBetweenThreads = isMessage && !program.isCuda && cluster.nodes == 1;
  if (cluster.software.hasQueuePerGroup || isBetweenThreads) {
    key = {isMessage ? static_cast<int64_t>(call.kind) : 0,
           isMessage ? call.peer : 0};
    key.insert(key.end(), call.axes.begin(), call.axes.end());
  } else {
    key = {call.wait || program.isCuda};
  }
  auto [found, isNew] =
      stage.queueNumbers.try_emplace(key, stage.queues.size());
  if (isNew)
    stage.queues.emplace_back();
  return found->second;
}

bool Engine::isCollectiveOver(const std::set<std::string> &axes,
                              const Call &call) const {
  return call.kind == CallKind::Collective &&
         llvm::all_of(call.axes, [&](size_t axis) {
           return axes.count(program.mesh[axis].name);
         });
}

/// Whether the software runs a collective beside all other work.
bool Engine::isOverlapped(const Call &call) const {
  return isCollectiveOver(cluster.software.overlappedAxes, call);
}

/// Whether the software begins a collective where Tessera waits for it.
bool Engine::isDeferred(const Call &call) const {
  return call.wait != 0 &&
         (stages.size() > 1 || cluster.software.alwaysDefers) &&
         isCollectiveOver(cluster.software.deferredAxes, call);
}

/// Whether the program waits where the call stands.
bool Engine::blocks(const Call &call) const {
  if (isOverlapped(call))
    return false;
  return call.wait == 0 || llvm::any_of(call.axes, [&](size_t axis) {
           return cluster.software.blockingAxes.count(program.mesh[axis].name);
         });
}

/// In how many parts a collective runs beside its product; 1: all at once.
int64_t Engine::slicesOf(const Call &call) const {
  if (call.kind != CallKind::Collective || !blocks(call))
    return 1;
  int64_t slices = 1;
  for (size_t axis : call.axes) {
    if (!cluster.software.slicedAxes.count(program.mesh[axis].name))
      return 1;
    slices *= program.mesh[axis].size;
  }
  return slices;
}

/// When the transfer that a stage waits for lets it go on. In slices, what
/// reads a tensor begins with the first one, and the last one follows what
/// makes it.
double Engine::endOfWait(const Stage &stage, const Call &call) const {
  const Transfer &transfer = stage.transfers[*stage.awaited];
  int64_t slices = slicesOf(call);
  if (slices == 1 || transfer.end < 0)
    return transfer.end;
  double all = stage.seconds[transfer.call];
  double one = all / static_cast<double>(slices);
  return call.collective == dist::Collective::AllGather
             ? transfer.end - all + one
             : std::max(transfer.end, stage.now + one);
}

/// Whose calls belong together: sends with receives of the peer, the k-th with
/// the k-th, and collectives over the same axes.
std::vector<int64_t> Engine::meetingOf(int64_t number, const Call &call) const {
  std::vector<int64_t> key;
  if (call.kind == CallKind::Send)
    key = {number, call.peer};
  else if (call.kind == CallKind::Receive)
    key = {call.peer, number};
  else
    key = {-1, -1};
  key.push_back(call.wait != 0);
  for (size_t axis : call.axes)
    key.push_back(static_cast<int64_t>(axis));
  return key;
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
  if (isOverlapped(call))
    stage.overlapped += stage.seconds[transfer.call];
  for (size_t axis : call.axes)
    if (axis == call.axes.front())
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
  Mailbox &box = mailboxes[meetingOf(number, call)];
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
  Meeting &meeting = meetings[meetingOf(number, call)];
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

/// Queues a transfer; its number.
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

/// False: it cannot end yet.
bool Engine::runTransfer(int64_t number, const Call &call) {
  Stage &stage = stages[number];
  if (isDeferred(call))
    return true;
  if (!stage.awaited) {
    int64_t microBatch = microBatchOf(stage);
    bool followsSlices =
        slicesOf(call) > 1 && call.collective != dist::Collective::AllGather;
    double ready = followsSlices ? stage.workBegin : stage.now;
    size_t index = begin(number, stage.at.call, microBatch, ready);
    if (!blocks(call)) {
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

/// False: what it waits for cannot end yet.
bool Engine::runWait(int64_t number) {
  Stage &stage = stages[number];
  int64_t microBatch = microBatchOf(stage);
  std::vector<std::pair<int64_t, int64_t>> awaited;
  for (int64_t start : stage.starts[stage.at.call]) {
    std::pair<int64_t, int64_t> key = {start, microBatch};
    const Call &call = stage.program->calls[start];
    if (isDeferred(call) && !stage.pending.count(key))
      stage.pending[key] = begin(number, start, microBatch, stage.now);
    auto found = stage.pending.find(key);
    if (found == stage.pending.end() || isOverlapped(call))
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
      else if (!call.axes.empty())
        result.collectives[call.axes.front()] += seconds;
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

static Error checkKind(const Program &program, const Cluster &cluster) {
  bool isCpu = cluster.kind == DeviceKind::Cpu;
  if (isCpu != program.isCuda)
    return Error::success();
  return llvm::createStringError(llvm::formatv(
      "the program is for {0}, but the cluster '{1}' has {2}; {3}",
      program.isCuda ? "cuda" : "the cpu", cluster.name,
      isCpu ? "CPUs" : "GPUs",
      isCpu ? "compile it with --device cpu, or take a file of GPUs"
            : "compile it with --device cuda, or describe this machine with "
              "tessera calibrate"));
}

static std::string howToAdd(const Program &program, const Cluster &cluster) {
  if (!cluster.byThreads.empty())
    return "tessera calibrate measures f32 and bf16";
  return std::string("add [device.products.") +
         tessera::nameOf(program.precision) + "] with 'peak'";
}

/// Whether calls like those of the program were measured on a CPU.
static Error checkMeasured(const Program &program, const Cluster &cluster) {
  if (cluster.device.measured.empty())
    return Error::success();
  for (size_t stage = 0; stage < program.stages.size(); ++stage)
    for (const Call &call : program.stages[stage].calls)
      if (!std::isfinite(
              secondsOf(call, program, static_cast<int64_t>(stage), cluster)))
        return llvm::createStringError(llvm::formatv(
            "the cluster '{0}' has no rate of '{1}' in {2}; measure the "
            "machine again with tessera calibrate",
            cluster.name, call.op, tessera::nameOf(program.precision)));
  return Error::success();
}

Expected<StepTimes> tessera::simulate::simulate(const Program &program,
                                                const Cluster &machines,
                                                bool keepSpans) {
  if (Error error = checkKind(program, machines))
    return error;
  const Cluster cluster = machines.sharedBy(program.ranks());
  if (program.ranks() > cluster.devices())
    return llvm::createStringError(
        llvm::formatv("the program has {0}, but the cluster '{1}' has {2} ({3} "
                      "of {4}); use a "
                      "smaller mesh or raise 'nodes.count'",
                      counted(program.ranks(), "rank"), cluster.name,
                      counted(cluster.devices(), "device"),
                      counted(cluster.nodes, "node"), cluster.devicesPerNode));
  if (!cluster.device.products.count(program.precision))
    return llvm::createStringError(
        llvm::formatv("the cluster '{0}' says nothing of products in {1}; "
                      "{2}",
                      cluster.name, tessera::nameOf(program.precision),
                      howToAdd(program, cluster)));
  if (Error error = checkMeasured(program, cluster))
    return error;
  return Engine(program, cluster, keepSpans).run();
}
