//===- DataTarget.cpp - files of tokens -----------------------------------===//
// Five bytes of options and flags, then the bytes of a file, or of two.
#include "runtime/data/Data.h"
#include "test/Fuzz/Runtime/Fuzzed.h"

using namespace tessera;
using namespace fuzzed;

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

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input(data, size);
  const char *formats[] = {"auto", "text", "uint16", "uint32", "llmc"};
  uint8_t flags = input.byte();
  DataOptions options;
  options.format = formats[(flags & 7) % 5];
  options.sequence = input.byte();
  options.target = input.byte();
  options.vocabulary = input.word();
  std::string_view content = input.rest();
  bool hasTwo = flags & 8;
  MemoryFile first(content.substr(0, hasTwo ? content.size() / 2 : -1));
  MemoryFile second(hasTwo ? content.substr(content.size() / 2) : "");
  accepts([&] {
    std::vector<std::string> paths = {first.path()};
    if (hasTwo)
      paths.push_back(second.path());
    if (flags & 16)
      for (size_t i = 0; i < paths.size(); ++i)
        options.weights.push_back(static_cast<double>(1 + 2 * i));
    if (flags & 32)
      options.validationFraction = 0.3;
    if (flags & 64)
      options.part = DataPart::Validation;
    Data opened(paths, options);
    readBatches(opened, options);
  });
  return 0;
}
