//===- ScheduleTest.cpp - every schedule of every small shape -------------===//

#include "tessera/Schedule/Deadlock.h"
#include "tessera/Schedule/Picture.h"
#include "tessera/Schedule/Simulation.h"
#include <algorithm>
#include <functional>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::pipeline;

namespace {

constexpr int64_t kStages = 8, kMicroBatches = 16, kVirtualStages = 4;

/// Visits every kind for every shape that it can have.
void forEachSchedule(
    const std::function<void(const PipelineSchedule &)> &visit) {
  for (ScheduleKind kind :
       {ScheduleKind::GPipe, ScheduleKind::OneForwardOneBackward,
        ScheduleKind::Interleaved, ScheduleKind::ZeroBubble})
    for (int64_t p = 1; p <= kStages; ++p)
      for (int64_t v = 1; v <= kVirtualStages; ++v)
        for (int64_t m = 1; m <= kMicroBatches; ++m) {
          Shape shape{p, v, m};
          if (!checkShape(kind, shape).empty())
            continue;
          SCOPED_TRACE(std::string(nameOf(kind)) + " p=" + std::to_string(p) +
                       " v=" + std::to_string(v) + " m=" + std::to_string(m));
          visit(makeSchedule(kind, shape));
        }
}

TEST(ScheduleTest, TasksAreThereOnceAndEnd) {
  int64_t schedules = 0;
  forEachSchedule([&](const PipelineSchedule &schedule) {
    ++schedules;
    Simulation run = simulate(schedule, Times::equal(schedule.shape));
    EXPECT_EQ(run.error, "");
    for (const auto &[task, time] : run.tasks)
      for (const Task &before : dependencies(schedule, task))
        EXPECT_LE(run.tasks.at(before).end, time.begin) << task.str();
  });
  EXPECT_EQ(schedules, (3 + (kVirtualStages - 1)) * kStages * kMicroBatches);
}

TEST(ScheduleTest, BubblesAreTheFormulas) {
  forEachSchedule([](const PipelineSchedule &schedule) {
    const Shape &shape = schedule.shape;
    double formula = bubbleFormula(schedule.kind, shape);
    double found = simulate(schedule, Times::equal(shape)).bubble;
    bool isBound = schedule.kind == ScheduleKind::Interleaved &&
                   shape.microBatches % shape.stages != 0;
    if (isBound)
      EXPECT_GE(found, formula - 1e-12);
    else
      EXPECT_NEAR(found, formula, 1e-12);
  });
}

/// Activations of so many micro-batches are in memory at once.
TEST(ScheduleTest, MicroBatchesInFlightAreBounded) {
  forEachSchedule([](const PipelineSchedule &schedule) {
    const Shape &shape = schedule.shape;
    int64_t p = shape.stages, v = shape.virtualStages, m = shape.microBatches;
    std::vector<int64_t> found =
        simulate(schedule, Times::equal(shape)).inFlight;
    for (int64_t stage = 0; stage < p; ++stage) {
      int64_t ahead = p - stage;
      int64_t group = m < p ? m : p + m % p;
      int64_t most = schedule.kind == ScheduleKind::GPipe ? m
                     : schedule.kind == ScheduleKind::OneForwardOneBackward
                         ? ahead
                     : schedule.kind == ScheduleKind::ZeroBubble
                         ? p
                         : 2 * (ahead - 1) + (v - 1) * group + 1;
      EXPECT_LE(found[stage], std::min(most, m * v)) << "stage " << stage;
    }
  });
}

/// Returns a rank's tasks and messages in the order in which all ranks' are
/// sorted by time: what dist-split-stages makes.
std::vector<std::vector<Event>> programsOf(const PipelineSchedule &schedule) {
  struct Timed {
    double time;
    int64_t from, to;
    std::string what;
  };
  Simulation run = simulate(schedule, Times::equal(schedule.shape));
  std::vector<Timed> messages;
  for (const auto &[task, time] : run.tasks)
    for (const Task &before : dependencies(schedule, task)) {
      int64_t from = schedule.shape.stageOf(before.chunk);
      int64_t to = schedule.shape.stageOf(task.chunk);
      if (from != to)
        messages.push_back({run.tasks[before].end, from, to, before.str()});
    }
  std::stable_sort(
      messages.begin(), messages.end(),
      [](const Timed &a, const Timed &b) { return a.time < b.time; });
  std::vector<std::vector<Event>> programs(schedule.shape.stages);
  for (const Timed &message : messages) {
    programs[message.from].push_back(
        {Event::Send, message.to, {}, message.what, "send"});
    programs[message.to].push_back(
        {Event::Receive, message.from, {}, message.what, "receive"});
  }
  return programs;
}

TEST(ScheduleTest, NoScheduleDeadlocks) {
  forEachSchedule([](const PipelineSchedule &schedule) {
    EXPECT_EQ(findDeadlock(programsOf(schedule)), "");
  });
}

TEST(ScheduleTest, WrongSchedulesAreRefused) {
  PipelineSchedule schedule =
      makeSchedule(ScheduleKind::OneForwardOneBackward, {2, 1, 2});
  Times times = Times::equal(schedule.shape);
  PipelineSchedule missing = schedule, twice = schedule, moved = schedule,
                   circle = schedule;
  missing.stages[1].pop_back();
  EXPECT_EQ(simulate(missing, times).error,
            "task B1.1 is there 0 times instead of once");
  twice.stages[0].push_back(twice.stages[0].back());
  EXPECT_EQ(simulate(twice, times).error,
            "task B1.0 is there 2 times instead of once");
  std::swap(moved.stages[0], moved.stages[1]);
  EXPECT_EQ(simulate(moved, times).error,
            "task F0.1 is at stage 0, but its chunk lives at stage 1");
  std::swap(circle.stages[0].front(), circle.stages[0].back());
  EXPECT_EQ(simulate(circle, times).error, "stage 0 waits for ever at B1.0");
}

TEST(ScheduleTest, KindsAndShapesMustFit) {
  EXPECT_EQ(checkShape(ScheduleKind::GPipe, {2, 2, 4}),
            "schedule 'gpipe' has 1 chunk per stage, but 2 virtual stages are "
            "asked for; use schedule 'interleaved'");
  EXPECT_EQ(checkShape(ScheduleKind::Interleaved, {2, 1, 4}),
            "schedule 'interleaved' has several chunks per stage, but 1 "
            "virtual stage is asked for; use 2 or more virtual stages, or "
            "schedule '1f1b'");
  for (const char *name : {"gpipe", "1f1b", "interleaved", "zero-bubble"})
    EXPECT_EQ(nameOf(*fromName<ScheduleKind>(name)), std::string(name));
  EXPECT_FALSE(fromName<ScheduleKind>("2f2b"));
}

TEST(ScheduleTest, ThePictureHasABoxPerTask) {
  PipelineSchedule schedule = makeSchedule(ScheduleKind::ZeroBubble, {2, 1, 3});
  std::string svg =
      drawSchedule(schedule, simulate(schedule, Times::equal(schedule.shape)));
  size_t boxes = 0;
  for (size_t at = 0; (at = svg.find("<title>", at)) != std::string::npos; ++at)
    ++boxes;
  EXPECT_EQ(boxes, 2u * 3 * 3);
  EXPECT_NE(svg.find("zero-bubble: 2 stages of 1 chunk, 3 micro-batches"),
            std::string::npos);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

/// A number in quotes behind a name: `width="1680"`.
double numberIn(const std::string &text, const std::string &name) {
  return std::stod(text.substr(text.find(name + "=\"") + name.size() + 2));
}

std::string drawn(ScheduleKind kind, Shape shape) {
  PipelineSchedule schedule = makeSchedule(kind, shape);
  return drawSchedule(schedule, simulate(schedule, Times::equal(shape)));
}

TEST(ScheduleTest, APictureOfManyMicroBatchesFitsAScreen) {
  for (int64_t microBatches : {1, 64, 512, 4096}) {
    std::string svg =
        drawn(ScheduleKind::OneForwardOneBackward, {8, 1, microBatches});
    EXPECT_LE(numberIn(svg, "width"), 1700) << microBatches;
    EXPECT_LE(numberIn(svg, "height"), 2100) << microBatches;
    // Boxes that a line's end cuts have two parts.
    EXPECT_GE(countOf(svg, "<title>"), 8u * 2 * microBatches);
    EXPECT_LE(countOf(svg, "<title>"), 8u * (2 * microBatches + 20));
  }
}

TEST(ScheduleTest, APictureHasNumbersWhereTheyFit) {
  std::string few = drawn(ScheduleKind::GPipe, {2, 1, 64});
  EXPECT_GE(countOf(few, "text-anchor"), 2u * 2 * 64);
  EXPECT_GT(countOf(few, ">stage 1<"), 1u);
  std::string many = drawn(ScheduleKind::GPipe, {16, 1, 4096});
  EXPECT_EQ(countOf(many, "text-anchor"), 0u);
}

TEST(ScheduleTest, APictureNamesTheChunksOfItsColors) {
  std::string svg = drawn(ScheduleKind::Interleaved, {4, 3, 8});
  EXPECT_NE(svg.find("chunks 0 to 3<"), std::string::npos);
  EXPECT_NE(svg.find("chunks 8 to 11<"), std::string::npos);
  EXPECT_EQ(drawn(ScheduleKind::GPipe, {2, 1, 3}).find("chunks 0 to"),
            std::string::npos);
}

TEST(ScheduleTest, APictureBearsAChunkThatTakesNoTime) {
  PipelineSchedule schedule = makeSchedule(ScheduleKind::GPipe, {2, 1, 4});
  Times times = {{1, 1e9}, {1, 1e9}, {1, 1e9}};
  std::string svg = drawSchedule(schedule, simulate(schedule, times));
  EXPECT_LE(numberIn(svg, "width"), 1700);
  EXPECT_LE(numberIn(svg, "height"), 2100);
}

} // namespace
