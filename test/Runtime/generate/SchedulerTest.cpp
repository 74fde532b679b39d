//===- SchedulerTest.cpp - rows of a step, and what must hold of them -----===//

#include "runtime/generate/Scheduler.h"
#include "runtime/support/Status.h"

#include <gtest/gtest.h>

using namespace tessera;

namespace {

Generation sizes(int64_t lanes, int64_t slots, int64_t chunk) {
  Generation result;
  result.lanes = lanes;
  result.slots = slots;
  result.places = 8;
  result.chunk = chunk;
  return result;
}

std::unique_ptr<Request> request(int64_t id, size_t tokens) {
  auto made = std::make_unique<Request>();
  made->id = id;
  made->tokens.assign(tokens, static_cast<int32_t>(100 + id));
  made->most = 8;
  return made;
}

/// Gives slots to requests and returns the step that runs then.
StepRows next(Scheduler &scheduler) {
  EXPECT_TRUE(scheduler.admit().empty());
  return scheduler.plan();
}

/// Writes a lane as "request:slot@position ...".
std::string text(const std::vector<RowOfStep> &rows) {
  std::string result;
  for (const RowOfStep &row : rows)
    result += concat(result.empty() ? "" : " ", row.request, ":", row.slot, "@",
                     row.position);
  return result;
}

/// Does what a generator does after a step.
void finish(Scheduler &scheduler, const StepRows &step) {
  for (size_t lane = 0; lane < step.rows.size(); ++lane)
    for (const RowOfStep &row : step.rows[lane]) {
      Request *request = scheduler.at(static_cast<int64_t>(lane), row.slot);
      scheduler.ran(*request, row.position);
      if (request->left() == 0 && !request->isScored())
        request->tokens.push_back(6);
    }
}

TEST(Scheduler, RequestsGoOnWhileOthersBegin) {
  Scheduler scheduler(sizes(1, 2, 3));
  scheduler.add(request(0, 2));
  scheduler.add(request(1, 4));
  scheduler.add(request(2, 1));
  StepRows step = next(scheduler);
  EXPECT_EQ(text(step.rows[0]), "0:0@0 0:0@1 1:1@0");
  EXPECT_EQ(step.last[0], (std::vector<int32_t>{1, -1}));
  finish(scheduler, step);
  step = next(scheduler);
  EXPECT_EQ(text(step.rows[0]), "0:0@2 1:1@1 1:1@2 1:1@3");
  EXPECT_EQ(step.last[0], (std::vector<int32_t>{0, 3}));
  finish(scheduler, step);
  EXPECT_EQ(text(next(scheduler).rows[0]), "0:0@3 1:1@4");
  EXPECT_EQ(scheduler.active(), 3);
  EXPECT_NE(scheduler.remove(0), nullptr);
  EXPECT_EQ(text(next(scheduler).rows[0]), "2:0@0 1:1@4");
  EXPECT_EQ(scheduler.remove(0), nullptr);
}

TEST(Scheduler, TheLaneWithMostRoomGetsTheNext) {
  Scheduler scheduler(sizes(2, 2, 8));
  for (int64_t id = 0; id < 5; ++id)
    scheduler.add(request(id, 1));
  StepRows step = next(scheduler);
  EXPECT_EQ(text(step.rows[0]), "0:0@0 2:1@0");
  EXPECT_EQ(text(step.rows[1]), "1:0@0 3:1@0");
}

std::unique_ptr<Request> prompt(int64_t id, std::vector<int32_t> tokens) {
  auto made = request(id, 0);
  made->tokens = std::move(tokens);
  return made;
}

/// Writes forks as "request:lane/from>to count ...".
std::string text(const std::vector<Fork> &forks) {
  std::string result;
  for (const Fork &fork : forks)
    result += concat(result.empty() ? "" : " ", fork.request, ":", fork.lane,
                     "/", fork.from, ">", fork.to, " ", fork.count);
  return result;
}

TEST(Scheduler, PromptsGoOnAfterWhatASlotHolds) {
  Scheduler scheduler(sizes(2, 2, 8));
  scheduler.add(prompt(0, {1, 2, 3}));
  EXPECT_EQ(text(scheduler.admit()), "");
  finish(scheduler, scheduler.plan());
  // The other request runs, so its positions are copied. The last token of a
  // prompt runs in any case.
  scheduler.add(prompt(1, {1, 2, 3}));
  scheduler.add(prompt(2, {7, 2, 3}));
  EXPECT_EQ(text(scheduler.admit()), "1:0/0>1 2");
  EXPECT_EQ(text(scheduler.plan().rows[0]), "0:0@3 1:1@2");
  finish(scheduler, scheduler.plan());
  // One that goes on after all of an ended one stays in its slot.
  scheduler.remove(0);
  scheduler.add(prompt(3, {1, 2, 3, 6, 4}));
  EXPECT_EQ(text(scheduler.admit()), "3:0/0>0 4");
  // Another one takes the oldest slot, from a copy made in the same step.
  scheduler.remove(1);
  scheduler.remove(2);
  scheduler.add(prompt(4, {1, 2, 3, 6, 5}));
  EXPECT_EQ(text(scheduler.admit()), "4:0/0>1 4");
  scheduler.remove(4);
  auto recomputed = prompt(5, {1, 2, 3});
  recomputed->isRecomputed = true;
  scheduler.add(std::move(recomputed));
  scheduler.forget();
  scheduler.add(prompt(6, {1, 2, 3}));
  EXPECT_EQ(text(scheduler.admit()), "");
}

TEST(Scheduler, RequestsWaitForTheirBeginningToRunOnce) {
  Scheduler scheduler(sizes(1, 4, 3));
  for (int64_t id = 0; id < 3; ++id)
    scheduler.add(prompt(id, {1, 2, 3, 4, static_cast<int32_t>(5 + id)}));
  scheduler.add(prompt(3, {9, 8}));
  auto recomputed = prompt(4, {1, 2, 3, 4, 7});
  recomputed->isRecomputed = true;
  scheduler.add(std::move(recomputed));
  EXPECT_EQ(text(scheduler.admit()), "");
  StepRows step = scheduler.plan();
  EXPECT_EQ(text(step.rows[0]), "0:0@0 0:0@1 0:0@2");
  finish(scheduler, step);
  EXPECT_EQ(text(scheduler.admit()), "");
  step = scheduler.plan();
  EXPECT_EQ(text(step.rows[0]), "0:0@3 0:0@4 3:1@0");
  finish(scheduler, step);
  EXPECT_EQ(text(scheduler.admit()), "1:0/0>3 4") << "the only free slot";
  EXPECT_EQ(scheduler.active(), 5);
}

TEST(Scheduler, EachLaneRunsABeginning) {
  Scheduler scheduler(sizes(2, 2, 8));
  for (int64_t id = 0; id < 4; ++id)
    scheduler.add(prompt(id, {1, 2, 3}));
  EXPECT_EQ(text(scheduler.admit()), "");
  StepRows step = scheduler.plan();
  EXPECT_EQ(text(step.rows[0]), "0:0@0 0:0@1 0:0@2");
  EXPECT_EQ(text(step.rows[1]), "1:0@0 1:0@1 1:0@2");
  finish(scheduler, step);
  EXPECT_EQ(text(scheduler.admit()), "2:0/0>1 2 3:1/0>1 2");
}

std::unique_ptr<Request> scored(int64_t id, std::vector<int32_t> tokens,
                                int64_t given) {
  auto made = prompt(id, std::move(tokens));
  made->given = given;
  return made;
}

std::vector<int32_t> labels(const std::vector<RowOfStep> &rows) {
  std::vector<int32_t> result;
  for (const RowOfStep &row : rows)
    result.push_back(row.label);
  return result;
}

/// The prompt runs in steps without labels where nothing is at its labels yet;
/// nothing runs after the last token.
TEST(Scheduler, ContinuationsAreScoredAfterTheirPrompt) {
  Scheduler scheduler(sizes(1, 2, 3));
  scheduler.add(scored(0, {1, 2, 3, 4, 5}, 3));
  scheduler.add(scored(1, {1, 2, 3, 6}, 3));
  EXPECT_EQ(text(scheduler.admit()), "");
  StepRows step = scheduler.plan();
  EXPECT_FALSE(step.scores);
  EXPECT_EQ(text(step.rows[0]), "0:0@0 0:0@1");
  EXPECT_FALSE(step.wantsLogits());
  finish(scheduler, step);
  EXPECT_EQ(text(scheduler.admit()), "1:0/0>1 2");
  step = scheduler.plan();
  EXPECT_TRUE(step.scores);
  EXPECT_EQ(text(step.rows[0]), "0:0@2 0:0@3 1:1@2");
  EXPECT_EQ(labels(step.rows[0]), (std::vector<int32_t>{4, 5, 6}));
}

TEST(Scheduler, EveryOtherStepScoresWhereTextsGoOn) {
  Scheduler scheduler(sizes(1, 3, 2));
  scheduler.add(prompt(0, {1}));
  scheduler.add(scored(1, {2, 3, 4, 5, 6, 7, 8, 9}, 1));
  scheduler.add(scored(2, {3, 3, 4, 5}, 3));
  EXPECT_EQ(text(scheduler.admit()), "");
  StepRows step = scheduler.plan();
  EXPECT_EQ(text(step.rows[0]), "1:1@0 1:1@1 1:1@2 1:1@3 1:1@4");
  finish(scheduler, step);
  step = scheduler.plan();
  EXPECT_FALSE(step.scores);
  EXPECT_EQ(text(step.rows[0]), "0:0@0 2:2@0 2:2@1");
  EXPECT_EQ(step.last[0], (std::vector<int32_t>{0, -1, -1}));
  finish(scheduler, step);
  step = scheduler.plan();
  EXPECT_TRUE(step.scores);
  EXPECT_EQ(text(step.rows[0]), "1:1@5 1:1@6 2:2@2");
}

std::string whyNot(SlotGuard &guard, const std::vector<RowOfStep> &rows) {
  StepRows step(sizes(1, 2, 4));
  step.rows[0] = rows;
  try {
    guard.take(step);
  } catch (const Error &error) {
    return error.status.message;
  }
  return "";
}

TEST(SlotGuard, RefusesWhatWouldReadWhatIsNotThere) {
  SlotGuard guard(sizes(1, 2, 4));
  EXPECT_EQ(whyNot(guard, {{0, 0, 0, 5}, {0, 0, 1, 5}, {1, 1, 0, 5}}), "");
  auto expect = [&](const RowOfStep &row, const char *part) {
    std::string why = whyNot(guard, {row});
    EXPECT_NE(why.find(part), std::string::npos) << why;
  };
  expect({0, 0, 3, 5}, "the next position is 2");
  expect({0, 0, 1, 5}, "the next position is 2");
  expect({0, 1, 2, 5}, "the slot has request 1");
  expect({2, 0, 2, 5}, "does not begin at 0");
  expect({0, 2, 2, 5}, "beyond the 2 slots");
  expect({0, -1, 2, 5}, "beyond the 2 slots");
  EXPECT_EQ(whyNot(guard, {{2, 0, 0, 5}}), "") << "a slot is used again";
  expect({0, 0, 2, 5}, "the slot has request 2");
  for (int64_t position = 1; position < 8; ++position)
    EXPECT_EQ(whyNot(guard, {{2, 0, position, 5}}), "");
  expect({2, 0, 8, 5}, "beyond the 8 places");
  guard.fork(0, 0, 1, 8, 3);
  expect({3, 1, 7, 5}, "the next position is 8");
  guard.fork(0, 1, 1, 2, 4);
  EXPECT_EQ(whyNot(guard, {{4, 1, 2, 5}}), "");
  EXPECT_THROW(guard.fork(0, 1, 0, 4, 5), Error) << "it holds 3";
}

} // namespace
