/*===- tokenizer.h - C API of the Tessera tokenizer -----------------------===*\
|* Texts to token ids and back, by the tokenizer.json or tokenizer.model of a *|
|* Hugging Face folder. A library of its own, libtessera_tokenizer: who does  *|
|* not link it does not load ICU, PCRE2 and sentencepiece. C11.               *|
|*                                                                            *|
|* Ownership, thread-safety and errors are those of tessera.h: an object is   *|
|* used by one thread at a time, and a stream and its tokenizer by the same.  *|
\*===----------------------------------------------------------------------===*/
#ifndef TESSERA_TOKENIZER_H
#define TESSERA_TOKENIZER_H

#include "tessera/tessera.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct tsr_tokenizer tsr_tokenizer;

/* Special tokens are those that a tokenizer's file calls special, such as the
 * beginning of a text. Encoding adds them around a text as the file's
 * post-processor says, decoding leaves them out or writes them. */
typedef enum tsr_special {
  TSR_WITHOUT_SPECIAL = 0,
  TSR_WITH_SPECIAL = 1
} tsr_special;

/* Loads the tokenizer of a Hugging Face folder, or a file in it. TSR_NOT_FOUND:
 * it holds no tokenizer; TSR_UNSUPPORTED names the part of it that is not
 * supported; TSR_CORRUPT: a file that is torn, or contradicts itself. */
tsr_status tsr_tokenizer_load(const char *path, tsr_tokenizer **out_tokenizer);
/* Creates a tokenizer whose ids are the bytes of a text, 0 to 255, as
 * tsr_data_open reads text files: for models that were trained on these.
 * There are no special tokens, and bytes that are no UTF-8 are encoded as
 * they are. */
tsr_status tsr_tokenizer_create_bytes(tsr_tokenizer **out_tokenizer);
void tsr_tokenizer_destroy(tsr_tokenizer *tokenizer);

/* Returns the size; ids are in [0, size). The model's own vocabulary may be
 * larger: many are padded. */
int64_t tsr_tokenizer_vocabulary_size(const tsr_tokenizer *tokenizer);
/* Finds the id of a token by its text, as the file writes it. TSR_NOT_FOUND. */
tsr_status tsr_tokenizer_find(const tsr_tokenizer *tokenizer, const char *token,
                              int32_t *out_id);
/* Returns the token that ends a document, by eos_token of tokenizer_config.json
 * or special_tokens_map.json; "" if they name none. Owned by the tokenizer. */
const char *tsr_tokenizer_end_token(const tsr_tokenizer *tokenizer);

/* Encodes a text of `bytes` bytes, whatever they are: each maximal part that no
 * UTF-8 begins with is read as U+FFFD, as Python's errors="replace" does.
 * Special tokens that the text itself holds are found in either case. Valid
 * until the next call with the tokenizer. TSR_CORRUPT: the text needs the
 * unknown token, and there is none; TSR_UNSUPPORTED: it is too long, or becomes
 * too long or costs too much by what the file says. */
tsr_status tsr_tokenizer_encode(tsr_tokenizer *tokenizer, const char *text,
                                size_t bytes, tsr_special special,
                                const int32_t **out_ids, size_t *out_count);
/* Decodes `count` ids into a text, in valid UTF-8 and ended by a zero byte that
 * `out_bytes` does not count. Valid until the next call with the tokenizer.
 * TSR_INVALID_ARGUMENT names the first id outside of the vocabulary;
 * TSR_UNSUPPORTED: by what the file says, the text becomes too long. */
tsr_status tsr_tokenizer_decode(tsr_tokenizer *tokenizer, const int32_t *ids,
                                size_t count, tsr_special special,
                                const char **out_text, size_t *out_bytes);
/* Counts the bytes of text that the ids from `first` on add to those before
 * them: by so many the decoded text of all is longer. Each byte of a character
 * that is not complete counts as one, where decoding writes U+FFFD. Without
 * special tokens these have no bytes. TSR_INVALID_ARGUMENT: `first` is above
 * `count`, or an id is outside of the vocabulary. */
tsr_status tsr_tokenizer_count_bytes(const tsr_tokenizer *tokenizer,
                                     const int32_t *ids, size_t count,
                                     size_t first, tsr_special special,
                                     int64_t *out_bytes);

/* ---- streams: the text of ids that come one by one ---------------------- */
typedef struct tsr_token_stream tsr_token_stream;

/* Creates a stream, which may outlive the tokenizer. */
tsr_status tsr_token_stream_create(const tsr_tokenizer *tokenizer,
                                   tsr_special special,
                                   tsr_token_stream **out_stream);
void tsr_token_stream_destroy(tsr_token_stream *stream);
/* Sets the texts that end the text of the stream, for ids that are pushed from
 * now on: it ends before the first of them that is complete, of several that
 * end at one place before the longest. `count` may be 0. What may be the
 * beginning of one is held back until it is known not to be. The stream keeps
 * copies. TSR_INVALID_ARGUMENT: one is empty or no UTF-8. */
tsr_status tsr_token_stream_set_stops(tsr_token_stream *stream,
                                      const char *const *stops, size_t count);
/* Returns the number of the stop that has ended the text, from 0; -1: none. Ids
 * pushed after it add no text. */
int64_t tsr_token_stream_stop(const tsr_token_stream *stream);
/* Adds an id, and gives its text in whole characters; "" if it ends within one.
 * Valid until the next call with the stream. TSR_INVALID_ARGUMENT: the id is
 * outside of the vocabulary. */
tsr_status tsr_token_stream_push(tsr_token_stream *stream, int32_t id,
                                 const char **out_text, size_t *out_bytes);
/* Gives the rest of the text: what was held back, and U+FFFD for a character
 * that was not completed. The next push begins anew, with the same stops; until
 * then tsr_token_stream_stop says what has ended the text. */
tsr_status tsr_token_stream_finish(tsr_token_stream *stream,
                                   const char **out_text, size_t *out_bytes);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif /* TESSERA_TOKENIZER_H */
