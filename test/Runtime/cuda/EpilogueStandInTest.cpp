//===- EpilogueStandInTest.cpp - which way an epilogue is computed --------===//
// With the stand-in of the library, which can be told to have no epilogues.

#include "test/Runtime/cuda/EpilogueCase.h"
#include "test/Runtime/cuda/StandInControl.h"

using namespace gpu;

namespace {

class GpuEpilogueStandIn : public testing::Test {
protected:
  ~GpuEpilogueStandIn() override { standInEpilogues = true; }
};

TEST_F(GpuEpilogueStandIn, KernelsDoWhatTheLibraryDoesNot) {
  standInEpilogues = false;
  for (const EpilogueCase &c : epilogueCases())
    compareEpilogue(c);
}

/// The library is asked for one product per call in either case.
TEST_F(GpuEpilogueStandIn, OneProductWithOrWithoutEpilogues) {
  for (bool has : {true, false}) {
    standInEpilogues = has;
    int before = standInProducts;
    compareEpilogue({8, 16, 8, TSR_DTYPE_BF16, TSR_DTYPE_BF16,
                     TSR_GEMM_EPILOGUE_GELU, 0, false, false, true});
    EXPECT_EQ(standInProducts - before, 2); // calls of compareEpilogue
  }
}

TEST_F(GpuEpilogueStandIn, TheDeviceSaysWhatTheLibraryLacks) {
  for (bool has : {true, false}) {
    standInEpilogues = has;
    EpilogueOperands x({8, 16, 8, TSR_DTYPE_F32, TSR_DTYPE_F32,
                        TSR_GEMM_EPILOGUE_NONE, TSR_GEMM_SUMS_B});
    World world(single(1 << 19, [&](const Program &program) {
      std::vector<void *> all;
      for (size_t i = 0; i < x.buffers.size(); ++i)
        all.push_back(program.at(epiloguePlace(i)));
      return program.call(program.frame.api->gemm, x.pick(all), x.args);
    }));
    ASSERT_TRUE(world.step().ok());
    EXPECT_EQ(world.describe().find("no epilogue for 1 forms of products") !=
                  std::string::npos,
              !has)
        << world.describe();
  }
}

} // namespace
