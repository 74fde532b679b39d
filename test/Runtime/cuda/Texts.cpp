//===- Texts.cpp - two artifacts of one model continue texts alike --------===//
// Usage: gpu-texts wanted.tsr found.tsr tolerance
// Both continue the same prompts with parameters of the same seed, each on the
// device that it is compiled for; half of the tokens are drawn. For
// gpu-check.sh: it needs the runtime alone.
//===----------------------------------------------------------------------===//

#include "tessera/tessera.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <vector>

static constexpr int64_t requests = 8, mostNewTokens = 48;

static void check(tsr_status status) {
  if (status == TSR_OK)
    return;
  std::fprintf(stderr, "%s: %s\n", tsr_status_name(status), tsr_last_error());
  std::exit(1);
}

namespace {
struct Text {
  std::vector<int32_t> tokens;
  std::vector<double> logProbabilities;
};

class Generation {
public:
  explicit Generation(const char *path) {
    check(tsr_artifact_load(path, &artifact));
    tsr_session_options options = {};
    options.size = sizeof options;
    options.seed = 1;
    bool isCuda = std::strstr(tsr_artifact_metadata(artifact),
                              "\"device\":\"cuda\"") != nullptr;
    options.device = isCuda ? "cuda" : "cpu";
    check(tsr_generator_create(artifact, &options, nullptr, &generator));
  }
  ~Generation() {
    tsr_generator_destroy(generator);
    tsr_artifact_destroy(artifact);
  }

  /// Requests of 1 to 20 tokens, and two as long as fit, the even ones greedy.
  std::vector<Text> texts() {
    std::map<int64_t, Text> found;
    const auto start = std::chrono::steady_clock::now();
    for (int64_t k = 0; k < requests; ++k)
      found[add(k)];
    for (int64_t rows = 1; rows > 0;) {
      check(tsr_generator_step(generator, &rows));
      take(found);
    }
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    std::printf("%lld texts in %.3f s\n", static_cast<long long>(requests),
                seconds.count());
    std::vector<Text> texts;
    for (auto &[id, text] : found)
      texts.push_back(std::move(text));
    return texts;
  }

private:
  int64_t add(int64_t k) {
    std::mt19937 random(static_cast<uint32_t>(k));
    const auto longest = static_cast<uint32_t>(places() - newTokens());
    std::vector<int32_t> prompt(k < 2 ? longest
                                      : 1 + random() % std::min(20u, longest));
    for (int32_t &token : prompt)
      token = static_cast<int32_t>(
          random() % static_cast<uint32_t>(tsr_artifact_vocabulary(artifact)));
    tsr_request_options options = {};
    options.size = sizeof options;
    options.max_new_tokens = newTokens();
    options.temperature = k % 2 ? 0.8 : 0;
    options.seed = k;
    int64_t id = 0;
    check(tsr_generator_add(generator, prompt.data(), prompt.size(), &options,
                            &id));
    return id;
  }

  /// Returns the places of a request, by the artifact's metadata.
  int64_t places() const {
    const char *field = "\"places\":";
    const char *found = std::strstr(tsr_artifact_metadata(artifact), field);
    const int64_t places = found ? std::atoll(found + std::strlen(field)) : 0;
    if (places > 1)
      return places;
    std::fprintf(stderr, "the artifact does not generate\n");
    std::exit(2);
  }

  int64_t newTokens() const { return std::min(mostNewTokens, places() / 2); }

  void take(std::map<int64_t, Text> &found) {
    tsr_generated made;
    int32_t isFound = 0;
    while (true) {
      check(tsr_generator_next(generator, &made, &isFound));
      if (!isFound)
        return;
      found[made.request].tokens.push_back(made.token);
      found[made.request].logProbabilities.push_back(made.log_probability);
    }
  }

  tsr_artifact *artifact = nullptr;
  tsr_generator *generator = nullptr;
};

struct Comparison {
  double largest = 0; ///< difference of a log-probability
  int64_t tokens = 0, compared = 0;
  int64_t parted = 0; ///< texts, which they may at a near tie
  bool isWrong = false;
};
} // namespace

/// Texts may part where two tokens are as good as equally probable. What comes
/// after that is of other texts.
static void compare(const Text &wanted, const Text &found, double tolerance,
                    bool isGreedy, Comparison &result) {
  if (wanted.tokens.size() != found.tokens.size())
    result.isWrong = true;
  const size_t count = std::min(wanted.tokens.size(), found.tokens.size());
  result.tokens += static_cast<int64_t>(wanted.tokens.size());
  for (size_t i = 0; i < count; ++i) {
    const double difference =
        std::fabs(wanted.logProbabilities[i] - found.logProbabilities[i]);
    const bool isSame = wanted.tokens[i] == found.tokens[i];
    // A draw is only known to part: noise decides, too.
    if (isSame || isGreedy)
      result.largest = std::max(result.largest,
                                std::isfinite(difference) ? difference : 1e300);
    if (!isSame) {
      ++result.parted;
      break;
    }
    ++result.compared;
  }
  result.isWrong |= result.largest > tolerance;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: gpu-texts wanted.tsr found.tsr tolerance\n");
    return 2;
  }
  const std::vector<Text> wanted = Generation(argv[1]).texts();
  const std::vector<Text> found = Generation(argv[2]).texts();
  const double tolerance = std::atof(argv[3]);
  Comparison result;
  for (size_t k = 0; k < wanted.size(); ++k)
    compare(wanted[k], found[k], tolerance, k % 2 == 0, result);
  std::printf("%lld of %lld tokens compared, %lld texts part; largest "
              "difference of a log-probability: %.2e, allowed %.2e\n",
              static_cast<long long>(result.compared),
              static_cast<long long>(result.tokens),
              static_cast<long long>(result.parted), result.largest, tolerance);
  const bool areEnough =
      result.tokens > 0 && result.compared * 2 >= result.tokens;
  return areEnough && !result.isWrong ? 0 : 1;
}
