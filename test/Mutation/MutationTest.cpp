//===- MutationTest.cpp - no wrong program survives -----------------------===//
// Every conversion of the training step of a two-layer GPT-2 on dp=2,tp=2 is
// deleted, changed and rewired in turn, forward, backward and in the optimizer;
// below the types every collective and everything that tells a rank where it
// is. Each mutant must be caught by types, by erasure, by a pass or by numbers,
// or be another correct program for a stated reason. The table of kills is
// printed.
//===----------------------------------------------------------------------===//

#include "Judge.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

using namespace tessera::test;

namespace {

constexpr int kFates = 7;
constexpr unsigned kMostThreads = 8;

/// A directory for the artifacts of mutants.
class ScratchDirectory {
public:
  ScratchDirectory() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("mutation", path));
  }
  ~ScratchDirectory() { llvm::sys::fs::remove_directories(path); }

  llvm::SmallString<128> path;
};

/// One judge per thread; mutants are handed out one at a time.
class Court {
public:
  bool start();
  Mutants enumerate();
  std::vector<Verdict> judge(const Mutants &mutants);

private:
  ScratchDirectory scratch;
  KernelObjects kernels;
  std::vector<std::unique_ptr<Judge>> judges;
};

bool Court::start() {
  unsigned threads =
      std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads);
  for (unsigned k = 0; k < threads; ++k) {
    judges.push_back(std::make_unique<Judge>());
    std::string prefix = llvm::formatv("{0}/{1}-", scratch.path, k);
    if (!judges.back()->start(kernels, prefix))
      return false;
    Verdict original = judges.back()->judgeOriginal();
    EXPECT_EQ(original.fate, Fate::Equal) << original.difference;
  }
  return true;
}

Mutants Court::enumerate() {
  Judge &judge = *judges.front();
  Mutants all;
  auto append = [&](Mutants more) {
    for (Mutant &mutant : more)
      all.push_back(std::move(mutant));
  };
  append(typedMutants(judge.programs.at(Stage::Typed)));
  std::map<std::string, bool> known;
  append(localizedMutants(judge.programs.at(Stage::Localized),
                          [&](llvm::StringRef name) {
                            auto [it, isNew] = known.try_emplace(name.str());
                            if (isNew)
                              it->second = judge.readsFactors(name);
                            return it->second;
                          }));
  append(loweredMutants(judge.programs.at(Stage::Lowered)));
  append(plannedMutants(judge.programs.at(Stage::Planned)));
  return all;
}

std::vector<Verdict> Court::judge(const Mutants &mutants) {
  std::vector<Verdict> verdicts(mutants.size());
  std::atomic<size_t> next{0};
  std::vector<std::thread> threads;
  for (auto &judge : judges)
    threads.emplace_back([&] {
      for (size_t k = next++; k < mutants.size(); k = next++)
        verdicts[k] = judge->judge(mutants[k]);
    });
  for (std::thread &thread : threads)
    thread.join();
  return verdicts;
}

/// Kills by kind of mutant, in the order in which kinds were first seen.
class KillTable {
public:
  void count(const Mutant &mutant, Fate fate);
  void print() const;
  int total(Fate fate) const;

private:
  struct Row {
    std::string kind;
    int counts[kFates] = {};
  };
  std::vector<Row> rows;
};

void KillTable::count(const Mutant &mutant, Fate fate) {
  auto row = llvm::find_if(
      rows, [&](const Row &row) { return row.kind == mutant.kind; });
  if (row == rows.end())
    row = rows.insert(row, Row{mutant.kind});
  ++row->counts[static_cast<int>(fate)];
}

int KillTable::total(Fate fate) const {
  int sum = 0;
  for (const Row &row : rows)
    sum += row.counts[static_cast<int>(fate)];
  return sum;
}

/// A survivor is counted as unclear: see `isExplained`.
void KillTable::print() const {
  constexpr const char *columns[] = {"types",   "erasure",       "a pass",
                                     "numbers", "other correct", "no change",
                                     "survived"};
  std::printf("%-44s", "caught by");
  for (const char *column : columns)
    std::printf("%*s", std::max<int>(std::strlen(column) + 2, 9), column);
  auto printRow = [&](const std::string &kind, auto countOf) {
    std::printf("\n  %-42s", kind.c_str());
    for (int fate = 0; fate < kFates; ++fate)
      std::printf("%*d", std::max<int>(std::strlen(columns[fate]) + 2, 9),
                  countOf(fate));
  };
  for (const Row &row : rows)
    printRow(row.kind, [&](int fate) { return row.counts[fate]; });
  printRow("all", [&](int fate) { return total(static_cast<Fate>(fate)); });
  std::printf("\n");
}

/// Right mutants say why, and only they are right.
bool isExplained(const Mutant &mutant, const Verdict &verdict) {
  switch (verdict.fate) {
  case Fate::Unclear:
    return false;
  case Fate::Same:
    return true;
  default:
    return (verdict.fate == Fate::Equal) == !mutant.right.empty();
  }
}

void report(const Mutants &mutants, const std::vector<Verdict> &verdicts) {
  KillTable table;
  std::map<std::string, int> reasons;
  double least = INFINITY, most = 0;
  for (size_t k = 0; k < mutants.size(); ++k) {
    bool explained = isExplained(mutants[k], verdicts[k]);
    EXPECT_TRUE(explained) << mutants[k].kind << ": " << mutants[k].what
                           << ", fate " << static_cast<int>(verdicts[k].fate)
                           << ", difference " << verdicts[k].difference
                           << (mutants[k].right.empty() ? ""
                                                        : ", expected right: ")
                           << mutants[k].right;
    table.count(mutants[k], explained ? verdicts[k].fate : Fate::Unclear);
    if (verdicts[k].fate == Fate::Equal) {
      ++reasons[mutants[k].right];
      most = std::max(most, verdicts[k].difference);
    }
    if (verdicts[k].fate == Fate::Numerics)
      least = std::min(least, verdicts[k].difference);
  }
  table.print();
  int right = table.total(Fate::Equal), same = table.total(Fate::Same);
  int wrong = static_cast<int>(mutants.size()) - right - same;
  std::printf("killed %d of %d wrong programs; %d mutants change nothing, %d "
              "are other correct programs:\n",
              wrong - table.total(Fate::Unclear), wrong, same, right);
  for (const auto &[reason, count] : reasons)
    std::printf("  %4d  %s\n", count, reason.c_str());
  std::printf(
      "right ones differ from the serial run by at most %.1e, the least "
      "wrong one by %.1e\n",
      most, least);
}

TEST(MutationTest, NoWrongProgramSurvives) {
  auto start = std::chrono::steady_clock::now();
  Court court;
  ASSERT_TRUE(court.start());
  Mutants mutants = court.enumerate();
  std::vector<Verdict> verdicts = court.judge(mutants);
  report(mutants, verdicts);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  size_t runs = llvm::count_if(verdicts, [](const Verdict &verdict) {
    return verdict.fate == Fate::Numerics || verdict.fate == Fate::Equal;
  });
  std::printf("%zu mutants, %zu of them compiled and run on 4 ranks, %.0f s\n",
              mutants.size(), runs, seconds.count());
  EXPECT_GT(mutants.size(), 1000u);
}

} // namespace
