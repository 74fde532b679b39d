//===- KillTable.h - who caught which mutants -------------------*- C++ -*-===//

#ifndef TESSERA_TEST_MUTATION_KILLTABLE_H
#define TESSERA_TEST_MUTATION_KILLTABLE_H

#include "test/Mutation/Judge.h"
#include <map>

namespace tessera::test {

/// Mutants by kind and fate, in the order in which kinds were first seen, over
/// all strategies.
class KillTable {
public:
  /// Counts the verdicts on a strategy's mutants. A survivor fails the test
  /// that runs: a mutant that is right says why, and only such a one is right.
  void add(const Strategy &strategy, const Mutants &mutants,
           const std::vector<Verdict> &verdicts, double seconds);
  void print() const;
  size_t size() const;

private:
  static constexpr int kFates = 8;
  struct Row {
    std::string name;
    int counts[kFates] = {};
    double seconds = 0;
  };
  static Row &rowOf(std::vector<Row> &rows, const std::string &name);
  static void printRow(const Row &row);
  Row sum() const;

  std::vector<Row> kinds, programs;
  std::map<std::string, int> reasons; ///< Why mutants are right.
  double least = INFINITY; ///< Smallest difference of a wrong program.
  double most = 0;         ///< Largest difference of a right one.
};

} // namespace tessera::test

#endif // TESSERA_TEST_MUTATION_KILLTABLE_H
