//===- DataTarget.cpp - files of tokens -----------------------------------===//
// Five bytes of options and flags, one more if a flag says so, then the bytes
// of a file, or of two.
#include "runtime/data/Data.h"
#include "test/Fuzz/Runtime/Fuzzed.h"

using namespace tessera;
using namespace fuzzed;

static void describe(const Data &data) {
  double shares = 0;
  int64_t tokens = 0;
  for (size_t i = 0; i < data.identity().files.size(); ++i) {
    shares += data.fileShare(i).share;
    tokens += data.fileShare(i).tokens;
  }
  require(shares > 0.999999 && shares < 1.000001, "shares sum to 1");
  require(tokens == data.tokens(), "the parts of files are all tokens");
  require(data.identity().differenceFrom(data.identity()).empty(),
          "data is what it is");
  accepts([&] { data.document(data.documents()); });
  accepts([&] { data.fileShare(data.identity().files.size()); });
  if (data.documents() > 0)
    require(data.document(0).tokens >= 0, "no document ends before its begin");
}

static void readBatches(const Data &data, const DataOptions &options) {
  require(data.sequences() >= 1, "data has a sequence");
  require(data.tokenBytes() <= 8, "tokens have at most eight bytes");
  constexpr int64_t batch = 2;
  std::vector<int32_t> tokens(batch * options.shape().columns);
  for (int64_t step : {int64_t(0), data.sequences(), INT64_MAX / 4, INT64_MAX})
    accepts([&] {
      data.batch(step, batch, tokens.data());
      for (int32_t token : tokens)
        require(token >= 0 && token < options.vocabulary,
                "tokens are in the vocabulary");
    });
}

/// Weights, parts and what is wrong with them.
static void choose(uint8_t flags, uint8_t wrong,
                   std::vector<std::string> &paths, DataOptions &options) {
  if (wrong & 1)
    paths.push_back(paths[0]);
  if (flags & 16)
    for (size_t i = 0; i < paths.size(); ++i)
      options.weights.push_back(static_cast<double>(1 + 2 * i));
  if (flags & 16 && wrong & 2)
    options.weights[0] = -1;
  if (flags & 16 && wrong & 4)
    options.weights[0] = 1e-9;
  if (flags & 16 && wrong & 8)
    options.weights.assign(paths.size(), 0);
  if (flags & 32)
    options.validationFraction = wrong & 16 ? 1.5 : 0.3;
  if (flags & 64)
    options.part = DataPart::Validation;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input(data, size);
  const char *formats[] = {"auto", "text", "uint16", "uint32", "llmc"};
  uint8_t flags = input.byte();
  DataOptions options;
  options.format = formats[(flags & 7) % 5];
  options.sequence = input.byte();
  options.target = input.byte();
  options.vocabulary = input.word();
  uint8_t wrong = flags & 128 ? input.byte() : 0;
  std::string_view content = input.rest();
  bool hasTwo = flags & 8;
  MemoryFile first(content.substr(0, hasTwo ? content.size() / 2 : -1));
  MemoryFile second(hasTwo ? content.substr(content.size() / 2) : "");
  accepts([&] {
    std::vector<std::string> paths = {first.path()};
    if (hasTwo)
      paths.push_back(second.path());
    choose(flags, wrong, paths, options);
    Data opened(paths, options);
    describe(opened);
    readBatches(opened, options);
  });
  return 0;
}
