//===- ApiData.cpp - tsr_data_* of the C API ------------------------------===//
#include "runtime/api/Api.h"
#include "runtime/data/Data.h"

using namespace tessera;

struct tsr_data {
  tessera::Data content;
};

tsr_status tsr_data_open(const char *const *paths, size_t count,
                         const tsr_data_options *options, tsr_data **out_data) {
  return guarded([&] {
    requirePointer(paths, "paths");
    requirePointer(options, "options");
    requirePointer(out_data, "out_data");
    tsr_data_options given = takeOptions(options, "tsr_data_options");
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      requirePointer(paths[i], "a path");
      names.push_back(paths[i]);
    }
    DataOptions own{given.format ? given.format : "auto", given.sequence,
                    given.vocabulary, given.seed, given.target};
    *out_data = new tsr_data{Data(names, own)};
  });
}

void tsr_data_destroy(tsr_data *data) { delete data; }

int64_t tsr_data_tokens(const tsr_data *data) { return data->content.tokens(); }

int64_t tsr_data_token_bytes(const tsr_data *data) {
  return data->content.tokenBytes();
}

int64_t tsr_data_documents(const tsr_data *data) {
  return data->content.documents();
}

tsr_status tsr_data_document(const tsr_data *data, int64_t document,
                             int64_t *out_first, int64_t *out_tokens) {
  return guarded([&] {
    requirePointer(data, "data");
    requirePointer(out_first, "out_first");
    requirePointer(out_tokens, "out_tokens");
    Data::Document found = data->content.document(document);
    *out_first = found.first;
    *out_tokens = found.tokens;
  });
}

tsr_status tsr_data_batch(const tsr_data *data, int64_t step, int64_t batch,
                          int32_t *out_tokens) {
  return guarded([&] {
    requirePointer(data, "data");
    requirePointer(out_tokens, "out_tokens");
    data->content.batch(step, batch, out_tokens);
  });
}
