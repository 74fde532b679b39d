//===- TestGenerator.h - a generator of the runtime, in a test --*- C++ -*-===//
// Every failure of the C API is a failed expectation with its message.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_NUMERICS_TESTGENERATOR_H
#define TESSERA_TEST_NUMERICS_TESTGENERATOR_H

#include "test/Numerics/Trainer.h"
#include <map>

namespace tessera::test {

/// The result of a request: its tokens with those of the prompt, and what the
/// sampler said of the new ones.
struct Continued {
  Tokens tokens;
  size_t prompt = 0;
  Values logProbabilities;
  /// Those of all new tokens in turn.
  std::vector<tsr_alternative> alternatives;
  int32_t ended = TSR_GOES_ON;
};

struct GeneratorSettings {
  const char *device = "cpu", *communicator = "threads";
  int32_t threads = 2;
  bool poison = true; ///< On a device it keeps steps from being captured.
};

/// Parameters are drawn from the seed, or read from a file; what is not written
/// holds NaN, with `poison`.
class TestGenerator {
public:
  explicit TestGenerator(const std::string &artifactPath,
                         const std::string &weights = "",
                         const GeneratorSettings &settings = {});
  /// Generates with the parameters of a session, which outlives it.
  explicit TestGenerator(const Trainer &trainer);

  tsr_generator *get() const { return generator.get(); }
  /// Returns the request's number.
  int64_t add(const Tokens &prompt, tsr_request_options options);
  /// Runs one step; returns false if there is nothing to do.
  bool step();
  void run() {
    while (step())
      ;
  }
  /// Tensors of one role, in the artifact's order.
  std::vector<TensorName> tensors(const std::string &role) const;
  Values read(const TensorName &tensor) const;
  void write(const TensorName &tensor, const Values &values);
  const Continued &result(int64_t request) { return results[request]; }

private:
  struct Destroy {
    void operator()(tsr_artifact *object) { tsr_artifact_destroy(object); }
    void operator()(tsr_generator *object) { tsr_generator_destroy(object); }
  };
  std::unique_ptr<tsr_artifact, Destroy> artifact;
  std::unique_ptr<tsr_generator, Destroy> generator;
  std::map<int64_t, Continued> results;
};

/// Requests so many new tokens, greedily.
tsr_request_options requestOf(int64_t maxNewTokens);

/// Continues five texts, every other one drawn, which are more than four slots.
std::vector<Continued> continueTexts(TestGenerator &generator);

/// Expects the same texts and, to rounding, the same probabilities and
/// alternatives.
void expectSame(const std::vector<Continued> &found,
                const std::vector<Continued> &wanted, double tolerance,
                const std::string &where);

} // namespace tessera::test

#endif // TESSERA_TEST_NUMERICS_TESTGENERATOR_H
