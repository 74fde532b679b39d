//===- ApiData.cpp - tsr_data_* of the C API ------------------------------===//
#include "runtime/api/Api.h"
#include "runtime/data/Data.h"

using namespace tessera;

struct tsr_data {
  tessera::Data content;
};

static DataPart partOf(const char *name) {
  std::string part = name ? name : "training";
  if (part != "training" && part != "validation")
    fail(TSR_INVALID_ARGUMENT, "'", part,
         "' is no part of data; use \"training\" or \"validation\"");
  return part == "training" ? DataPart::Training : DataPart::Validation;
}

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
    DataOptions own{given.format ? given.format : "auto",
                    given.sequence,
                    given.vocabulary,
                    given.seed,
                    given.target,
                    {},
                    given.validation_fraction,
                    partOf(given.part)};
    if (given.weights)
      own.weights.assign(given.weights, given.weights + count);
    *out_data = new tsr_data{Data(names, own)};
  });
}

void tsr_data_destroy(tsr_data *data) { delete data; }

const char *tsr_data_foreign(const void *head, size_t count) {
  return head ? foreignKind({static_cast<const char *>(head), count}) : nullptr;
}

int64_t tsr_data_tokens(const tsr_data *data) { return data->content.tokens(); }

int64_t tsr_data_sequences(const tsr_data *data) {
  return data->content.sequences();
}

tsr_status tsr_data_file(const tsr_data *data, size_t file, int64_t *out_first,
                         int64_t *out_tokens, double *out_share) {
  return guarded([&] {
    requirePointer(data, "data");
    requirePointer(out_first, "out_first");
    requirePointer(out_tokens, "out_tokens");
    requirePointer(out_share, "out_share");
    Data::FileShare found = data->content.fileShare(file);
    *out_first = found.first;
    *out_tokens = found.tokens;
    *out_share = found.share;
  });
}

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

tsr_status tsr_data_read(const tsr_data *data, int64_t first, int64_t count,
                         int32_t *out_tokens) {
  return guarded([&] {
    requirePointer(data, "data");
    requirePointer(out_tokens, "out_tokens");
    data->content.read(first, count, out_tokens);
  });
}

static tsr_status bindData(tsr_session *session, const tsr_data *data,
                           DataChange change) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(data, "data");
    session->content.useData(data->content, change);
  });
}

tsr_status tsr_session_use_data(tsr_session *session, const tsr_data *data) {
  return bindData(session, data, DataChange::Refused);
}

tsr_status tsr_session_change_data(tsr_session *session, const tsr_data *data) {
  return bindData(session, data, DataChange::Taken);
}

tsr_status tsr_session_compare_data(tsr_session *session,
                                    const tsr_data *data) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(data, "data");
    session->content.checkAlive();
    session->content.checkSameTokens(data->content);
  });
}

tsr_status tsr_session_compare_files(tsr_session *session,
                                     const char *const *paths, size_t count) {
  return guarded([&] {
    requirePointer(session, "session");
    if (count != 0)
      requirePointer(paths, "paths");
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      requirePointer(paths[i], "a path");
      names.emplace_back(paths[i]);
    }
    session->content.checkAlive();
    session->content.checkSameFiles(names);
  });
}
