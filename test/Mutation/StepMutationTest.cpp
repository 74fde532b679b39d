//===- StepMutationTest.cpp - errors where a derivative jumps -------------===//
// Verifies a T5 with ReLU whose gradients g f'(x) differ in single elements:
// only those whose input x rounding moved across 0 are left to f64.
//===----------------------------------------------------------------------===//

#include "lib/Verify/CompareRuns.h"
#include "mlir/Pass/PassManager.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/RTProgram.h"
#include "tessera/Import/Import.h"
#include "tessera/Partition/Passes.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/Pipelines/Pipeline.h"
#include "tessera/Target/MetadataJson.h"
#include "tessera/Target/SharedObject.h"
#include "tessera/Target/TemporaryFile.h"
#include "tessera/Target/WriteArtifact.h"
#include <gtest/gtest.h>
#include <map>
#include <tuple>

using namespace mlir;
using namespace tessera;

namespace {

/// A value of both programs, and how much of another one is added to it.
struct Mutation {
  enum { None, Input, InputOfGradient, Gradient } of = None;
  double share = 0;
};

class StepMutationTest : public ::testing::Test {
protected:
  StepMutationTest()
      : context(
            [] {
              DialectRegistry registry;
              registerCompilerDialects(registry);
              return registry;
            }(),
            MLIRContext::Threading::DISABLED) {}

  PlanOptions planIn(Precision precision) const {
    PlanOptions plan;
    plan.precision = precision;
    plan.optimizer.epsilon = 1;
    plan.debugging.keepValues = true;
    return plan;
  }

  OwningOpRef<ModuleOp> import(Precision precision) {
    ImportOptions options;
    options.precision = precision;
    options.sizes.batch = 8;
    auto module = importModel(&context, STEP_CONFIG, options);
    return succeeded(module) ? std::move(*module) : nullptr;
  }

  bool run(ModuleOp module,
           llvm::function_ref<LogicalResult(OpPassManager &)> add) {
    PassManager manager(&context);
    return succeeded(add(manager)) && succeeded(manager.run(module));
  }

  /// Path of the artifact, which a test before may have compiled; "" if that
  /// failed.
  std::string artifactOf(Precision precision, const Mutation &mutation);
  bool compile(TemporaryFile &file, Precision precision,
               const Mutation &mutation);
  NumericCheck compare(const Mutation &mutation, const RunOptions &options);

  MLIRContext context;
};

/// Returns `result` plus a share of `other`; it is what verify keeps in its
/// place.
Value moved(Value result, Value other, double share) {
  OpBuilder builder(result.getContext());
  builder.setInsertionPointAfterValue(result);
  return nn::create<nn::AddOp>(
      builder, result.getLoc(), builder.getStringAttr("bsf,bsf->bsf"),
      ValueRange({result, other}), builder.getDenseF64ArrayAttr({1, share}));
}

void keepInstead(Value result, Value changed) {
  Operation *from = result.getDefiningOp(), *to = changed.getDefiningOp();
  to->setAttr(rt::RTDialect::kKeepAttr,
              from->removeAttr(rt::RTDialect::kKeepAttr));
  result.replaceAllUsesExcept(changed, to);
}

/// Changes the gradient of the last ReLU by a share of the input of the one
/// before it, which has the same shape.
void apply(const Mutation &mutation, ModuleOp module) {
  SmallVector<nn::MapGradOp> gradients;
  module->walk([&](nn::MapGradOp op) {
    if (op.getFunction() == nn::Function::Relu)
      gradients.push_back(op);
  });
  ASSERT_EQ(gradients.size(), 4u);
  nn::MapGradOp last = gradients[0];
  Value other = gradients[1].getInput(), input = last.getInput();
  if (mutation.of == Mutation::Input)
    keepInstead(input, moved(input, other, mutation.share));
  if (mutation.of == Mutation::InputOfGradient)
    last.getInputMutable().assign(moved(input, other, mutation.share));
  if (mutation.of == Mutation::Gradient)
    keepInstead(last.getOutput(),
                moved(last.getOutput(), last.getOutput(), mutation.share));
}

bool StepMutationTest::compile(TemporaryFile &file, Precision precision,
                               const Mutation &mutation) {
  PlanOptions plan = planIn(precision);
  OwningOpRef<ModuleOp> module = import(precision), right = import(precision);
  if (!module || !right || file.create("tsr") ||
      failed(compileToArtifact(*right, plan, file.path)))
    return false;
  auto target = CpuTarget::get("native", [&] { return module->emitError(); });
  if (failed(target))
    return false;
  plan.device.vectorBits = target->vectorBits;
  (*module)->setAttr(rt::kOptionsAttr, (*right)->getAttr(rt::kOptionsAttr));
  auto refuse = [&](const Twine &why) { return module->emitError(why); };
  if (!run(*module, [&](OpPassManager &manager) {
        LogicalResult built = buildDistributePipeline(manager, plan, refuse);
        manager.addPass(createNumberValuesPass());
        return built;
      }))
    return false;
  apply(mutation, *module);
  if (!run(*module, [&](OpPassManager &manager) {
        manager.addPass(createLocalizePass({/*keep=*/true}));
        buildLowerLocalPipeline(manager, plan);
        return success(
            succeeded(buildCommunicatePipeline(manager, plan, refuse)) &&
            succeeded(buildMemoryPipeline(manager, plan, refuse)) &&
            succeeded(buildCodePipeline(manager, plan, refuse)));
      }))
    return false;
  auto metadata = (*module)->getAttrOfType<StringAttr>(rt::kMetadataAttr);
  auto code = emitSharedObject(*module, *target, {});
  return succeeded(code) &&
         succeeded(writeArtifact(file.path, metadata.getValue(), *code,
                                 [&] { return module->emitError(); }));
}

std::string StepMutationTest::artifactOf(Precision precision,
                                         const Mutation &mutation) {
  using Key = std::tuple<Precision, int, double>;
  static std::map<Key, std::unique_ptr<TemporaryFile>> files;
  auto &file = files[{precision, mutation.of, mutation.share}];
  if (!file) {
    auto compiled = std::make_unique<TemporaryFile>();
    if (!compile(*compiled, precision, mutation))
      return "";
    file = std::move(compiled);
  }
  return file->path.str().str();
}

NumericCheck StepMutationTest::compare(const Mutation &mutation,
                                       const RunOptions &options) {
  std::string serial = artifactOf(options.precision, {});
  std::string mutant = artifactOf(options.precision, mutation);
  EXPECT_TRUE(!serial.empty() && !mutant.empty());
  NumericCheck check;
  llvm::Error error = compareRuns(serial, mutant, options).moveInto(check);
  EXPECT_EQ(llvm::toString(std::move(error)), "");
  return check;
}

bool namesGradient(const NumericCheck &check) {
  return check.difference.find(":map_grad of decoder.block.1") !=
         std::string::npos;
}

constexpr Mutation kRounded = {Mutation::Input, 2e-4};

TEST_F(StepMutationTest, RightProgramHasNoDoubt) {
  NumericCheck check = compare({}, {Precision::F32});
  EXPECT_EQ(check.difference, "");
  EXPECT_FALSE(check.doubt);
  EXPECT_EQ(check.worst, 0);
}

TEST_F(StepMutationTest, RoundingOfAnInputIsLeftToF64) {
  NumericCheck check = compare(kRounded, {Precision::F32});
  EXPECT_EQ(check.difference, "");
  ASSERT_TRUE(check.doubt);
  EXPECT_GT(check.doubt->elements.size(), 0u);
  NumericCheck judged = compare({}, {Precision::F64, 0, &*check.doubt});
  EXPECT_EQ(judged.difference, "");
}

TEST_F(StepMutationTest, TheSameChangeInF64Fails) {
  NumericCheck check = compare(kRounded, {Precision::F32});
  ASSERT_TRUE(check.doubt);
  NumericCheck judged = compare(kRounded, {Precision::F64, 0, &*check.doubt});
  EXPECT_NE(judged.difference, "");
}

TEST_F(StepMutationTest, AnInputThatF64HasElsewhereFails) {
  NumericCheck check = compare(kRounded, {Precision::F32});
  ASSERT_TRUE(check.doubt);
  check.doubt->margin /= 1e6;
  NumericCheck judged = compare({}, {Precision::F64, 0, &*check.doubt});
  EXPECT_NE(judged.difference.find("too far from 0"), std::string::npos)
      << judged.difference;
}

TEST_F(StepMutationTest, GradientWrongNearTheStepOnlyFails) {
  for (Precision precision : {Precision::F32, Precision::F64}) {
    NumericCheck check =
        compare({Mutation::InputOfGradient, 1e-3}, {precision});
    EXPECT_FALSE(check.doubt);
    EXPECT_TRUE(namesGradient(check)) << check.difference;
  }
}

TEST_F(StepMutationTest, GradientWrongElsewhereFails) {
  for (Precision precision : {Precision::F32, Precision::F64}) {
    NumericCheck check = compare({Mutation::Gradient, 0.5}, {precision});
    EXPECT_FALSE(check.doubt);
    EXPECT_TRUE(namesGradient(check)) << check.difference;
  }
}

} // namespace
