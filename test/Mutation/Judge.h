//===- Judge.h - what catches a mutant --------------------------*- C++ -*-===//

#ifndef TESSERA_TEST_MUTATION_JUDGE_H
#define TESSERA_TEST_MUTATION_JUDGE_H

#include "test/Mutation/Outcome.h"
#include "test/Mutation/Programs.h"
#include <optional>

namespace tessera::test {

enum class Fate {
  Types,    ///< The rule or a verifier refuses it.
  Erasure,  ///< Without distribution it is not the serial program.
  Messages, ///< Ranks would wait for each other.
  Passes,   ///< A later pass, the memory check or the metadata refuses it.
  Numerics, ///< It trains, or continues texts, differently, or fails.
  Equal,    ///< It does as the serial program does.
  Same,     ///< The change makes no difference to the lowered program.
  Unclear   ///< Between the two: the test must be improved.
};

struct Verdict {
  Fate fate = Fate::Unclear;
  double difference = 0; ///< From the serial run, if it was run.
};

/// Judges mutants, one at a time; one per thread.
class Judge {
public:
  /// `scratch` is the prefix of files that it may write.
  Judge(const Strategy &strategy, KernelObjects &kernels, std::string scratch)
      : programs(strategy), kernels(kernels), generates(strategy.generates()),
        scratch(std::move(scratch)) {}
  /// Makes the typed program; returns false after an error.
  bool start();
  /// Makes and runs what mutants are compared with that neither types nor
  /// erasure refuse. Returns false after an error. `judge` calls it if needed.
  bool prepare();

  /// Return the verdicts on the program that is no mutant: compiled and run, or
  /// on its types alone.
  Verdict judgeOriginal();
  std::optional<Fate> refusalOfOriginal();
  Verdict judge(const Mutant &mutant);
  /// Does anything read the factors of ops of this name?
  bool readsFactors(llvm::StringRef opName);

  Programs programs;

private:
  /// Returns whether types or erasure refuse a typed program, and which.
  std::optional<Fate> refusalOf(mlir::ModuleOp typed, bool retypes);
  /// Lowers a program of an earlier stage. Returns a verdict where that
  /// decides.
  std::optional<Verdict> lower(mlir::ModuleOp module, Stage stage);
  /// Runs a program of a later stage.
  Verdict run(mlir::ModuleOp module, Stage stage);
  Verdict refusal() const;

  bool learnSerial(const std::string &path);
  Verdict measure(const std::string &path) const;
  Verdict measureGeneration(const std::string &path) const;

  KernelObjects &kernels;
  bool isMasked = false; ///< The model has labels and token types of its own.
  bool generates;        ///< It is compared with the forward program.
  bool isPrepared = false;
  std::string scratch, loweredText;
  Outcome wanted;
  ForwardResult forward;
};

} // namespace tessera::test

#endif // TESSERA_TEST_MUTATION_JUDGE_H
