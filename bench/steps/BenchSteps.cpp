//===- BenchSteps.cpp - Optimizer steps of an artifact, timed -------------===//
// Usage: bench-steps model.tsr threads [device [trace.json]]
// A worker (Worker.h); a repetition is one step on random tokens. At the end
// one more step is recorded (tsr_session_trace).
//===----------------------------------------------------------------------===//
#include "bench/Worker.h"

#include <cstdlib>
#include <random>
#include <tessera/tessera.h>
#include <vector>

static void check(tsr_status status) {
  if (status == TSR_OK)
    return;
  std::cerr << tsr_status_name(status) << ": " << tsr_last_error() << "\n";
  std::exit(1);
}

static std::vector<int32_t> randomTokens(const tsr_artifact *artifact) {
  const int64_t count =
      tsr_artifact_batch(artifact) * tsr_artifact_columns(artifact);
  const auto vocabulary = uint64_t(tsr_artifact_vocabulary(artifact));
  std::mt19937_64 random(1);
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int32_t &token : tokens)
    token = int32_t(random() % vocabulary);
  return tokens;
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 5) {
    std::cerr << "usage: bench-steps model.tsr threads [device [trace.json]]\n";
    return 2;
  }
  tsr_artifact *artifact = nullptr;
  tsr_session *session = nullptr;
  check(tsr_artifact_load(argv[1], &artifact));
  tsr_session_options options = {};
  options.size = sizeof options;
  options.threads = std::atoi(argv[2]);
  options.device = argc > 3 ? argv[3] : nullptr;
  check(tsr_session_create(artifact, &options, &session));
  check(tsr_session_init(session));

  const std::vector<int32_t> tokens = randomTokens(artifact);
  double loss = 0;
  auto step = [&] {
    tsr_step_result result;
    check(tsr_session_step(session, tokens.data(), tokens.size(), &result));
    loss = result.loss;
  };
  bench::serve(tsr_artifact_metadata(artifact), step);
  if (argc > 4) {
    check(tsr_session_trace(session, argv[4]));
    step();
  }
  std::cerr << "last loss " << loss << "\n"
            << tsr_session_device(session) << "\n";
  tsr_session_destroy(session);
  tsr_artifact_destroy(artifact);
  return loss == loss ? 0 : 1;
}
