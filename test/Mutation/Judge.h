//===- Judge.h - what catches a mutant --------------------------*- C++ -*-===//

#ifndef TESSERA_TEST_MUTATION_JUDGE_H
#define TESSERA_TEST_MUTATION_JUDGE_H

#include "test/Mutation/Outcome.h"
#include "test/Mutation/Programs.h"

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
  explicit Judge(const Strategy &strategy)
      : programs(strategy), isMasked(strategy.model == "bert"),
        generates(strategy.generates()) {}
  /// Starts; returns false after an error. `scratch` is the prefix of files
  /// that it may write.
  bool start(KernelObjects &kernels, const std::string &scratch);

  /// Returns the program of no mutant.
  Verdict judgeOriginal();
  Verdict judge(const Mutant &mutant);
  /// Does anything read the factors of ops of this name?
  bool readsFactors(llvm::StringRef opName);

  Programs programs;

private:
  Verdict run(mlir::ModuleOp module, Stage stage);
  Verdict refusal() const;

  bool learnSerial(const std::string &path);
  Verdict measure(const std::string &path) const;
  Verdict measureGeneration(const std::string &path) const;

  bool isMasked;  ///< The model has labels and token types of its own.
  bool generates; ///< It is compared with the forward program.
  std::string scratch, loweredText;
  Outcome wanted;
  ForwardResult forward;
};

} // namespace tessera::test

#endif // TESSERA_TEST_MUTATION_JUDGE_H
