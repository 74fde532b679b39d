//===- BenchData.cpp - Rates of reading token files -----------------------===//
// Usage: bench-data [directory]
// Writes files of random tokens there (default: the system's directory for
// temporary files), reads batches of them through the C API and prints tokens
// per second of processor time on one thread. The files are in the page cache.
//===----------------------------------------------------------------------===//
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <tessera/tessera.h>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

static constexpr int64_t tokensPerFile = int64_t(1) << 24;
static constexpr int64_t batch = 32, rounds = 5;

namespace {
struct Case {
  const char *format;
  int64_t files;
  bool isWeighted;
  double validationFraction;
};
} // namespace

static void check(tsr_status status) {
  if (status == TSR_OK)
    return;
  std::fprintf(stderr, "%s: %s\n", tsr_status_name(status), tsr_last_error());
  std::exit(1);
}

template <class Integer> static void writeTokens(const fs::path &path) {
  std::mt19937 random(1);
  std::vector<Integer> tokens(size_t{tokensPerFile});
  for (Integer &token : tokens)
    token = static_cast<Integer>(random() % 50257);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(tokens.data()),
             static_cast<std::streamsize>(tokens.size() * sizeof(Integer)));
  if (!file.flush()) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(1);
  }
}

static tsr_data *open(const fs::path &directory, const Case &c,
                      int64_t sequence) {
  std::vector<std::string> paths;
  for (int64_t i = 0; i < c.files; ++i)
    paths.push_back(directory / (c.format + std::to_string(i) + ".bin"));
  std::vector<const char *> names;
  std::vector<double> weights;
  for (const std::string &path : paths) {
    names.push_back(path.c_str());
    weights.push_back(1 / static_cast<double>(names.size())); // no simple ratio
  }
  tsr_data_options options = {};
  options.size = sizeof options;
  options.format = c.format;
  options.sequence = sequence;
  options.vocabulary = 50257;
  options.weights = c.isWeighted ? weights.data() : nullptr;
  options.validation_fraction = c.validationFraction;
  tsr_data *data = nullptr;
  check(tsr_data_open(names.data(), names.size(), &options, &data));
  return data;
}

/// The median of some rounds of as many batches as an eighth of a file has.
static double rateOf(const tsr_data *data, int64_t sequence) {
  std::vector<int32_t> tokens(static_cast<size_t>(batch * (sequence + 1)));
  int64_t steps = std::max<int64_t>(1, tokensPerFile / 8 / batch / sequence);
  std::vector<double> rates;
  for (int64_t round = 0; round <= rounds; ++round) { // the first is warm-up
    std::clock_t start = std::clock();
    for (int64_t step = 0; step < steps; ++step)
      check(tsr_data_batch(data, round * steps + step, batch, tokens.data()));
    double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (round > 0)
      rates.push_back(static_cast<double>(steps * batch * sequence) / seconds);
  }
  std::sort(rates.begin(), rates.end());
  return rates[rates.size() / 2];
}

int main(int argc, char **argv) {
  fs::path directory =
      (argc > 1 ? fs::path(argv[1]) : fs::temp_directory_path()) /
      ("tessera-bench-data-" + std::to_string(getpid()));
  fs::create_directories(directory);
  for (int64_t i = 0; i < 8; ++i) {
    std::string number = std::to_string(i) + ".bin";
    writeTokens<uint16_t>(directory / ("uint16" + number));
    writeTokens<uint32_t>(directory / ("uint32" + number));
  }
  const Case cases[] = {{"uint16", 1, false, 0},   {"uint32", 1, false, 0},
                        {"uint16", 8, false, 0},   {"uint16", 8, true, 0},
                        {"uint16", 8, true, 0.05}, {"uint32", 8, true, 0.05}};
  std::printf("million tokens/s of one thread\n%-8s %5s %-8s %8s", "format",
              "files", "", "held out");
  const int64_t sequences[] = {128, 1024, 8192};
  for (int64_t sequence : sequences)
    std::printf(" %7lld", static_cast<long long>(sequence));
  for (const Case &c : cases) {
    std::printf("\n%-8s %5lld %-8s %8g", c.format,
                static_cast<long long>(c.files),
                c.isWeighted ? "weighted" : "joined", c.validationFraction);
    for (int64_t sequence : sequences) {
      tsr_data *data = open(directory, c, sequence);
      std::printf(" %7.0f", rateOf(data, sequence) / 1e6);
      std::fflush(stdout);
      tsr_data_destroy(data);
    }
  }
  std::printf("\n");
  fs::remove_all(directory);
  return 0;
}
