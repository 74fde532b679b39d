//===- MutationTest.cpp - no wrong program survives -----------------------===//
// Every conversion of a training step is deleted, changed, rewired and
// relabelled in turn, forward, backward and in the optimizer; below the types
// every collective and message, and everything that tells a rank where it is.
// Each mutant must be caught by types, by erasure, by the messages check, by
// another pass or by numbers, or be another correct program for a stated
// reason. The table of kills is printed.
//
//   MutationTest            a sample of the mutants of six programs, and of the
//                           typed ones of each model in test/models
//   MutationTest --whole    all mutants of all programs, check.sh --full
//   MutationTest --only=pp  all mutants of programs whose name has "pp"
//   --sample=N              of these, at most N of a kind and program
//===----------------------------------------------------------------------===//

#include "test/Mutation/Court.h"
#include "test/Mutation/KillTable.h"
#include "llvm/Support/FileSystem.h"
#include <chrono>
#include <gtest/gtest.h>

using namespace tessera::test;

namespace {

bool isWhole = false;
std::string only;
size_t sampleSize = 0; ///< Mutants of a kind and program; 0: as chosen.

/// `quick` in every run of the tests.
size_t mostOfAKind(size_t quick) {
  bool isQuick = !isWhole && only.empty();
  return sampleSize ? sampleSize : isQuick ? quick : SIZE_MAX;
}

/// A directory for the artifacts of mutants.
class ScratchDirectory {
public:
  ScratchDirectory() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("mutation", path));
  }
  ~ScratchDirectory() { llvm::sys::fs::remove_directories(path); }

  llvm::SmallString<128> path;
};

bool isChosen(const Strategy &strategy) {
  if (!only.empty())
    return strategy.name().find(only) != std::string::npos;
  return isWhole || strategy.quick;
}

/// Judges mutants of all chosen programs and prints who caught them.
void expectNoSurvivor(const std::vector<Strategy> &programs, size_t quick) {
  const size_t most = mostOfAKind(quick);
  ScratchDirectory scratch;
  KernelObjects kernels;
  KillTable table;
  for (const Strategy &strategy : programs) {
    if (!isChosen(strategy))
      continue;
    auto start = std::chrono::steady_clock::now();
    Court court(strategy, kernels, scratch.path.str().str());
    if (!court.start() || !court.prepare())
      continue;
    Mutants mutants = sample(court.enumerate(), most);
    std::vector<Verdict> verdicts = court.judge(mutants);
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    table.add(strategy, mutants, verdicts, seconds.count());
    std::fprintf(stderr, "%s: %zu mutants, %.0f s\n", strategy.name().c_str(),
                 mutants.size(), seconds.count());
  }
  if (table.size() == 0 && !only.empty())
    return;
  table.print();
  if (most != SIZE_MAX)
    std::printf("at most %zu mutants of a kind and program\n", most);
  EXPECT_GT(table.size(), 50u);
}

TEST(MutationTest, NoWrongProgramSurvives) {
  expectNoSurvivor(strategies(), 2);
}

TEST(GenerationMutationTest, NoWrongProgramSurvives) {
  expectNoSurvivor(generationStrategies(), 2);
}

/// Judges typed programs of every family. Types and erasure refuse nearly all
/// mutants, so that little is compiled.
TEST(ModelMutationTest, NoWrongProgramSurvives) {
  ScratchDirectory scratch;
  KernelObjects kernels;
  KillTable table;
  for (const Strategy &strategy : modelStrategies()) {
    if (!isChosen(strategy))
      continue;
    auto start = std::chrono::steady_clock::now();
    Court court(strategy, kernels, scratch.path.str().str());
    if (!court.start())
      continue;
    Mutants mutants = sampleOps(court.enumerateTyped(), mostOfAKind(1));
    std::vector<Verdict> verdicts = court.judge(mutants);
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    table.add(strategy, mutants, verdicts, seconds.count());
    EXPECT_GT(mutants.size(), 20u) << strategy.name();
    std::fprintf(stderr, "%s: %zu typed mutants, %.1f s\n",
                 strategy.name().c_str(), mutants.size(), seconds.count());
  }
}

} // namespace

int main(int argc, char **argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int k = 1; k < argc; ++k) {
    llvm::StringRef argument = argv[k];
    if (argument == "--whole") {
      isWhole = true;
    } else if (argument.consume_front("--only=")) {
      only = argument.str();
    } else if (argument.consume_front("--sample=") &&
               !argument.getAsInteger(10, sampleSize)) {
      continue;
    } else {
      std::fprintf(stderr, "unknown argument '%s'\n", argv[k]);
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}
