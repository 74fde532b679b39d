//===- Court.h - all mutants of a program, judged on all cores --*- C++ -*-===//

#ifndef TESSERA_TEST_MUTATION_COURT_H
#define TESSERA_TEST_MUTATION_COURT_H

#include "test/Mutation/Judge.h"

namespace tessera::test {

/// One judge per thread; mutants are handed out one at a time.
class Court {
public:
  /// `scratch`: a directory for the artifacts of mutants.
  Court(const Strategy &strategy, KernelObjects &kernels, std::string scratch)
      : strategy(strategy), kernels(kernels), scratch(std::move(scratch)) {}

  /// Makes the typed program; false after an error, which fails the test.
  bool start();
  /// Makes the later programs, and runs the original and the serial one; false
  /// after an error, which fails the test.
  bool prepare();
  /// Returns the mutants of the typed program.
  Mutants enumerateTyped();
  /// Returns those of all stages; needs what `prepare` makes.
  Mutants enumerate();
  std::vector<Verdict> judge(const Mutants &mutants);

private:
  /// Lets each judge do so in a thread of its own.
  bool each(bool (Judge::*act)());

  const Strategy &strategy;
  KernelObjects &kernels;
  std::string scratch;
  std::vector<std::unique_ptr<Judge>> judges;
};

/// Returns at most `count` mutants of each kind, evenly spread.
Mutants sample(Mutants mutants, size_t count);
/// Returns at most `count` of each kind and op: also of the ops that a model
/// has few of.
Mutants sampleOps(Mutants mutants, size_t count);

} // namespace tessera::test

#endif // TESSERA_TEST_MUTATION_COURT_H
