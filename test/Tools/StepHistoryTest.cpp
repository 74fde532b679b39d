//===- StepHistoryTest.cpp - curves from the lines of a log ---------------===//

#include "tools/tessera/train/StepHistory.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <gtest/gtest.h>
#include <map>

using namespace tessera;
using llvm::formatv;
namespace json = llvm::json;

namespace {

void addStep(StepHistory &history, int64_t step, const std::string &loss,
             int64_t skipped = 0, double time = 1) {
  history.add(formatv(
                  R"({{"step": {0}, "loss": {1}, "grad_norm": 2.5, "lr": 0.001,
                   "skipped_steps": {2}, "tokens_per_second": 1000, "time": {3}})",
                  step, loss, skipped, time)
                  .str());
}

std::string textOf(const json::Object &object, llvm::StringRef key) {
  return formatv("{0}", *object.get(key));
}

std::string curveOf(const json::Object &object, llvm::StringRef name) {
  return textOf(*object.getObject("curves"), name);
}

TEST(StepHistory, OfNoStepIsEmpty) {
  json::Object all = StepHistory().json();
  EXPECT_EQ(*all.getInteger("count"), 0);
  EXPECT_EQ(*all.getInteger("last"), 0);
  EXPECT_EQ(curveOf(all, "loss"), "[]");
}

TEST(StepHistory, HasGapsWhereValuesAreNotFinite) {
  StepHistory history;
  addStep(history, 1, "3.5");
  addStep(history, 2, "null", 1);
  addStep(history, 3, "null", 2);
  addStep(history, 4, "3.25", 2);
  addStep(history, 5, "null", 3);
  json::Object all = history.json();
  EXPECT_EQ(curveOf(all, "loss"),
            "[[1,3.5],[2,null],[3,null],[4,3.25],[5,null]]");
  EXPECT_EQ(textOf(all, "skipped"), "[[2,3],[5,5]]");
  EXPECT_EQ(*all.getInteger("skipped_steps"), 3);
  EXPECT_FALSE(all.getObject("curves")->get("mfu"));
  EXPECT_FALSE(all.get("thinned_to_ranges"));
}

TEST(StepHistory, ForgetsWhatCameAfterTheCheckpoint) {
  StepHistory history;
  for (int step = 1; step <= 5; ++step)
    addStep(history, step, std::to_string(step), 0, 10 * step);
  history.add(R"({"step": 3, "eval_loss": 7, "time": 35})");
  history.add(R"({"step": 4, "eval_loss": 8, "time": 45})");
  history.add(R"({"step": 4, "note": "leaps"})");
  addStep(history, 4, "40", 0, 6);
  json::Object all = history.json();
  EXPECT_EQ(curveOf(all, "loss"), "[[1,1],[2,2],[3,3],[4,40]]");
  EXPECT_EQ(textOf(all, "evaluations"),
            R"([{"eval_loss":7,"step":3,"time":35}])");
  EXPECT_EQ(textOf(all, "notes"), "[]");
  EXPECT_EQ(textOf(all, "runs"),
            R"([{"first":1,"seconds":45},{"first":4,"seconds":6}])");
  EXPECT_EQ(*all.getInteger("lost_steps"), 2);
  EXPECT_EQ(*all.getNumber("seconds"), 51);
}

TEST(StepHistory, NoticesRunsThatDoNotSaySo) {
  StepHistory history;
  addStep(history, 3, "3", 0, 2);
  addStep(history, 4, "4", 0, 3);
  addStep(history, 2, "20", 0, 1);
  addStep(history, 9, "90", 0, 4);
  json::Object all = history.json();
  EXPECT_EQ(curveOf(all, "loss"), "[[2,20],[9,90]]");
  EXPECT_EQ(textOf(all, "runs"), R"([{"first":3,"seconds":3},)"
                                 R"({"first":2,"seconds":1},)"
                                 R"({"first":9,"seconds":4}])");
}

TEST(StepHistory, KnowsRunsThatWentOnFromTheLastStep) {
  StepHistory history;
  addStep(history, 1, "1", 0, 2);
  history.add(R"({"step": 2, "loss": 2, "grad_norm": 1, "lr": 1,
                  "resumed": true, "time": 3})");
  EXPECT_EQ(textOf(history.json(), "runs"),
            R"([{"first":1,"seconds":2},{"first":2,"seconds":3}])");
}

TEST(StepHistory, CountsLinesThatItCannotRead) {
  StepHistory history;
  history.add(R"({"step": 1, "loss": 2, "grad)");
  history.add("7");
  history.add(R"({"loss": 2})");
  addStep(history, 2, "2");
  json::Object all = history.json();
  EXPECT_EQ(*all.getInteger("unread_lines"), 3);
  EXPECT_EQ(*all.getInteger("count"), 1);
}

/// A loss with peaks, dips and gaps of single steps.
double lossOf(int64_t step) {
  if (step % 997 == 5)
    return std::nan("");
  return 3 + std::sin(static_cast<double>(step) / 500) +
         (step % 313 == 0 ? 5 : 0) - (step % 419 == 0 ? 2 : 0);
}

/// Returns the points of a curve.
std::map<int64_t, std::optional<double>> pointsOf(const json::Object &all) {
  std::map<int64_t, std::optional<double>> points;
  int64_t before = 0;
  for (const json::Value &value : *all.getObject("curves")->getArray("loss")) {
    const json::Array &point = *value.getAsArray();
    EXPECT_GT(*point[0].getAsInteger(), before);
    before = *point[0].getAsInteger();
    points[before] = point[1].getAsNumber();
  }
  return points;
}

void addSteps(StepHistory &history, int64_t count) {
  for (int64_t step = 1; step <= count; ++step)
    addStep(history, step,
            std::isfinite(lossOf(step))
                ? formatv("{0}", json::Value(lossOf(step))).str()
                : "null");
}

TEST(StepHistory, ThinsLongCurvesAndKeepsTheirExtremes) {
  constexpr int64_t count = 100000, ranges = 500;
  StepHistory history;
  addSteps(history, count);
  json::Object all = history.json();
  EXPECT_EQ(*all.getInteger("thinned_to_ranges"), ranges);
  auto points = pointsOf(all);
  EXPECT_LE(points.size(), 3 * ranges + 2);
  EXPECT_TRUE(points.count(1) && points.count(count));
  for (const auto &[step, value] : points)
    EXPECT_EQ(value.value_or(-1),
              std::isfinite(lossOf(step)) ? lossOf(step) : -1);
  for (int64_t range = 0; range < ranges; ++range) {
    std::optional<double> least, most;
    bool hasGap = false, keepsLeast = false, keepsMost = false,
         keepsGap = false;
    int64_t first = range * count / ranges + 1;
    int64_t end = first + count / ranges;
    for (int64_t step = first; step < end; ++step)
      if (double loss = lossOf(step); std::isfinite(loss)) {
        least = std::min(least.value_or(loss), loss);
        most = std::max(most.value_or(loss), loss);
      } else {
        hasGap = true;
      }
    for (auto it = points.lower_bound(first);
         it != points.end() && it->first < end; ++it) {
      keepsLeast |= it->second == least;
      keepsMost |= it->second == most;
      keepsGap |= !it->second;
    }
    EXPECT_TRUE(keepsLeast && keepsMost && keepsGap == hasGap) << range;
  }
  EXPECT_LT(formatv("{0}", json::Value(std::move(all))).str().size(), 300000u);
}

TEST(StepHistory, LeavesShortCurvesAsTheyAre) {
  for (int64_t count : {1500, 1501}) {
    StepHistory history;
    addSteps(history, count);
    json::Object all = history.json();
    EXPECT_EQ(pointsOf(all).size() == static_cast<size_t>(count),
              count == 1500);
    EXPECT_EQ(all.get("thinned_to_ranges") == nullptr, count == 1500);
  }
}

} // namespace
