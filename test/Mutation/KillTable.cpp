//===- KillTable.cpp - who caught which mutants ---------------------------===//

#include "test/Mutation/KillTable.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace tessera::test;

/// The columns in the order of Fate. A survivor is counted as unclear.
static constexpr const char *kColumns[] = {
    "types",   "erasure",       "messages",  "a pass",
    "numbers", "other correct", "no change", "survived"};
static constexpr int kNameWidth = 78;

static int widthOf(const char *column) {
  return std::max<int>(std::strlen(column) + 2, 9);
}

static std::string reasonOf(const Mutant &mutant) {
  return mutant.right.empty() ? mutant.mayBeRight : mutant.right;
}

/// Right mutants say why, and only they are right.
static bool isExplained(const Mutant &mutant, const Verdict &verdict) {
  switch (verdict.fate) {
  case Fate::Unclear:
    return false;
  case Fate::Same:
    return true;
  case Fate::Equal:
    return !reasonOf(mutant).empty();
  default:
    return mutant.right.empty();
  }
}

KillTable::Row &KillTable::rowOf(std::vector<Row> &rows,
                                 const std::string &name) {
  auto row =
      llvm::find_if(rows, [&](const Row &row) { return row.name == name; });
  return row == rows.end() ? *rows.insert(row, Row{name}) : *row;
}

void KillTable::add(const Strategy &strategy, const Mutants &mutants,
                    const std::vector<Verdict> &verdicts, double seconds) {
  Row &program = rowOf(programs, strategy.name());
  program.seconds += seconds;
  for (size_t k = 0; k < mutants.size(); ++k) {
    const Mutant &mutant = mutants[k];
    bool explained = isExplained(mutant, verdicts[k]);
    EXPECT_TRUE(explained) << strategy.name() << ": " << mutant.kind << ": "
                           << mutant.what << ", fate "
                           << kColumns[static_cast<int>(verdicts[k].fate)]
                           << ", difference " << verdicts[k].difference
                           << (mutant.right.empty() ? "" : ", expected right: ")
                           << mutant.right;
    int fate = static_cast<int>(explained ? verdicts[k].fate : Fate::Unclear);
    ++program.counts[fate];
    ++rowOf(kinds, mutant.kind).counts[fate];
    if (verdicts[k].fate == Fate::Equal) {
      ++reasons[reasonOf(mutant)];
      most = std::max(most, verdicts[k].difference);
    }
    if (verdicts[k].fate == Fate::Numerics)
      least = std::min(least, verdicts[k].difference);
  }
}

KillTable::Row KillTable::sum() const {
  Row all{"all"};
  for (const Row &row : programs) {
    all.seconds += row.seconds;
    for (int fate = 0; fate < kFates; ++fate)
      all.counts[fate] += row.counts[fate];
  }
  return all;
}

size_t KillTable::size() const {
  Row all = sum();
  return std::accumulate(all.counts, all.counts + kFates, size_t(0));
}

void KillTable::printRow(const Row &row) {
  std::printf("\n  %-*s", kNameWidth - 2, row.name.c_str());
  for (int fate = 0; fate < kFates; ++fate)
    std::printf("%*d", widthOf(kColumns[fate]), row.counts[fate]);
}

void KillTable::print() const {
  Row all = sum();
  auto countOf = [&](Fate fate) { return all.counts[static_cast<int>(fate)]; };
  std::printf("%-*s", kNameWidth, "caught by");
  for (const char *column : kColumns)
    std::printf("%*s", widthOf(column), column);
  std::printf("\nby change");
  for (const Row &row : kinds)
    printRow(row);
  std::printf("\nby program");
  for (const Row &row : programs)
    printRow(row);
  printRow(all);
  int right = countOf(Fate::Equal), same = countOf(Fate::Same);
  int wrong = static_cast<int>(size()) - right - same;
  std::printf("\nkilled %d of %d wrong programs; %d mutants change nothing, %d "
              "are other correct programs:\n",
              wrong - countOf(Fate::Unclear), wrong, same, right);
  for (const auto &[reason, count] : reasons)
    std::printf("  %4d  %s\n", count, reason.c_str());
  std::printf("right ones differ from the serial run by at most %.1e, the "
              "least wrong one by %.1e\n",
              most, least);
  std::printf("%zu mutants of %zu programs, %d of them compiled and run on all "
              "ranks, %.0f s\n",
              size(), programs.size(), countOf(Fate::Numerics) + right,
              all.seconds);
}
