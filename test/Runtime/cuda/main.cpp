//===- main.cpp - tests that need a GPU, or say that there is none --------===//

#include "runtime/cuda/Driver.h"

#include <cstdio>
#include <gtest/gtest.h>

/// The exit code that ctest takes for "skipped".
static constexpr int skipped = 77;

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string problem = tessera::cuda::driverProblem();
  if (problem.empty() || testing::GTEST_FLAG(list_tests))
    return RUN_ALL_TESTS();
  std::printf("%d tests of the CUDA device were not run: %s\n",
              testing::UnitTest::GetInstance()->total_test_count(),
              problem.c_str());
  return skipped;
}
