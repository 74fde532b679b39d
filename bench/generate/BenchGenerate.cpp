//===- BenchGenerate.cpp - Texts that an artifact continues, timed --------===//
// Usage: bench-generate model.tsr weights threads requests prompt new [joining]
// A worker of bench/generate.py. For each number N that it reads it N times
// takes in all prompts (each with one new token), and continues them, and
// prints {"prefill": [...], "decode": [...], "tokens": [...]}: seconds, seconds
// of one token while all requests run, and the new tokens of the first one.
// With "joining" the requests come one after the other while those before run,
// and N times it prints, by the number of those, {"first": [...], "joining":
// [...], "running": [...]}: seconds until the new one's first token, of the
// longest step meanwhile, and of a step after it, of `new` ones.
//===----------------------------------------------------------------------===//
#include "bench/Worker.h"

#include <algorithm>
#include <cstdlib>
#include <tessera/tessera.h>
#include <vector>

static void check(tsr_status status) {
  if (status == TSR_OK)
    return;
  std::cerr << tsr_status_name(status) << ": " << tsr_last_error() << "\n";
  std::exit(1);
}

namespace {

struct Texts {
  int64_t requests, prompt, added;
};

class Generation {
public:
  Generation(tsr_generator *generator, int64_t vocabulary, const Texts &texts)
      : generator(generator), vocabulary(vocabulary), texts(texts) {}

  /// Returns the seconds of all prompts, until each has its first token.
  double prefill() {
    add(1);
    const double start = now();
    while (step())
      takeAll();
    return now() - start;
  }

  /// Seconds of a step in which every request gets a token.
  double decode() {
    add(texts.added);
    for (int64_t rows = 0; rows != texts.requests; takeAll())
      if ((rows = step()) == 0) {
        std::cerr << "bench-generate: with " << texts.added
                  << " new tokens, texts end before all run; ask for more\n";
        std::exit(1);
      }
    int64_t steps = 0;
    double end = 0;
    for (const double start = now();; ++steps) {
      end = now() - start;
      if (step() != texts.requests)
        break;
      takeAll();
    }
    while (takeAll(), step())
      continue;
    return end / double(std::max<int64_t>(steps, 1));
  }

  std::vector<int32_t> first; ///< New tokens of the first request.

  /// While some requests run, one more comes.
  struct Joining {
    double first = 0, longest = 0, running = 0;
  };
  std::vector<Joining> join() {
    std::vector<Joining> found;
    std::vector<int64_t> running;
    for (int64_t r = 0; r < texts.requests; ++r) {
      // Long enough to run until the last one has come.
      running.push_back(
          addOne(r, texts.requests * (texts.added + texts.prompt)));
      Joining one;
      const double start = now();
      for (double begin = start; !hasToken(running.back()); begin = now()) {
        step();
        one.longest = std::max(one.longest, now() - begin);
      }
      one.first = now() - start;
      const double after = now();
      for (int64_t k = 0; k < texts.added; ++k, takeAll())
        step();
      one.running = (now() - after) / double(texts.added);
      found.push_back(one);
    }
    for (int64_t request : running)
      check(tsr_generator_cancel(generator, request));
    while (takeAll(), step())
      continue;
    return found;
  }

private:
  static double now() {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  void add(int64_t count) {
    first.clear();
    firstRequest = addOne(0, count);
    for (int64_t r = 1; r < texts.requests; ++r)
      addOne(r, count);
  }

  /// Returns the prompts that the peers know: token i of request r.
  int64_t addOne(int64_t r, int64_t count) {
    tsr_request_options options = {};
    options.size = sizeof options;
    options.max_new_tokens = count;
    options.recompute_prompt = 1; // the same prompts as before are measured
    std::vector<int32_t> prompt(static_cast<size_t>(texts.prompt));
    for (int64_t i = 0; i < texts.prompt; ++i)
      prompt[size_t(i)] = int32_t((i * 7919 + r * 104729 + 1) % vocabulary);
    int64_t id = 0;
    check(tsr_generator_add(generator, prompt.data(), prompt.size(), &options,
                            &id));
    return id;
  }

  /// Takes all tokens, and says whether one was of this request.
  bool hasToken(int64_t request) {
    bool has = false;
    tsr_generated made;
    for (int32_t found = 1;; has |= made.request == request) {
      check(tsr_generator_next(generator, &made, &found));
      if (!found)
        return has;
    }
  }

  int64_t step() {
    int64_t rows = 0;
    check(tsr_generator_step(generator, &rows));
    return rows;
  }

  void takeAll() {
    tsr_generated made;
    for (int32_t found = 1;;) {
      check(tsr_generator_next(generator, &made, &found));
      if (!found)
        return;
      if (made.request == firstRequest)
        first.push_back(made.token);
    }
  }

  tsr_generator *generator;
  int64_t vocabulary;
  Texts texts;
  int64_t firstRequest = 0;
};

std::string listOf(const std::vector<std::string> &parts) {
  std::string list;
  for (const std::string &part : parts)
    list += (list.empty() ? "" : ", ") + part;
  return "[" + list + "]";
}

void serve(Generation &generation) {
  std::cout << "{}" << std::endl;
  for (int64_t count; std::cin >> count;) {
    std::vector<std::string> prefill, decode, tokens;
    for (int64_t i = 0; i < count; ++i) {
      prefill.push_back(std::to_string(generation.prefill()));
      decode.push_back(std::to_string(generation.decode()));
    }
    for (int32_t token : generation.first)
      tokens.push_back(std::to_string(token));
    std::cout << "{\"prefill\": " << listOf(prefill)
              << ", \"decode\": " << listOf(decode)
              << ", \"tokens\": " << listOf(tokens)
              << ", \"vmhwm\": " << bench::peakResident() << "}" << std::endl;
  }
}

void serveJoining(Generation &generation) {
  std::cout << "{}" << std::endl;
  for (int64_t count; std::cin >> count;)
    for (int64_t i = 0; i < count; ++i) {
      std::vector<std::string> first, joining, running;
      for (const Generation::Joining &one : generation.join()) {
        first.push_back(std::to_string(one.first));
        joining.push_back(std::to_string(one.longest));
        running.push_back(std::to_string(one.running));
      }
      std::cout << "{\"first\": " << listOf(first)
                << ", \"joining\": " << listOf(joining)
                << ", \"running\": " << listOf(running)
                << ", \"vmhwm\": " << bench::peakResident() << "}" << std::endl;
    }
}

} // namespace

int main(int argc, char **argv) {
  const bool isJoining = argc == 8 && std::string(argv[7]) == "joining";
  if (argc != 7 && !isJoining) {
    std::cerr << "usage: bench-generate model.tsr weights threads requests "
                 "prompt new [joining]\n";
    return 2;
  }
  tsr_artifact *artifact = nullptr;
  tsr_generator *generator = nullptr;
  check(tsr_artifact_load(argv[1], &artifact));
  tsr_session_options options = {};
  options.size = sizeof options;
  options.threads = std::atoi(argv[3]);
  check(tsr_generator_create(artifact, &options, argv[2], &generator));
  const Texts texts = {std::atoll(argv[4]), std::atoll(argv[5]),
                       std::atoll(argv[6])};
  Generation generation(generator, tsr_artifact_vocabulary(artifact), texts);
  isJoining ? serveJoining(generation) : serve(generation);
  tsr_generator_destroy(generator);
  tsr_artifact_destroy(artifact);
  return 0;
}
