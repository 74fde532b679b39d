//===- RoundTripTest.cpp - programs as text are the programs --------------===//
// The programs that are imported from each config of test/models, and those
// that inference makes of them, are printed and parsed again: the text stays,
// and they train alike.
//===----------------------------------------------------------------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tessera/Import/Import.h"
#include "tessera/Inference/Passes.h"
#include "tessera/Pipelines/Compile.h"
#include "test/Models.h"
#include "test/Numerics/Model.h"
#include "test/Numerics/Trainer.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tessera;
using namespace tessera::test;

namespace {

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

class RoundTripTest : public ::testing::TestWithParam<TestModel> {
protected:
  RoundTripTest() {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    context.appendDialectRegistry(registry);
    context.disableMultithreading();
  }

  OwningOpRef<ModuleOp> import(const ImportOptions &options) {
    auto module = importModel(&context, GetParam().path(), options);
    EXPECT_TRUE(succeeded(module));
    return succeeded(module) ? std::move(*module) : ModuleOp::create(loc);
  }

  OwningOpRef<ModuleOp> run(OwningOpRef<ModuleOp> module,
                            std::unique_ptr<Pass> pass) {
    PassManager manager(&context);
    manager.addPass(std::move(pass));
    EXPECT_TRUE(succeeded(manager.run(*module)));
    return module;
  }

  void expectSameText(ModuleOp module) {
    std::string text = textOf(module);
    auto parsed = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(textOf(*parsed), text);
  }

  MLIRContext context;
  Location loc = UnknownLoc::get(&context);
};

TEST_P(RoundTripTest, KeepsTheTextOfPrograms) {
  ImportOptions options;
  expectSameText(*import(options));
  options.sizes.paddingMask = GetParam().encodes();
  if (GetParam().generates())
    expectSameText(*run(import(options), createAddGenerationPass()));
  if (GetParam().encodes())
    expectSameText(*run(import(options), createAddEncodingPass()));
}

TEST_P(RoundTripTest, TrainsAsTheConfigDoes) {
  Build build;
  build.mesh = "tp=2";
  build.precision = "f32";
  ImportOptions options;
  options.sizes.batch = build.batch;
  std::string program = scratchFile("model.mlir", textOf(*import(options)));
  Trainer wanted(compileModel(GetParam().path(), build));
  Trainer found(compileModel(program, build));
  for (uint32_t step = 0; step < 2; ++step)
    EXPECT_EQ(found.step(found.randomTokens(step)).loss,
              wanted.step(wanted.randomTokens(step)).loss);
}

INSTANTIATE_TEST_SUITE_P(Models, RoundTripTest,
                         ::testing::ValuesIn(testModels()), NameOfModel());

} // namespace
