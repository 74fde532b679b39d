/*===- encoder.h - C API of models that encode texts ----------------------===*\
|* The hidden states of an encoder, BERT or that of T5, and of BERT the       *|
|* probabilities of the tokens at chosen positions: of an artifact compiled   *|
|* with --programs encode. Part of libtessera_runtime. C11.                   *|
|*                                                                            *|
|* Ownership, thread-safety and errors are those of tessera.h: an object is   *|
|* used by one thread at a time.                                              *|
\*===----------------------------------------------------------------------===*/
#ifndef TESSERA_ENCODER_H
#define TESSERA_ENCODER_H

#include "tessera/tessera.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef struct tsr_encoder tsr_encoder;

/* Opens an encoder. `options` may be NULL. `weights` is as of
 * tsr_session_load_weights; with NULL parameters are drawn from the seed.
 * Errors are those of tsr_session_create and tsr_session_load_weights;
 * TSR_UNSUPPORTED: the artifact has no program that encodes, or there would be
 * several processes. */
tsr_status tsr_encoder_create(const tsr_artifact *artifact,
                              const tsr_session_options *options,
                              const char *weights, tsr_encoder **out_encoder);
void tsr_encoder_destroy(tsr_encoder *encoder);
/* Returns notes on the weights, like tsr_session_notes. */
const char *tsr_encoder_notes(tsr_encoder *encoder);

/* Return the elements of a hidden state, and the positions of a text whose
 * probabilities a run can give, 0 for T5's encoder. A run has at most
 * tsr_artifact_batch texts, a text at most tsr_artifact_sequence tokens. */
int64_t tsr_encoder_hidden_size(const tsr_encoder *encoder);
int64_t tsr_encoder_max_predictions(const tsr_encoder *encoder);
/* Returns the token that stands for a token to predict, by the model's config;
 * -1: there is none. */
int32_t tsr_encoder_mask_token(const tsr_encoder *encoder);

typedef struct tsr_encoder_text {
  const int32_t *ids;         /* [count] */
  const int32_t *token_types; /* [count]; NULL: all are 0 */
  size_t count;
  const int32_t *positions; /* [position_count], whose probabilities are wanted;
                               NULL if there are none */
  size_t position_count;
} tsr_encoder_text;

/* Runs texts together; none depends on another. What the calls below read is of
 * the last run. Without --padding-mask attention would see padding, so every
 * text must then have tsr_artifact_sequence tokens. TSR_INVALID_ARGUMENT: there
 * is no text, or more than fit; a text is empty or too long; an id, token type
 * or position is out of range; there are too many positions; the result is not
 * finite, which names the text and its first such position. */
tsr_status tsr_encoder_run(tsr_encoder *encoder, const tsr_encoder_text *texts,
                           size_t count);

/* Writes the last hidden state of a position of a text,
 * [tsr_encoder_hidden_size]. */
tsr_status tsr_encoder_hidden(const tsr_encoder *encoder, size_t text,
                              size_t position, double *values, size_t count);
/* Writes the mean of the last hidden states of all tokens of a text, special
 * ones among them: what sentence-transformers calls mean pooling. */
tsr_status tsr_encoder_mean(const tsr_encoder *encoder, size_t text,
                            double *values, size_t count);
/* The ways to make one vector of the last hidden states of the n tokens of a
 * text, special ones among them, by the names of sentence-transformers. */
typedef enum tsr_pooling {
  TSR_POOLING_MEAN = 0,
  TSR_POOLING_CLS,           /* the first token's state */
  TSR_POOLING_MAX,           /* the largest of each element */
  TSR_POOLING_LAST_TOKEN,    /* the last token's state */
  TSR_POOLING_MEAN_SQRT_LEN, /* their sum divided by sqrt(n) */
  TSR_POOLING_WEIGHTED_MEAN  /* their mean with weights 1, 2, .. n */
} tsr_pooling;
/* Writes the pooled states, [tsr_encoder_hidden_size]; with TSR_POOLING_MEAN
 * this is tsr_encoder_mean. TSR_INVALID_ARGUMENT: there is no such pooling. */
tsr_status tsr_encoder_pooled(const tsr_encoder *encoder, size_t text,
                              tsr_pooling pooling, double *values,
                              size_t count);
/* Writes the logarithm of the softmax of all logits at positions[which] of a
 * text, [tsr_artifact_vocabulary]. */
tsr_status tsr_encoder_log_probabilities(const tsr_encoder *encoder,
                                         size_t text, size_t which,
                                         double *values, size_t count);

/* Read and write tensors between runs, like tsr_session_read and
 * tsr_session_write. Tensors of role "output" are "encode_hidden", [batch,
 * sequence, hidden size], and unless there are none, "encode_logits", [batch,
 * tsr_encoder_max_predictions, vocabulary]. */
tsr_status tsr_encoder_read(tsr_encoder *encoder, const char *role,
                            const char *name, double *values, size_t count);
tsr_status tsr_encoder_write(tsr_encoder *encoder, const char *role,
                             const char *name, const double *values,
                             size_t count);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif /* TESSERA_ENCODER_H */
