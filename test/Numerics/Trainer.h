//===- Trainer.h - a session of the runtime, in a test ----------*- C++ -*-===//
// Every failure of the C API is a failed expectation with its message.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_NUMERICS_TRAINER_H
#define TESSERA_TEST_NUMERICS_TRAINER_H

#include "tessera/tessera.h"
#include "llvm/Support/JSON.h"
#include <memory>
#include <string>
#include <vector>

namespace tessera::test {

using Values = std::vector<double>;
using Tokens = std::vector<int32_t>;

/// A tensor of the artifact.
struct TensorName {
  std::string role, name;
  size_t elements = 1;
};

struct SessionSettings {
  int64_t seed = 1;
  bool poison = false;
  int32_t threads = 0; ///< 0: all cores.
  const char *device = "cpu";
  const char *communicator = nullptr; ///< Null: threads.
};

/// Returns the tensors in the artifact's order.
std::vector<TensorName> tensorsOf(const tsr_artifact *artifact);

/// Initialised from its seed; step 0.
class Trainer {
public:
  explicit Trainer(const std::string &artifactPath,
                   const SessionSettings &settings = {});

  /// Sets a cosine from `lr` to `minLr` over `steps` steps, no warm-up.
  void setSchedule(double lr, double minLr, int64_t steps);
  void loadWeights(const std::string &path);
  void save(const std::string &directory);
  void load(const std::string &directory);

  tsr_session *get() const { return session.get(); }
  tsr_step_result step(const Tokens &tokens);
  tsr_step_result step(const Tokens &ids, const Tokens &labels,
                       const Tokens &tokenTypes, const Tokens &segments = {});
  tsr_evaluation evaluate(const Tokens &tokens, int64_t number = 0);
  tsr_evaluation evaluate(const Tokens &ids, const Tokens &labels);
  Values read(const TensorName &tensor);
  void write(const TensorName &tensor, const Values &values);

  /// Tensors of one role, in the artifact's order.
  std::vector<TensorName> tensors(const std::string &role) const;
  /// Returns the calls of a step, as the artifact lists them.
  llvm::json::Array ops() const;
  /// Return random tokens of a step: any, or a pattern that a model can learn.
  Tokens randomTokens(uint32_t seed) const;
  Tokens learnableTokens(uint32_t seed) const;

private:
  bool ok(tsr_status status) const;

  struct Destroy {
    void operator()(tsr_artifact *object) { tsr_artifact_destroy(object); }
    void operator()(tsr_session *object) { tsr_session_destroy(object); }
  };
  std::unique_ptr<tsr_artifact, Destroy> artifact;
  std::unique_ptr<tsr_session, Destroy> session;
  std::vector<TensorName> all;
};

/// Returns the largest difference, relative to the largest of `wanted` (at
/// least `floor`).
double relativeError(const Values &found, const Values &wanted,
                     double floor = 1e-300);

} // namespace tessera::test

#endif // TESSERA_TEST_NUMERICS_TRAINER_H
