//===- VerifyTest.cpp - verify, called by a program -----------------------===//
// Everything that it says is a verdict, an error or a diagnostic.
//===----------------------------------------------------------------------===//

#include "tessera/Verify/Verify.h"
#include "lib/Verify/CompareGeneration.h"
#include "tessera/Pipelines/Compile.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;

namespace {

class VerifyTest : public ::testing::Test {
protected:
  VerifyTest()
      : context([] {
          DialectRegistry registry;
          registerCompilerDialects(registry);
          return registry;
        }()),
        handler(&context, [this](Diagnostic &diagnostic) {
          diagnostics += diagnostic.str() + "\n";
        }) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
  }
  ~VerifyTest() override {
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  }

  PlannedModel model() const {
    PlannedModel model;
    model.model = VERIFY_CONFIG;
    model.plan.precision = Precision::F64;
    model.plan.mesh.parse("tp=2");
    return model;
  }

  /// Returns whether it is refused, with this in the diagnostics.
  bool isRefused(const PlannedModel &model, const std::string &why) {
    diagnostics.clear();
    bool isRefused = failed(verifyModel(context, model));
    EXPECT_NE(diagnostics.find(why), std::string::npos) << diagnostics;
    return isRefused;
  }

  MLIRContext context;
  std::string diagnostics;
  ScopedDiagnosticHandler handler;
};

TEST_F(VerifyTest, EachCheckHasAVerdict) {
  std::vector<std::string> told, checks;
  auto verdicts = verifyModel(
      context, model(), [&](const std::string &what) { told.push_back(what); });
  ASSERT_TRUE(succeeded(verdicts)) << diagnostics;
  for (const Verdict &verdict : *verdicts) {
    checks.push_back(verdict.check);
    EXPECT_EQ(verdict.failure, "") << verdict.check;
  }
  using Lines = std::vector<std::string>;
  EXPECT_EQ(checks, Lines({"types", "erasure", "f64", "formulas"}));
  EXPECT_EQ(told, Lines({"checking types", "comparing numbers in f64"}));
  EXPECT_EQ(diagnostics, "");
}

TEST_F(VerifyTest, ProgramsThatCannotBeComparedAreRefused) {
  PlannedModel lion = model(), both = model(), compiled = model();
  lion.plan.optimizer.kind = OptimizerKind::Lion;
  both.plan.programs = ProgramSet::TrainAndGenerate;
  compiled.model = "model.tsr";
  EXPECT_TRUE(isRefused(lion, "cannot compare steps of --optimizer lion"));
  EXPECT_TRUE(isRefused(both, "give --programs train"));
  EXPECT_TRUE(isRefused(compiled, "'model.tsr' is compiled"));
}

TEST_F(VerifyTest, ErrorsOfTheCompilerAreDiagnostics) {
  PlannedModel absent = model(), uneven = model();
  absent.model = "absent/config.json";
  uneven.plan.mesh.parse("tp=3");
  EXPECT_TRUE(isRefused(absent, "absent/config.json"));
  EXPECT_TRUE(isRefused(uneven, "4 heads cannot be split"));
}

TEST_F(VerifyTest, OneFailureFailsTheModel) {
  std::vector<Verdict> verdicts = {{"types", "ops", ""}, {"f64", "values", ""}};
  EXPECT_EQ(firstFailure(verdicts), nullptr);
  EXPECT_EQ(verdictsJson(verdicts).getString("status"), "verified");
  verdicts[1].failure = "value wte differs";
  EXPECT_EQ(firstFailure(verdicts), &verdicts[1]);
  EXPECT_EQ(verdictsJson(verdicts).getBoolean("ok"), false);
}

TEST_F(VerifyTest, ErrorsOfRunsAreReturned) {
  auto runs = compareRuns("absent.tsr", "absent.tsr", {Precision::F64});
  auto forward = runForward({"absent.tsr", {}, {}}, {});
  auto steps = compareGeneration("absent.tsr", {}, {Precision::F64});
  for (const std::string &error :
       {llvm::toString(runs.takeError()), llvm::toString(forward.takeError()),
        llvm::toString(steps.takeError())})
    EXPECT_NE(error.find("absent.tsr"), std::string::npos) << error;
}

} // namespace
