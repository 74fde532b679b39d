//===- MegatronIndexTarget.cpp - the index of Megatron data ---------------===//
// Two bytes say how long the file of tokens is, the others are the index.
#include "runtime/data/MegatronIndex.h"
#include "test/Fuzz/Runtime/Fuzzed.h"

#include <cstdlib>

using namespace tessera;
using namespace fuzzed;

static void checkDocuments(const MegatronIndex &index) {
  require(index.begin(0) == 0, "the first document begins with the data");
  for (int64_t i = 0; i < index.documents(); ++i)
    require(index.begin(i) <= index.begin(i + 1),
            "a document ends where the next one begins");
  require(index.begin(index.documents()) == index.tokens(),
          "the last document ends with the data");
  for (int64_t token : {int64_t(0), index.tokens() / 2, index.tokens()}) {
    int64_t nearest = index.nearest(token);
    int64_t distance = std::abs(index.begin(nearest) - token);
    for (int64_t i = 0; i <= index.documents(); ++i)
      require(i < nearest ? std::abs(index.begin(i) - token) > distance
                          : std::abs(index.begin(i) - token) >= distance,
              "no document begins nearer");
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input(data, size);
  std::string content(input.word(), '\1');
  MemoryFile first(input.rest()), second(content);
  accepts([&] {
    InputFile tokens(second.path());
    MegatronIndex index(first.path(), tokens);
    require(index.tokens() * index.width() ==
                static_cast<int64_t>(content.size()),
            "the tokens are the file");
    checkDocuments(index);
  });
  return 0;
}
