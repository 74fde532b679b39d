//===- ApiTokenizer.cpp - the C API of tokenizer.h ------------------------===//
#include "runtime/support/Status.h"
#include "runtime/tokenizer/TextStream.h"

using namespace tessera;

struct tsr_tokenizer {
  std::shared_ptr<Tokenizer> content;
  std::vector<int32_t> ids; ///< The result of the last encoding.
  std::string text;         ///< The result of the last decoding.
};

struct tsr_token_stream {
  TextStream content;
  std::string text;
};

static void requirePointer(const void *pointer, const char *name) {
  if (!pointer)
    fail(TSR_INVALID_ARGUMENT, name, " is null");
}

static void requireSpecial(tsr_special special) {
  if (special != TSR_WITHOUT_SPECIAL && special != TSR_WITH_SPECIAL)
    fail(TSR_INVALID_ARGUMENT, "special is ", static_cast<int>(special),
         ", it must be TSR_WITHOUT_SPECIAL or TSR_WITH_SPECIAL");
}

static void give(const std::string &text, const char **out_text,
                 size_t *out_bytes) {
  *out_text = text.c_str();
  *out_bytes = text.size();
}

tsr_status tsr_tokenizer_load(const char *path, tsr_tokenizer **out_tokenizer) {
  return guarded([&] {
    requirePointer(path, "path");
    requirePointer(out_tokenizer, "out_tokenizer");
    *out_tokenizer = new tsr_tokenizer{loadTokenizer(path), {}, {}};
  });
}

tsr_status tsr_tokenizer_create_bytes(tsr_tokenizer **out_tokenizer) {
  return guarded([&] {
    requirePointer(out_tokenizer, "out_tokenizer");
    *out_tokenizer = new tsr_tokenizer{makeByteTokenizer(), {}, {}};
  });
}

void tsr_tokenizer_destroy(tsr_tokenizer *tokenizer) { delete tokenizer; }

int64_t tsr_tokenizer_vocabulary_size(const tsr_tokenizer *tokenizer) {
  return tokenizer->content->vocabularySize();
}

tsr_status tsr_tokenizer_find(const tsr_tokenizer *tokenizer, const char *token,
                              int32_t *out_id) {
  return guarded([&] {
    requirePointer(tokenizer, "tokenizer");
    requirePointer(token, "token");
    requirePointer(out_id, "out_id");
    int32_t id = tokenizer->content->idOf(token);
    if (id < 0)
      fail(TSR_NOT_FOUND, "the tokenizer has no token '", token, "'");
    *out_id = id;
  });
}

const char *tsr_tokenizer_end_token(const tsr_tokenizer *tokenizer) {
  return tokenizer->content->endToken.c_str();
}

tsr_status tsr_tokenizer_encode(tsr_tokenizer *tokenizer, const char *text,
                                size_t bytes, tsr_special special,
                                const int32_t **out_ids, size_t *out_count) {
  return guarded([&] {
    requirePointer(tokenizer, "tokenizer");
    requirePointer(out_ids, "out_ids");
    requirePointer(out_count, "out_count");
    if (bytes != 0)
      requirePointer(text, "text");
    requireSpecial(special);
    tokenizer->ids.clear();
    tokenizer->content->encode({text, bytes}, special, tokenizer->ids);
    *out_ids = tokenizer->ids.data();
    *out_count = tokenizer->ids.size();
  });
}

tsr_status tsr_tokenizer_decode(tsr_tokenizer *tokenizer, const int32_t *ids,
                                size_t count, tsr_special special,
                                const char **out_text, size_t *out_bytes) {
  return guarded([&] {
    requirePointer(tokenizer, "tokenizer");
    requirePointer(out_text, "out_text");
    requirePointer(out_bytes, "out_bytes");
    if (count != 0)
      requirePointer(ids, "ids");
    requireSpecial(special);
    tokenizer->content->requireIds(ids, count);
    tokenizer->text = tokenizer->content->decode({ids, ids + count}, special);
    give(tokenizer->text, out_text, out_bytes);
  });
}

tsr_status tsr_tokenizer_count_bytes(const tsr_tokenizer *tokenizer,
                                     const int32_t *ids, size_t count,
                                     size_t first, tsr_special special,
                                     int64_t *out_bytes) {
  return guarded([&] {
    requirePointer(tokenizer, "tokenizer");
    requirePointer(out_bytes, "out_bytes");
    if (count != 0)
      requirePointer(ids, "ids");
    requireSpecial(special);
    if (first > count)
      fail(TSR_INVALID_ARGUMENT, "first is ", first, ", there are ", count,
           " ids");
    const Tokenizer &content = *tokenizer->content;
    content.requireIds(ids, count);
    auto bytesOf = [&](size_t end) {
      return static_cast<int64_t>(
          content.countBytes({ids, ids + end}, special));
    };
    *out_bytes = bytesOf(count) - bytesOf(first);
  });
}

tsr_status tsr_token_stream_create(const tsr_tokenizer *tokenizer,
                                   tsr_special special,
                                   tsr_token_stream **out_stream) {
  return guarded([&] {
    requirePointer(tokenizer, "tokenizer");
    requirePointer(out_stream, "out_stream");
    requireSpecial(special);
    *out_stream =
        new tsr_token_stream{TextStream(tokenizer->content, special), {}};
  });
}

void tsr_token_stream_destroy(tsr_token_stream *stream) { delete stream; }

tsr_status tsr_token_stream_set_stops(tsr_token_stream *stream,
                                      const char *const *stops, size_t count) {
  return guarded([&] {
    requirePointer(stream, "stream");
    if (count != 0)
      requirePointer(stops, "stops");
    std::vector<std::string> texts;
    for (size_t k = 0; k < count; ++k) {
      requirePointer(stops[k], "a stop");
      texts.emplace_back(stops[k]);
    }
    stream->content.setStops(StopStrings(texts));
  });
}

int64_t tsr_token_stream_stop(const tsr_token_stream *stream) {
  return stream->content.stop();
}

tsr_status tsr_token_stream_push(tsr_token_stream *stream, int32_t id,
                                 const char **out_text, size_t *out_bytes) {
  return guarded([&] {
    requirePointer(stream, "stream");
    requirePointer(out_text, "out_text");
    requirePointer(out_bytes, "out_bytes");
    stream->text = stream->content.push(id);
    give(stream->text, out_text, out_bytes);
  });
}

tsr_status tsr_token_stream_finish(tsr_token_stream *stream,
                                   const char **out_text, size_t *out_bytes) {
  return guarded([&] {
    requirePointer(stream, "stream");
    requirePointer(out_text, "out_text");
    requirePointer(out_bytes, "out_bytes");
    stream->text = stream->content.finish();
    give(stream->text, out_text, out_bytes);
  });
}
