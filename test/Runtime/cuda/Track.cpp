//===- Track.cpp - two artifacts of one model train alike -----------------===//
// Usage: gpu-track wanted.tsr found.tsr steps tolerance
// Trains both from the same seed on the same tokens, each on the device that it
// is compiled for, and compares the losses of all steps. For gpu-check.sh: it
// needs the runtime alone.
//===----------------------------------------------------------------------===//

#include "tessera/tessera.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

static void check(tsr_status status) {
  if (status == TSR_OK)
    return;
  std::fprintf(stderr, "%s: %s\n", tsr_status_name(status), tsr_last_error());
  std::exit(1);
}

namespace {
class Training {
public:
  explicit Training(const char *path) {
    check(tsr_artifact_load(path, &artifact));
    tsr_session_options options = {};
    options.size = sizeof options;
    options.seed = 1;
    bool isCuda = std::strstr(tsr_artifact_metadata(artifact),
                              "\"device\":\"cuda\"") != nullptr;
    options.device = isCuda ? "cuda" : "cpu";
    check(tsr_session_create(artifact, &options, &session));
    check(tsr_session_init(session));
  }
  ~Training() {
    tsr_session_destroy(session);
    tsr_artifact_destroy(artifact);
  }

  /// A pattern that can be learnt: each token follows from the one before.
  std::vector<int32_t> tokens(unsigned step) const {
    int64_t length = tsr_artifact_columns(artifact);
    std::vector<int32_t> all(tsr_artifact_batch(artifact) * length);
    std::mt19937 random(step);
    int64_t vocabulary = tsr_artifact_vocabulary(artifact);
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<int32_t>(
          i % length ? (all[i - 1] * 5 + 3) % vocabulary
                     : static_cast<int64_t>(random()) % vocabulary);
    return all;
  }

  double step(const std::vector<int32_t> &tokens) {
    tsr_step_result result;
    check(tsr_session_step(session, tokens.data(), tokens.size(), &result));
    return result.loss;
  }

private:
  tsr_artifact *artifact = nullptr;
  tsr_session *session = nullptr;
};
} // namespace

int main(int argc, char **argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: gpu-track wanted.tsr found.tsr steps "
                         "tolerance\n");
    return 2;
  }
  Training wanted(argv[1]), found(argv[2]);
  const unsigned steps = std::atoi(argv[3]);
  const double tolerance = std::atof(argv[4]);
  double largest = 0;
  for (unsigned step = 0; step < steps; ++step) {
    const std::vector<int32_t> tokens = wanted.tokens(step);
    const double a = wanted.step(tokens), b = found.step(tokens);
    const double difference = std::fabs(b - a) / std::fabs(a);
    largest = std::max(largest, std::isfinite(difference) ? difference : 1e300);
    if (step % 10 == 0 || step + 1 == steps)
      std::printf("step %u: loss %.6f, wanted %.6f\n", step, b, a);
  }
  std::printf("largest relative difference of a loss: %.2e, allowed %.2e\n",
              largest, tolerance);
  return largest <= tolerance ? 0 : 1;
}
