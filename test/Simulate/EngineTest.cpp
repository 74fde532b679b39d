//===- EngineTest.cpp - calls, queues and messages in virtual time --------===//

#include "tessera/Schedule/Simulation.h"
#include "test/Simulate/Machine.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <map>

using namespace tessera;
using namespace tessera::simulate;

namespace {

StepTimes timesOf(const Program &program, const Cluster &cluster) {
  llvm::Expected<StepTimes> times = simulate::simulate(program, cluster, true);
  EXPECT_TRUE(!!times) << llvm::toString(times.takeError());
  return times ? *times : StepTimes();
}

double spent(const StageTimes &stage, Activity activity) {
  return stage.seconds[static_cast<size_t>(activity)];
}

Program alone(std::vector<Call> calls) {
  Program program;
  program.mesh = {{"tp", 2}};
  program.stages.resize(1);
  program.stages[0].calls = std::move(calls);
  return program;
}

Program twoStages(std::vector<Call> first, std::vector<Call> second) {
  Program program;
  program.mesh = {{"pp", 2}};
  program.stageAxis = 0;
  program.stages.resize(2);
  program.stages[0].calls = std::move(first);
  program.stages[1].calls = std::move(second);
  return program;
}

TEST(EngineTest, CallsRunOneAfterTheOther) {
  StepTimes times = timesOf(
      alone({kernel(100), allReduce(50, {0}), kernel(200)}), smallCluster());
  EXPECT_DOUBLE_EQ(times.seconds, 1 + 1 + 2);
  EXPECT_DOUBLE_EQ(spent(times.stages[0], Activity::Kernels), 3);
  EXPECT_DOUBLE_EQ(spent(times.stages[0], Activity::Collectives), 1);
  // The transfer, and beside it what the device does: it waits.
  const std::vector<Span> &spans = times.stages[0].spans;
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(spans[0].kind, Span::Work);
  EXPECT_EQ(spans[1].kind, Span::Transfer);
  EXPECT_EQ(spans[2].kind, Span::Wait);
  EXPECT_EQ(spans[2].activity, Activity::Collectives);
  EXPECT_EQ(spans[2].call, 1);
  EXPECT_DOUBLE_EQ(spans[2].begin, 1);
  EXPECT_DOUBLE_EQ(spans[2].end, 2);
  EXPECT_EQ(spans[3].kind, Span::Work);
}

TEST(EngineTest, WhatIsStartedEarlyIsHidden) {
  // 1 of 2 seconds of the first, nothing of the second.
  StepTimes times =
      timesOf(alone({allReduce(100, {0}, 2), kernel(100), waits(),
                     allReduce(50, {0}, 5), kernel(300), waits()}),
              smallCluster());
  EXPECT_DOUBLE_EQ(times.seconds, 1 + 1 + 3);
  EXPECT_DOUBLE_EQ(spent(times.stages[0], Activity::Collectives), 1);
  EXPECT_DOUBLE_EQ(times.stages[0].collectives[0], 3);
  Cluster cluster = smallCluster();
  cluster.software.blockingAxes = {"tp"};
  EXPECT_DOUBLE_EQ(
      timesOf(alone({allReduce(100, {0}, 2), kernel(100), waits()}), cluster)
          .seconds,
      2 + 1);
  cluster.software = Software();
  cluster.software.hidden = 0.75;
  EXPECT_DOUBLE_EQ(
      timesOf(alone({allReduce(100, {0}, 2), kernel(900), waits()}), cluster)
          .seconds,
      9 + 0.5);
}

/// The transfer has two slices of a second each, one of which is beside no
/// product.
TEST(EngineTest, AnOverlappedAxisIsNotWaitedFor) {
  // Blocking, and waited for: 1 and 2 seconds of transfers.
  Program program = alone({kernel(100), allReduce(50, {0}), kernel(100),
                           allReduce(100, {0}, 4), waits(), kernel(200)});
  Cluster cluster = smallCluster();
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds, 1 + 1 + 1 + 2 + 2);
  cluster.software.overlappedAxes = {"tp"};
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds, 1 + 1 + 2);
  // Longer than all else.
  program = alone({kernel(100), allReduce(150, {0})});
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds, 3);
}

TEST(EngineTest, SlicesRunBesideTheirProduct) {
  Cluster cluster = smallCluster();
  cluster.software.slicedAxes = {"tp"};
  auto seconds = [&](std::vector<Call> calls) {
    return timesOf(alone(std::move(calls)), cluster).seconds;
  };
  EXPECT_DOUBLE_EQ(seconds({kernel(300), allReduce(100, {0}), kernel(100)}),
                   3 + 1 + 1);
  // All but half a second of the transfer comes after a short one.
  EXPECT_DOUBLE_EQ(seconds({kernel(50), allReduce(100, {0}), kernel(100)}),
                   2 + 1);
  Call gather = allReduce(200, {0});
  gather.collective = Collective::AllGather;
  EXPECT_DOUBLE_EQ(seconds({gather, kernel(300)}), 1 + 3);
  // The next transfer waits for all slices.
  EXPECT_DOUBLE_EQ(seconds({gather, kernel(25), gather}), 2 + 1);
  // Collectives that are started early are beside other work anyway, and so are
  // other axes.
  EXPECT_DOUBLE_EQ(
      seconds({kernel(300), allReduce(100, {0}, 3), kernel(100), waits()}),
      3 + 2);
  cluster.software.slicedAxes = {"dp"};
  EXPECT_DOUBLE_EQ(seconds({kernel(300), allReduce(100, {0})}), 3 + 2);
}

TEST(EngineTest, PipelinesReduceDeferredAxesAtTheEnd) {
  Cluster cluster = smallCluster();
  cluster.software.deferredAxes = {"tp"};
  // 2 seconds beside 4 of work.
  std::vector<Call> calls = {kernel(100), allReduce(100, {0}, 3), kernel(400),
                             waits()};
  EXPECT_DOUBLE_EQ(timesOf(alone(calls), cluster).seconds, 5);
  Program program = alone(calls);
  program.mesh = {{"tp", 2}, {"pp", 2}};
  program.stageAxis = 1;
  program.stages.push_back(program.stages[0]);
  double seconds = secondsOf(calls[1], program, 0, cluster);
  EXPECT_GT(seconds, 0);
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds, 5 + seconds);
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).stages[1].collectives[0], seconds);
  // Two of them come one after the other.
  program.stages[0].calls.insert(program.stages[0].calls.begin() + 1, calls[1]);
  program.stages[0].calls[1].wait = program.stages[0].calls[2].wait = 4;
  program.stages[1] = program.stages[0];
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds, 5 + 2 * seconds);
  // Others, and calls that block, are as they were.
  cluster.software.deferredAxes = {"dp"};
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds,
                   std::max(5., 1 + 2 * seconds));
  cluster.software.deferredAxes = {"tp"};
  program.stages[0].calls = {kernel(100), allReduce(100, {0})};
  program.stages[1] = program.stages[0];
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds, 1 + seconds);
}

/// A stage that waits for a message as well runs its collective once.
TEST(EngineTest, ADeferredCollectiveIsStartedOnce) {
  Cluster cluster = smallCluster();
  cluster.software.deferredAxes = {"tp"};
  cluster.software.hasQueuePerGroup = true;
  Program program =
      twoStages({kernel(500), message(CallKind::Send, 10, 1, 2), waits()},
                {allReduce(100, {1}, 3), message(CallKind::Receive, 10, 0, 3),
                 kernel(100), waits()});
  program.mesh.push_back({"tp", 2});
  double reduce = secondsOf(program.stages[1].calls[0], program, 1, cluster);
  double sent = secondsOf(program.stages[1].calls[1], program, 1, cluster);
  StepTimes times = timesOf(program, cluster);
  EXPECT_DOUBLE_EQ(times.stages[1].collectives[1], reduce);
  EXPECT_DOUBLE_EQ(times.seconds, std::max(5 + sent, 1 + reduce));
}

TEST(EngineTest, LoopsRunTheirCallsSoOften) {
  Call inLoop = kernel(100);
  inLoop.times = 3;
  StepTimes times =
      timesOf(alone({kernel(50), inLoop, inLoop, kernel(25)}), smallCluster());
  EXPECT_DOUBLE_EQ(times.seconds, 0.5 + 3 * 2 + 0.25);
  EXPECT_EQ(times.stages[0].spans.size(), 8u);
}

TEST(EngineTest, AMessageWaitsForBothEnds) {
  Program program =
      twoStages({kernel(300), message(CallKind::Send, 50, 1), kernel(100)},
                {kernel(100), message(CallKind::Receive, 50, 0), kernel(100)});
  StepTimes times = timesOf(program, smallCluster());
  EXPECT_DOUBLE_EQ(times.seconds, 3 + 1 + 1);
  EXPECT_DOUBLE_EQ(spent(times.stages[1], Activity::Stages), 3);
  // The sender need not wait for a receiver that comes late, if it is buffered.
  std::swap(program.stages[0].calls[0], program.stages[1].calls[0]);
  times = timesOf(program, smallCluster());
  EXPECT_DOUBLE_EQ(times.stages[0].end, 3 + 1 + 1);
  Cluster buffered = smallCluster();
  buffered.software.buffersMessages = true;
  times = timesOf(program, buffered);
  EXPECT_DOUBLE_EQ(times.stages[0].end, 1 + 1 + 1);
  EXPECT_DOUBLE_EQ(times.stages[1].end, 3 + 1);
}

/// A device that runs all transfers in their order lets a message that cannot
/// come yet hold up the next one.
TEST(EngineTest, OneQueueIsHeldUp) {
  Program program =
      twoStages({message(CallKind::Receive, 50, 1, 4), kernel(100),
                 allReduce(100, {1}, 3), waits(), waits()},
                {kernel(500), message(CallKind::Send, 50, 0, 2), waits()});
  program.mesh.push_back({"tp", 2});
  program.isCuda = true;
  Cluster cluster = smallCluster();
  cluster.kind = DeviceKind::Cuda;
  cluster.network.bandwidth = 50;
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).stages[0].end, 5 + 1 + 2);
  cluster.software.hasQueuePerGroup = true;
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).stages[0].end, 5 + 1);
  // Each would send only after it has received.
  for (int64_t stage : {0, 1})
    program.stages[stage].calls = {message(CallKind::Receive, 50, 1 - stage),
                                   message(CallKind::Send, 50, 1 - stage)};
  llvm::Expected<StepTimes> hangs = simulate::simulate(program, cluster, false);
  EXPECT_FALSE(!!hangs);
  llvm::consumeError(hangs.takeError());
}

TEST(EngineTest, ACollectiveOfStagesWaitsForTheLast) {
  StepTimes times = timesOf(twoStages({kernel(300), allReduce(50, {0})},
                                      {allReduce(50, {0}), kernel(100)}),
                            smallCluster());
  EXPECT_DOUBLE_EQ(times.stages[0].end, 3 + 1);
  EXPECT_DOUBLE_EQ(times.stages[1].end, 3 + 1 + 1);
}

TEST(EngineTest, WhatWasNotMeasuredIsAnError) {
  Cluster cluster = smallCluster();
  cluster.device.measured[Precision::F32].kernels.points = {{100, 50}};
  EXPECT_DOUBLE_EQ(timesOf(alone({kernel(100)}), cluster).seconds, 2);
  Call product;
  product.kind = CallKind::Product;
  product.op = "gemm";
  product.shape = {2, 3, 4};
  llvm::Expected<StepTimes> times =
      simulate::simulate(alone({kernel(100), product}), cluster, false);
  ASSERT_FALSE(!!times);
  EXPECT_EQ(llvm::toString(times.takeError()),
            "the cluster 'small' has no rate of 'gemm' in f32; measure the "
            "machine again with tessera calibrate");
}

TEST(EngineTest, WhatCannotBeSimulatedIsAnError) {
  auto textOf = [](const Program &program, const Cluster &cluster) {
    llvm::Expected<StepTimes> times =
        simulate::simulate(program, cluster, false);
    return times ? "" : llvm::toString(times.takeError());
  };
  Program program = twoStages({message(CallKind::Send, 50, 1)}, {kernel(1)});
  EXPECT_EQ(textOf(program, smallCluster()),
            "stage 0 waits forever in call 0 (send )");
  EXPECT_EQ(textOf(program, smallCluster(1)), textOf(program, smallCluster()));
  program.mesh[0].size = 9;
  EXPECT_EQ(textOf(program, smallCluster()),
            "the program has 9 ranks, but the cluster 'small' has 8 devices (4 "
            "nodes of 2); use a smaller mesh or raise 'nodes.count'");
  program.mesh[0].size = 2;
  program.precision = Precision::BF16;
  EXPECT_EQ(textOf(program, smallCluster()),
            "the cluster 'small' says nothing of products in bf16; add "
            "[device.products.bf16] with 'peak'");
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// A schedule as a program whose messages are free.
Program programOf(const pipeline::PipelineSchedule &schedule) {
  using pipeline::TaskKind;
  const pipeline::Shape &shape = schedule.shape;
  Program program;
  program.mesh = {{"pp", shape.stages}};
  program.stageAxis = 0;
  program.stages.resize(shape.stages);
  std::map<pipeline::Task, std::vector<int64_t>> receivers;
  auto stageOf = [&](const pipeline::Task &task) {
    return shape.stageOf(task.chunk);
  };
  for (const auto &tasks : schedule.stages)
    for (const pipeline::Task &task : tasks)
      for (const pipeline::Task &before : dependencies(schedule, task))
        if (stageOf(before) != stageOf(task))
          receivers[before].push_back(stageOf(task));
  for (auto [stage, tasks] : llvm::zip(program.stages, schedule.stages))
    for (const pipeline::Task &task : tasks) {
      int64_t begin = static_cast<int64_t>(stage.calls.size());
      for (const pipeline::Task &before : dependencies(schedule, task))
        if (stageOf(before) != stageOf(task))
          stage.calls.push_back(message(CallKind::Receive, 0, stageOf(before)));
      int64_t bytes =
          task.kind == TaskKind::Forward || schedule.splitsBackward() ? 600
                                                                      : 1200;
      stage.calls.push_back(kernel(bytes / shape.virtualStages));
      for (int64_t to : receivers[task])
        stage.calls.push_back(message(CallKind::Send, 0, to));
      stage.order.push_back(
          {static_cast<int64_t>(stage.tasks.size()), task.microBatch});
      stage.tasks.push_back(
          {begin, static_cast<int64_t>(stage.calls.size()), "", false});
    }
  return program;
}

TEST(EngineTest, SchedulesTakeTheirTime) {
  Cluster cluster = smallCluster();
  cluster.device.memoryBandwidth = 600; // forward of a stage takes a second
  cluster.software.hasQueuePerGroup = cluster.software.buffersMessages = true;
  for (ScheduleKind kind :
       {ScheduleKind::GPipe, ScheduleKind::OneForwardOneBackward,
        ScheduleKind::Interleaved, ScheduleKind::ZeroBubble})
    for (int64_t p : {3, 4, 8})
      for (int64_t v : {1, 2, 3})
        for (int64_t m : {1, 5, 8, 16}) {
          pipeline::Shape shape{p, v, m};
          if (!checkShape(kind, shape).empty())
            continue;
          pipeline::PipelineSchedule schedule = makeSchedule(kind, shape);
          EXPECT_NEAR(
              timesOf(programOf(schedule), cluster).seconds,
              pipeline::simulate(schedule, pipeline::Times::equal(shape))
                  .length,
              1e-9)
              << nameOf(kind) << " p=" << p << " v=" << v << " m=" << m;
        }
}

/// Four ranks on two cores need all their work by two, where that is more than
/// their own time with its waits.
TEST(EngineTest, RanksShareCores) {
  Cluster cluster = smallCluster(1);
  cluster.coresPerNode = 2;
  cluster.byThreads[1] = cluster.device;
  Program program;
  program.mesh = {{"dp", 4}};
  program.stages.resize(1);
  program.stages[0].calls = {kernel(300)};
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds, 6);
  program.mesh = {{"dp", 2}};
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds, 3);
  // One of two stages waits for the other: their cores are never short.
  program = twoStages({kernel(300), message(CallKind::Send, 50, 1)},
                      {message(CallKind::Receive, 50, 0), kernel(300)});
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds, 3 + 1 + 3);
}

/// Cores are short only while both stages, of two ranks each, have work: when
/// they begin, and while they exchange their message.
TEST(EngineTest, RanksThatWaitLeaveTheirCores) {
  Cluster cluster = smallCluster(1);
  cluster.coresPerNode = 2;
  cluster.byThreads[1] = cluster.device;
  Program program =
      twoStages({kernel(300), message(CallKind::Send, 50, 1)},
                {kernel(100), message(CallKind::Receive, 50, 0), kernel(300)});
  program.mesh.push_back({"dp", 2});
  StepTimes times = timesOf(program, cluster);
  EXPECT_DOUBLE_EQ(times.seconds, 2 * 1 + 2 + 2 * 1 + 3);
  EXPECT_DOUBLE_EQ(times.stages[0].end, 6);
  for (const StageTimes &stage : times.stages) {
    EXPECT_DOUBLE_EQ(llvm::sum_of(stage.seconds), times.seconds);
    EXPECT_DOUBLE_EQ(stage.collectives[0], 2);
  }
  // On two nodes each stage has two cores for itself.
  cluster.nodes = 2;
  cluster.network.bandwidth = cluster.node.bandwidth;
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds, 3 + 1 + 3);
}

/// A message between threads is copied when both sides are there. Of processes,
/// what was started before it holds it up.
TEST(EngineTest, MessagesBetweenThreadsWaitForNoOthers) {
  Program program =
      twoStages({message(CallKind::Receive, 50, 1, 3),
                 message(CallKind::Send, 50, 1, 2), waits(), waits()},
                {message(CallKind::Receive, 50, 0, 1), waits(), kernel(500),
                 message(CallKind::Send, 50, 0, 4), waits()});
  EXPECT_DOUBLE_EQ(timesOf(program, smallCluster(1)).seconds, 1 + 5 + 1);
  llvm::Expected<StepTimes> hangs =
      simulate::simulate(program, smallCluster(2), false);
  EXPECT_EQ(llvm::toString(hangs.takeError()),
            "stage 0 waits forever in call 2 (wait )");
}

/// Backward repeats a kernel of layer 1, and of layer 0, which is recomputed
/// whole, all of forward but the copy of a weight, with the collective.
TEST(EngineTest, LayersAreRecomputedWhole) {
  auto of = [](Call call, int64_t layer, bool isForward, bool recomputes) {
    call.layerInProgram = layer;
    call.phase = isForward    ? Phase::Forward
                 : recomputes ? Phase::Recompute
                              : Phase::Backward;
    call.layerMode = layer == 0 ? Recompute::Full : Recompute::None;
    return call;
  };
  Program program;
  program.mesh = {{"tp", 2}};
  program.stages.resize(1);
  program.stages[0].calls = {
      of(kernel(5000), 0, true, false), of(kernel(1000), -1, true, false),
      of(kernel(100), 0, true, false),  of(allReduce(100, {0}), 0, true, false),
      of(kernel(200), 1, true, false),  of(kernel(100), 1, false, true),
      of(kernel(300), 1, false, false), of(kernel(10), 0, false, true),
      of(kernel(300), 0, false, false), of(kernel(20), 0, false, true),
      of(kernel(300), 0, false, false)};
  Cluster cluster = smallCluster(1);
  double rest = 50 + 10 + 1 + 2 + 2 + 1 + 3 + 3 + 3;
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds, rest + 0.1 + 0.2);
  cluster.software.recomputesWhole = true;
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds, rest + 1 + 2);
  for (Call &call : program.stages[0].calls)
    call.times = 3;
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds, 3 * (rest + 1 + 2));
}

/// The second stage receives what its layer reads, and sends its gradient.
TEST(EngineTest, MessagesAreNotRepeatedWithTheirLayer) {
  auto ofLayer = [](Call call, bool isForward) {
    call.layerInProgram = 0;
    call.phase = isForward ? Phase::Forward : Phase::Backward;
    return call;
  };
  Call again = ofLayer(kernel(100), false);
  again.phase = Phase::Recompute;
  again.layerMode = Recompute::Full;
  Program program;
  program.mesh = {{"pp", 2}};
  program.stageAxis = 0;
  program.stages.resize(2);
  program.stages[0].calls = {message(CallKind::Send, 10, 1, 1), waits(),
                             message(CallKind::Receive, 10, 1)};
  program.stages[1].calls = {
      ofLayer(message(CallKind::Receive, 10, 0, 1), true),
      ofLayer(waits(), true),
      ofLayer(kernel(200), true),
      again,
      ofLayer(kernel(300), false),
      message(CallKind::Send, 10, 0)};
  Cluster cluster = smallCluster(2);
  double asNeeded = timesOf(program, cluster).seconds;
  cluster.software.recomputesWhole = true;
  EXPECT_DOUBLE_EQ(timesOf(program, cluster).seconds, asNeeded + 2 - 1);
}

} // namespace
