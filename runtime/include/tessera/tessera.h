/*===- tessera.h - C API of the Tessera runtime ---------------------------===*\
|* Loads a compiled artifact (`.tsr`) and trains it. C11; no exception, no    *|
|* exit and no printing crosses this boundary.                                *|
|*                                                                            *|
|* Ownership: every tsr_*_create/open/load has a destroy that takes NULL.     *|
|* Thread-safety: an object is used by one thread at a time; different        *|
|* objects are independent. Errors: a call returns TSR_OK or a code; the      *|
|* message of this thread's last error is tsr_last_error(). Out-parameters    *|
|* are untouched on failure. Option structs start with their size.            *|
\*===----------------------------------------------------------------------===*/
#ifndef TESSERA_H
#define TESSERA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

typedef enum tsr_status {
  TSR_OK = 0,
  TSR_INVALID_ARGUMENT = 1, /* the caller's mistake; the message says which */
  TSR_NOT_FOUND = 2,        /* file, tensor or plug-in is missing */
  TSR_CORRUPT = 3,          /* a file is torn, altered or of another version */
  TSR_MISMATCH = 4,         /* a good file that does not fit this artifact */
  TSR_IO = 5,               /* reading or writing failed (disk full, ...) */
  TSR_OUT_OF_MEMORY = 6,
  TSR_TIMEOUT = 7, /* a collective did not finish; the session is dead */
  TSR_ABORTED = 8, /* another rank failed first; the session is dead */
  TSR_UNSUPPORTED = 9,
  TSR_INTERNAL = 10,
  TSR_UNTRUSTED = 11 /* an artifact is not signed by a key that is trusted */
} tsr_status;

/* Returns the message of the last failure on this thread; "" if there was none.
 * It is one line of UTF-8 that a terminal can print: what else names of files
 * and of what is in them hold is written as \x1b or \u202e, and values of more
 * than 600 bytes are cut. Valid until the next call on this thread. */
const char *tsr_last_error(void);
/* Makes `message` this thread's last error and returns `status`: for libraries
 * that extend this one, as libtessera_tokenizer does. */
tsr_status tsr_set_last_error(tsr_status status, const char *message);
const char *tsr_status_name(tsr_status status);
/* Returns "major.minor.patch". */
const char *tsr_version(void);

/* ---- artifact: a compiled program with its plan ------------------------ */
typedef struct tsr_artifact tsr_artifact;

/* Reads and checks `path`: magic, version, lengths, hash, metadata, and its
 * signature if it has one, whoever signed it. Runs none of its code:
 * tsr_session_create does, and what it runs is as trusted as any program.
 * TSR_NOT_FOUND, TSR_CORRUPT, TSR_OUT_OF_MEMORY. */
tsr_status tsr_artifact_load(const char *path, tsr_artifact **out_artifact);
/* Loads an artifact that must be signed by one of `count` keys, each a file
 * with an Ed25519 public key in PEM, as `openssl pkey -pubout` writes it.
 * Metadata is interpreted after that is checked, and sessions run the bytes
 * that were checked. TSR_UNTRUSTED: it is unsigned, or signed by another key,
 * whose fingerprint the message names beside those of the keys;
 * TSR_INVALID_ARGUMENT: a file holds no such key, or there are no keys;
 * TSR_UNSUPPORTED: this build has no libcrypto. */
tsr_status tsr_artifact_load_trusted(const char *path, const char *const *keys,
                                     size_t count, tsr_artifact **out_artifact);
void tsr_artifact_destroy(tsr_artifact *artifact);
/* Gives the fingerprint of the key that signed it, "" if it is unsigned:
 * SHA-256 of the public key in DER, 64 hexadecimal digits. Valid until the
 * thread's next call. TSR_UNSUPPORTED: it is signed, but this build has no
 * libcrypto, so nobody has checked it. */
tsr_status tsr_artifact_signer(const tsr_artifact *artifact,
                               const char **out_fingerprint);
/* Gives the bytes of the artifact `path`, signed with the Ed25519 private key
 * in the PEM file `key` and by nobody else; the file stays as it is. Valid
 * until the thread's next call. Errors as of tsr_artifact_load_trusted. */
tsr_status tsr_artifact_sign(const char *path, const char *key,
                             const void **out_bytes, size_t *out_count);
/* Returns the metadata as JSON text (docs/Artifact.md); owned by the
 * artifact. */
const char *tsr_artifact_metadata(const tsr_artifact *artifact);
/* Return sizes: ranks of the mesh, sequences of one step over all of them,
 * tokens of one sequence, legal token ids are [0, vocabulary). */
int64_t tsr_artifact_ranks(const tsr_artifact *artifact);
int64_t tsr_artifact_batch(const tsr_artifact *artifact);
int64_t tsr_artifact_sequence(const tsr_artifact *artifact);
/* Returns the tokens of a target sequence of an encoder-decoder model; 0: it is
 * none. */
int64_t tsr_artifact_target(const tsr_artifact *artifact);
/* Returns the tokens that tsr_session_step reads per sequence: sequence + 1, or
 * of an encoder-decoder model sequence + target. */
int64_t tsr_artifact_columns(const tsr_artifact *artifact);
int64_t tsr_artifact_vocabulary(const tsr_artifact *artifact);

/* ---- session: the ranks of one artifact, ready to train ---------------- */
typedef struct tsr_session tsr_session;

typedef struct tsr_session_options {
  size_t size;              /* sizeof(tsr_session_options) */
  const char *device;       /* "cpu" (default when NULL), "cuda" */
  const char *communicator; /* all ranks in this process: "threads" (default
                               when NULL), with "cuda" also "nccl"; a process
                               per rank: "tcp" (the CPU's), "mpi" (the CPU's,
                               after tsr_mpi_start), "nccl" (CUDA's) */
  int32_t threads;          /* threads for all ranks of this process; 0: all
                               cores, shared between the machine's processes */
  int32_t timeout_ms;       /* for one collective; 0: 60000 */
  int64_t seed;             /* seeds initial values and dropout */
  int32_t poison;           /* not 0: fill the arena with NaN before use; on
                               "cuda" wait for each op, so that an error names it */
  /* A process per rank: all processes create the session at the same time, with
   * the same artifact and options but for `rank` and `local_rank`. */
  int32_t world_size; /* processes = ranks of the mesh; 0 or 1: this process has
                         all ranks */
  int32_t rank;       /* this process's, from 0 */
  int32_t local_rank; /* its number on its machine: which GPU it takes */
  int32_t local_size; /* processes on its machine, which share the cores; 0:
                         both are found by asking the others */
  const char *rendezvous;        /* "HOST:PORT": rank 0 listens there */
  int32_t rendezvous_timeout_ms; /* until all have come; 0: 300000 */
  const char *const *agreement;  /* other properties that must be the same in
                                    all processes: names and values in turn,
                                    ended by NULL; a difference is a
                                    TSR_MISMATCH that says which. NULL: there
                                    are none */
  int32_t save_timeout_ms; /* for which processes wait for one that saves or
                              loads and says so; one that does not answer for
                              timeout_ms is missing; 0: 1800000 */
  const char *secret; /* a secret that all processes know and nobody else, at
                         least 16 bytes: each connection begins with a proof
                         that both sides know it. NULL or "": only addresses of
                         this machine are taken, and there a secret of the user
                         that the first process keeps in XDG_STATE_HOME or
                         ~/.local/state, as tessera/rendezvous-secret */
  int32_t trusts_network;   /* not 0: take any address without a secret */
  int64_t max_shard_bytes;  /* tensors in a file of saved weights, as the
                               max_shard_size of transformers; 0: one file */
  int32_t allow_mixed_cpus; /* not 0: processes do not agree on a path of the
                               CPU, and programs may be compiled for different
                               processors: ranks may then round differently,
                               and values that all hold may drift apart */
  /* Called by the thread that creates the session, while processes meet, with
   * what an operator should know at once: a printable line without its end,
   * valid during the call. Connections that are refused are told so, the
   * first of each kind and then seldom. NULL: nobody is told. */
  void (*note)(void *context, const char *text);
  void *note_context;
} tsr_session_options;

/* With a process per rank these are collective, that is, all processes make the
 * same calls in the same order: create, step, evaluate, largest, read, write,
 * save, claim, prune, load, load_weights, load_adapter, use_data, change_data,
 * compare_data, compare_files. If one of them fails in one process it fails in
 * all; a process that ends makes the others' next call, or the one they are in,
 * fail with TSR_ABORTED.
 * Files are written by rank 0 alone and read by all. What all read must have
 * the same content: load, load_weights, load_adapter, use_data and change_data
 * hash every file wholly, and a stale copy is a TSR_MISMATCH that names rank
 * and file and both hashes. */

/* On "cpu" the bits of a step depend on the processor's path ("baseline",
 * "avx2", "avx512", "avx512-bf16", "amx": the best there is, or what the
 * environment variable TESSERA_CPU names, which is read once) and on the matrix
 * library. Where processes differ in these, tsr_session_create makes each
 * compute as the one with the least path would, with the runtime's own products
 * in place of the library's, until the process ends; and it refuses with
 * TSR_MISMATCH artifacts that are compiled for different processors. */
typedef struct tsr_processors {
  const char *path; /* a value for --cpu: "native" if all processes have the
                       same processor, else the path that all have; static */
  int32_t rank;     /* the first that has no more than this path */
} tsr_processors;
/* Finds the processor that all processes can compile for, for programs that
 * compile before they create a session. Collective: the processes meet at the
 * rendezvous that `options` name, as in tsr_session_create, whose errors it
 * has. In one process it is TSR_OK and "native". */
tsr_status tsr_processors_compare(const tsr_session_options *options,
                                  tsr_processors *out_processors);

/* Learning rate of step t (from 0), a function of t alone: linear warm-up over
 * warmup_steps, lr (t + 1) / warmup_steps, and then by kind:
 *   "cosine"        from lr at warmup_steps to min_lr at total_steps, constant
 *                   after; "linear" likewise
 *   "constant"      lr; min_lr and total_steps do not count
 *   "wsd"           warm-up, stable, decay: lr, then linear to min_lr during
 *                   the last decay_steps before total_steps, constant after
 *   "inverse-sqrt"  lr sqrt(max(1, warmup_steps) / (t + 1)), at least min_lr;
 *                   total_steps does not count */
typedef struct tsr_schedule {
  size_t size; /* sizeof(tsr_schedule) */
  double lr;
  double min_lr;
  int64_t warmup_steps;
  int64_t total_steps;
  const char *kind;    /* NULL: "cosine" */
  int64_t decay_steps; /* length for "wsd"; 0: a tenth of total_steps, rounded
                          up, but no more than the warm-up leaves */
} tsr_schedule;

/* The inputs of one step, each [batch, sequence] in C order, for the whole
 * global batch. A label is the token that its position predicts. In a causal
 * model that is the token after ids[b][s]: labels[b][s] is Hugging Face's
 * labels[b][s + 1], which its models shift themselves, and the last one has a
 * label here as well. Labels of an encoder-decoder model are [batch, target],
 * and its decoder reads them shifted right after the start token. The loss is
 * the mean over the labels that count, of all sequences and micro-batches. */
typedef struct tsr_batch {
  size_t size; /* sizeof(tsr_batch) */
  const int32_t *ids;
  const int32_t *labels; /* negative ones (-100) do not count; for a step of
                            a causal model it must be compiled with
                            --ignore-labels */
  const int32_t *token_types; /* NULL: all 0; for models that have them */
  /* For models compiled with --document-mask or --padding-mask: attention sees
   * from a position only those of the same segment, and -1 is padding, which
   * neither sees nor is seen and whose labels do not count. NULL: documents end
   * with the separator, or ids that are padding are. */
  const int32_t *segments;
  const int32_t *decoder_segments; /* for an encoder-decoder model, [batch,
                                      target]: the segments of the decoder's
                                      positions, which see those of themselves
                                      and of the source. NULL: a position is
                                      padding if it reads no label that counts
                                      and is before none */
} tsr_batch;

typedef struct tsr_step_result {
  double loss;      /* mean over the global batch's labels, before the update */
  double grad_norm; /* global 2-norm of the gradient, before clipping */
  double lr;        /* used in this step */
  int64_t step;     /* number of this step, from 0; messages count from 1 */
} tsr_step_result;

typedef struct tsr_evaluation {
  double loss;     /* cross-entropy in nats, mean over the batch's labels that
                      count; perplexity is exp(loss) */
  int64_t labels;  /* number of labels that count */
  int64_t correct; /* number of labels with the largest logit (of equal ones the
                      first, as argmax has it) */
} tsr_evaluation;

/* Creates a session; `options` may be NULL. Allocates every rank's arena;
 * parameters are undefined until tsr_session_init or tsr_session_load.
 * TSR_UNSUPPORTED: the artifact is for another device, or the machine has no
 * usable one; TSR_NOT_FOUND: the device's plug-in is missing; TSR_MISMATCH: it
 * is of another build, or the processes do not agree; TSR_OUT_OF_MEMORY says
 * what is needed and what is free; TSR_TIMEOUT names the ranks that did not
 * come. */
tsr_status tsr_session_create(const tsr_artifact *artifact,
                              const tsr_session_options *options,
                              tsr_session **out_session);
void tsr_session_destroy(tsr_session *session);

/* Describes, for people, the device that the first rank of this process runs
 * on; after steps also what the device found it lacks. Owned by the session
 * until the next call of this function. */
const char *tsr_session_device(const tsr_session *session);

/* Returns what the last tsr_session_load_weights or tsr_session_save did that
 * one may not expect, a line each, "" if nothing: heads that the file lacks and
 * that were drawn, tensors that were ignored, a config.json that cannot be
 * written. Owned by the session until the next of these calls. */
const char *tsr_session_notes(const tsr_session *session);

/* Draws the initial parameters from the session's seed (the same bits on every
 * mesh), zeroes the optimizer state, sets step 0. */
tsr_status tsr_session_init(tsr_session *session);
/* Sets the schedule from the next step on; the artifact's own until then.
 * TSR_INVALID_ARGUMENT: an unknown kind, a rate that is negative or not finite,
 * a negative count, decay_steps of another kind than "wsd", or more of them
 * than the warm-up leaves of total_steps. */
tsr_status tsr_session_set_schedule(tsr_session *session,
                                    const tsr_schedule *schedule);
/* Runs one optimizer step. `tokens` is [batch, sequence + 1] in C order, for
 * the whole global batch: inputs are columns 0..sequence-1, labels 1..sequence.
 * A masked language model gets columns 0..sequence-1, of which it hides some,
 * by seed, step and place, and predicts them, but never special tokens of its
 * tokenizer, nor padding; its token types are all 0. An encoder-decoder model
 * gets [batch, sequence + target]: a source and its target, whose padding
 * tokens are ignored as labels. A batch in which no label counts is a skipped
 * step (tsr_session_had_labels), whose loss and norm are NaN.
 * TSR_INVALID_ARGUMENT names the first token id outside the vocabulary. */
tsr_status tsr_session_step(tsr_session *session, const int32_t *tokens,
                            size_t count, tsr_step_result *out_result);
/* Runs one optimizer step on inputs and labels of one's own.
 * TSR_INVALID_ARGUMENT names what is out of range, and refuses a batch whose
 * labels are all ignored. */
tsr_status tsr_session_step_batch(tsr_session *session, const tsr_batch *batch,
                                  tsr_step_result *out_result);
/* Measures the loss of a batch and changes nothing: without dropout, gradients
 * and other parts of the loss, with the parameters as they are. Batches are as
 * for the two functions above, but the last one of a data set may be smaller:
 * `count` is of one sequence or more, up to the batch. Of several batches,
 * weigh each loss by its labels: the result is the data set's, whatever the
 * batch is. If no label of `tokens` counts, nothing runs, and the result is 0
 * labels. `number` is the batch's own, from 0: of a masked language model the
 * tokens of a sequence are hidden by its number in the data set, which is
 * `number` times tsr_artifact_batch in the first row, the same in every run,
 * with every batch and on every mesh. (Versions that hid them by `number` and
 * the row measure other losses, but of a batch of one.) Uses the memory of a
 * step. TSR_UNSUPPORTED: the artifact was compiled with --no-evaluation, or
 * from an .mlir file that does not mark its cross-entropy; or the batch is not
 * whole, and the artifact, which counts all labels, is of an older version or
 * of an .mlir file that sums its cross-entropy in another way. */
tsr_status tsr_session_evaluate(tsr_session *session, const int32_t *tokens,
                                size_t count, int64_t number,
                                tsr_evaluation *out_result);
tsr_status tsr_session_evaluate_batch(tsr_session *session,
                                      const tsr_batch *batch,
                                      tsr_evaluation *out_result);

typedef struct tsr_score {
  double log_probability; /* in nats: the sum over the tokens */
  int64_t predicted;      /* tokens that have the largest logit */
} tsr_score;
/* Scores the tokens [given, count) of a text: how probable they are after those
 * before them. This is an evaluation of one text, in which all other labels are
 * ignored. Ranks of a split vocabulary send each other a label's logit and a
 * sum of exponentials, no logits. TSR_UNSUPPORTED: the model is not causal, was
 * compiled without --ignore-labels, or as in tsr_session_evaluate.
 * TSR_INVALID_ARGUMENT: no token is given, or all are; there are more than the
 * model's sequence and one; a token is outside of the vocabulary. */
tsr_status tsr_session_score(tsr_session *session, const int32_t *tokens,
                             size_t count, size_t given, tsr_score *out_score);
/* Records the next step: when each op ran, per rank and thread, as JSON in
 * Chrome's trace event format (ui.perfetto.dev reads it), written to `path`
 * when the step has ended. On "cuda" it is the GPU's time of each op, in the
 * streams of program and communication, and the step is not a captured one.
 * TSR_IO of tsr_session_step: the step is done, but the file cannot be
 * written. */
tsr_status tsr_session_trace(tsr_session *session, const char *path);
/* Finds the largest of all processes' values: to agree, say, on stopping. With
 * all ranks in one process it is `value`. */
tsr_status tsr_session_largest(tsr_session *session, int32_t value,
                               int32_t *out_largest);
/* Returns the next step's number. */
int64_t tsr_session_next_step(const tsr_session *session);
/* Returns the run's seed: tsr_session_load replaces the one that the session
 * was given. */
int64_t tsr_session_seed(const tsr_session *session);
/* Returns how many sequences of the data the steps of the run have taken,
 * those before tsr_session_load too, whatever their batch was, and skipped
 * ones: where the next step reads (tsr_data_read). tsr_session_load takes it
 * from the checkpoint; of one that does not say it, steps times the artifact's
 * batch; 0 if the checkpoint's sequences have another length. */
int64_t tsr_session_sequences(const tsr_session *session);
/* Returns how many steps of the run, those before tsr_session_load too, were
 * skipped: loss or gradient norm was infinite or NaN, so parameters and
 * optimizer state kept their bits. Such a step succeeds, takes its batch and
 * its learning rate, and its result says what loss and norm were. */
int64_t tsr_session_skipped_steps(const tsr_session *session);
/* Returns 1 if a label counted in the last step, also before the first step, or
 * 0: the tokens of its batch that labels could be are all padding, special or
 * separators, so that there was nothing to learn, and it was skipped. */
int tsr_session_had_labels(const tsr_session *session);
/* Returns the most rounds that the experts of a layer took in the last step, on
 * a rank of this process: 1 where all rows fitted into the buffers. 0: these
 * have room for all that a router can send, or there was no step. */
int64_t tsr_session_expert_rounds(const tsr_session *session);

/* Read and write global tensors by name, in the artifact's element type widened
 * to f64 (C order). `count` must be the number of elements. Roles: "parameter",
 * "moment1", "moment2", "gradient"; any tensor of the artifact may be read. */
tsr_status tsr_session_read(tsr_session *session, const char *role,
                            const char *name, double *values, size_t count);
tsr_status tsr_session_write(tsr_session *session, const char *role,
                             const char *name, const double *values,
                             size_t count);
/* Read and write the same in f32: half the memory, and exact where the tensor
 * is of f32 or bf16. Values of an f64 tensor are rounded as they are read, and
 * a bf16 tensor's as they are written, as by the calls above. */
tsr_status tsr_session_read_f32(tsr_session *session, const char *role,
                                const char *name, float *values, size_t count);
tsr_status tsr_session_write_f32(tsr_session *session, const char *role,
                                 const char *name, const float *values,
                                 size_t count);
/* Reads a rank's part of a tensor, padding and all: its local shape, widened to
 * f64. For tests and `tessera verify`. TSR_INVALID_ARGUMENT: the rank is of
 * another process. */
tsr_status tsr_session_read_local(tsr_session *session, int64_t rank,
                                  const char *role, const char *name,
                                  double *values, size_t count);

/* ---- generator: a model that continues texts --------------------------- */
/* Generates text with an artifact compiled with --programs generate. Requests
 * may be added and cancelled, and tokens taken, from any thread; one thread at
 * a time calls tsr_generator_step, which runs one step: the next token of every
 * request that has begun, and a part of the prompts of those that have not. A
 * request waits until a slot is free; the generator manages slots and positions
 * itself. The tokens of a request depend on nothing but its prompt and options.
 * Where a prompt begins as another text did whose keys and values are still
 * there, that part of it does not run again. If the model has an encoder (T5),
 * the prompt is a source, of up to the artifact's length, which is encoded
 * once, and the text begins with the config's decoder_start_token_id. */
typedef struct tsr_generator tsr_generator;

typedef enum tsr_ending {
  TSR_GOES_ON = 0,
  TSR_ENDED_STOP = 1,      /* the token is one of stop_tokens */
  TSR_ENDED_LENGTH = 2,    /* max_new_tokens, or no place is left */
  TSR_ENDED_CANCELLED = 3, /* there is no token */
  TSR_ENDED_FAILED = 4,    /* its logits are not numbers: there is no token */
  TSR_ENDED_SCORED = 5     /* all tokens of tsr_generator_score are scored */
} tsr_ending;

typedef struct tsr_generated {
  int64_t request;
  int32_t token; /* -1: none */
  int32_t ended; /* tsr_ending; nothing of this request follows what ends it */
  double log_probability; /* in the softmax of all logits, penalties applied, at
                             its temperature (at 1 if that is 0) */
} tsr_generated;

/* A token that could follow, with its log-probability as above. */
typedef struct tsr_alternative {
  int32_t token;
  double log_probability;
} tsr_alternative;

/* The probability of a given token after those before it. */
typedef struct tsr_token_score {
  double log_probability; /* in the softmax of all logits, in nats */
  int32_t is_largest;     /* not 0: its logit is the largest; of equal ones, the
                             first of the vocabulary's */
} tsr_token_score;

/* Called by the thread that runs tsr_generator_step, before that returns, when
 * a request of tsr_generator_score has ended (tsr_ending): with the scores of
 * its tokens, which are valid during the call, or with none unless they are
 * complete. As of tsr_on_token it may add and cancel requests. */
typedef void tsr_on_scores(void *context, int64_t request, int32_t ended,
                           const tsr_token_score *scores, size_t count);

typedef struct tsr_score_options {
  size_t size;              /* sizeof(tsr_score_options) */
  tsr_on_scores *on_scores; /* gets the scores in place of
                               tsr_generator_take_scores; NULL: nobody */
  void *context;            /* passed to on_scores */
  int32_t recompute_prompt; /* see tsr_request_options */
} tsr_score_options;

/* Called by the thread that runs tsr_generator_step, before that returns, for
 * each token of a request in order; with its alternatives, most probable first,
 * which are valid during the call. It may add and cancel requests, but neither
 * step nor destroy the generator, and no exception may leave it. */
typedef void tsr_on_token(void *context, const tsr_generated *token,
                          const tsr_alternative *alternatives, size_t count);

typedef struct tsr_request_options {
  size_t size;            /* sizeof(tsr_request_options) */
  int64_t max_new_tokens; /* 0: as many as fit */
  double temperature;     /* 0: the most probable token, always; or at least
                             1e-30 */
  int64_t top_k;          /* keeps so many of the most probable tokens, and
                             those as probable as the last of them; 0: all. At
                             most the artifact's --candidates, like
                             `alternatives` */
  double top_p;           /* those of which the more probable ones sum to less
                             than this, where all that top_k keeps sum to 1; 0
                             or 1: all */
  double min_p; /* with at least this part of the largest probability */
  int64_t seed; /* seeds the noise at each position */
  const int32_t *stop_tokens; /* the request ends after one of them */
  size_t stop_count;
  double repetition_penalty; /* the logit of each token that the prompt or the
                                new text has is divided by this if it is above
                                0, and multiplied by it if not, before all else;
                                from 0.01 to 100; 0 or 1: nothing */
  int64_t alternatives; /* so many most probable tokens are reported beside each
                           one that is chosen */
  tsr_on_token *on_token;   /* gets the tokens of this request in place of
                               tsr_generator_next; NULL: nobody */
  void *context;            /* passed to on_token */
  int32_t recompute_prompt; /* not 0: all of the prompt runs, even if another
                               text began like it */
} tsr_request_options;

/* The settings in a model's files for how its texts end and are drawn. */
typedef struct tsr_generation_config {
  size_t size; /* sizeof(tsr_generation_config), set by the caller */
  const int32_t *end_tokens; /* eos_token_id: those that the vocabulary has */
  size_t end_count;
  int32_t samples; /* do_sample: 1 or 0; -1: the file does not say. Of 0 and -1
                      transformers takes the most probable token, and the next
                      four count for nothing */
  double temperature; /* this and what follows: below 0, not said */
  double top_p, min_p;
  int64_t top_k;
  double repetition_penalty;
  int64_t max_new_tokens;
  const char *file;         /* the file that has the settings, for people; "":
                               there is none */
  const char *not_followed; /* other settings in it that choose other tokens,
                               for people: "num_beams 4"; "": nothing */
} tsr_generation_config;

/* Reads generation_config.json, or where there is none, config.json, as
 * transformers does: one of the two, never both. They are those in `folder`, or
 * if that is NULL or has neither, those that the artifact was compiled from.
 * Texts and tokens are valid until the thread's next call. TSR_CORRUPT: a value
 * is out of range, or the file is no JSON. */
tsr_status tsr_artifact_generation_config(const tsr_artifact *artifact,
                                          const char *folder,
                                          tsr_generation_config *out_config);

/* Creates a generator; `options` may be NULL. `weights` is as of
 * tsr_session_load_weights; with NULL parameters are drawn from the seed.
 * Errors are those of tsr_session_create and tsr_session_load_weights;
 * TSR_UNSUPPORTED: the artifact has no programs that generate, or the session
 * would have several processes. */
tsr_status tsr_generator_create(const tsr_artifact *artifact,
                                const tsr_session_options *options,
                                const char *weights,
                                tsr_generator **out_generator);
/* Creates a generator with the parameters of a session, as they are at each
 * step: of an artifact compiled with --programs train,generate. The session
 * outlives it, and a step of the generator is a use of the session: one thread
 * at a time uses either. While requests wait or run, what changes parameters
 * fails with TSR_INVALID_ARGUMENT: training steps, tsr_session_init, _write and
 * _load*; tsr_session_evaluate* and _save do not. TSR_INVALID_ARGUMENT: the
 * session has a generator; TSR_UNSUPPORTED as of tsr_generator_create. */
tsr_status tsr_generator_create_on(tsr_session *session,
                                   tsr_generator **out_generator);
void tsr_generator_destroy(tsr_generator *generator);
/* Returns notes on the weights, like tsr_session_notes. */
const char *tsr_generator_notes(tsr_generator *generator);
/* Adds a request; `options` may be NULL. TSR_INVALID_ARGUMENT: the prompt is
 * empty, or longer than the artifact's length less one, or has a token outside
 * of the vocabulary; an option is out of range. */
tsr_status tsr_generator_add(tsr_generator *generator, const int32_t *prompt,
                             size_t count, const tsr_request_options *options,
                             int64_t *out_request);
/* Asks how probable the tokens [given, count) of a text are, each after all
 * before it. The request waits, runs and is cancelled as others are, and texts
 * that begin alike run what they share once. No logits are read: a step that
 * scores returns two numbers a token. `options` may be NULL.
 * TSR_INVALID_ARGUMENT: no token is given, or all are; there are more than the
 * artifact's length and one; a token is outside of the vocabulary.
 * TSR_UNSUPPORTED: the artifact is of a version that had no such program, or
 * of a model with an encoder, whose texts have sources. */
tsr_status tsr_generator_score(tsr_generator *generator, const int32_t *tokens,
                               size_t count, size_t given,
                               const tsr_score_options *options,
                               int64_t *out_request);
/* Writes the scores of such a request, once, if `count` is the number of tokens
 * that it scores. `out_ended` is TSR_ENDED_SCORED, or they are not written:
 * TSR_GOES_ON while it waits or runs, TSR_ENDED_CANCELLED or TSR_ENDED_FAILED.
 * TSR_INVALID_ARGUMENT: it scores another number of tokens; TSR_NOT_FOUND: it
 * scores none, its scores were taken, or its listener has had them. */
tsr_status tsr_generator_take_scores(tsr_generator *generator, int64_t request,
                                     tsr_token_score *out_scores, size_t count,
                                     int32_t *out_ended);
/* Ends the request before the next step. TSR_NOT_FOUND: it does not run. */
tsr_status tsr_generator_cancel(tsr_generator *generator, int64_t request);
/* Runs one step; `out_rows`, which may be NULL, is the number of tokens that it
 * took in, 0 if no request waits or runs. */
tsr_status tsr_generator_step(tsr_generator *generator, int64_t *out_rows);
/* Takes the next token of any request, in the order in which they were made. 0
 * in `out_found`: there is none until another step. */
tsr_status tsr_generator_next(tsr_generator *generator,
                              tsr_generated *out_token, int32_t *out_found);
/* Takes it with at most `room` of the token's alternatives, most probable
 * first; `out_count` is how many these are. */
tsr_status tsr_generator_take(tsr_generator *generator,
                              tsr_generated *out_token,
                              tsr_alternative *out_alternatives, size_t room,
                              size_t *out_count, int32_t *out_found);
/* Returns how many requests wait or run. */
int64_t tsr_generator_active(const tsr_generator *generator);
/* Returns how many tokens of prompts, of all requests so far, no step ran
 * because the same text began another request. */
int64_t tsr_generator_reused(const tsr_generator *generator);
/* For artifacts compiled with --candidates, whose steps leave the most probable
 * tokens: returns the most probability, over all tokens so far, of tokens that
 * top_p or min_p would have kept but that were not among these. 0: none. */
double tsr_generator_left_out(const tsr_generator *generator);
/* Returns the number that is added to logit / temperature of a token at a
 * position of a text (the number of tokens before it) for a draw from the whole
 * vocabulary, whose outcome is the largest sum: Gumbel noise of the seed. */
double tsr_sampling_noise(int64_t seed, int64_t position, int32_t token);
/* Returns when a request waits or runs, or after `timeout_ms`; below 0: never
 * without one. `out_active`, which may be NULL, is as of tsr_generator_active.
 * For a thread that steps while others add. */
tsr_status tsr_generator_wait(tsr_generator *generator, int32_t timeout_ms,
                              int64_t *out_active);
/* Reads a tensor between steps, like tsr_session_read. "decode_logits" and
 * "mixed_logits" of role "output" are those of the last step that ran so few,
 * or so many, rows: [lanes, slots, vocabulary]. An artifact compiled with
 * --candidates K has in their place "decode_candidates", [lanes, slots, K, 2],
 * the largest logits and their tokens, and "decode_totals", [lanes, slots], the
 * sums of exp((logit - largest) / temperature); and likewise for "mixed". */
tsr_status tsr_generator_read(tsr_generator *generator, const char *role,
                              const char *name, double *values, size_t count);
/* Writes a tensor between steps, like tsr_session_write. */
tsr_status tsr_generator_write(tsr_generator *generator, const char *role,
                               const char *name, const double *values,
                               size_t count);

/* A row of a step, which the caller places: a token of a text at its position
 * in a slot of a lane. */
typedef struct tsr_row {
  int64_t text; /* any number of the caller's; -1: nobody's row */
  int64_t lane, slot, position;
  int32_t token;
  int32_t is_last; /* logits after it are wanted; of a slot, of one row */
} tsr_row;
/* For tests and `tessera verify`, of a generator without requests: runs one
 * step of these rows, lane by lane in the given order. It is a "decode" step
 * if no lane has more rows than slots, else a "mixed" one, and `out_logits`,
 * [lanes, slots, vocabulary], is its output; of slots without a last row it
 * says nothing. An artifact with candidates has no logits: their count is 0.
 * TSR_INVALID_ARGUMENT: a request waits or runs; a lane has
 * more rows than a mixed step; a token, lane, slot or position is out of range;
 * the positions of a text do not follow on in its slot, or do not begin at 0.
 */
tsr_status tsr_generator_run_rows(tsr_generator *generator, const tsr_row *rows,
                                  size_t row_count, double *out_logits,
                                  size_t logit_count);
/* Does the same with a "score" step, which has as many rows as a "mixed" one. A
 * row's label is the token whose probability after it is asked for; below 0:
 * none. `out_scores`, by row, says nothing of rows without one; `is_last` does
 * not count. TSR_INVALID_ARGUMENT also: a label is outside of the vocabulary,
 * or of nobody's row; TSR_UNSUPPORTED as of tsr_generator_score. */
tsr_status tsr_generator_score_rows(tsr_generator *generator,
                                    const tsr_row *rows, const int32_t *labels,
                                    size_t row_count,
                                    tsr_token_score *out_scores);
/* Sets how the token after the rows of a slot is chosen in the following steps
 * of an artifact with candidates, after a text whose tokens are penalized, and
 * whose length is the position of a draw. TSR_INVALID_ARGUMENT: a request waits
 * or runs; the lane, the slot, a token or an option is out of range.
 * TSR_UNSUPPORTED: the steps leave all logits. */
tsr_status tsr_generator_place_sampling(tsr_generator *generator, int64_t lane,
                                        int64_t slot,
                                        const tsr_request_options *options,
                                        const int32_t *text, size_t count);
/* Encodes the source of a text whose rows follow in its slot, for a model with
 * an encoder. TSR_INVALID_ARGUMENT: a request waits or runs; the lane, the slot
 * or a token is out of range; the source is empty or too long. TSR_UNSUPPORTED:
 * the model has no encoder. */
tsr_status tsr_generator_place_source(tsr_generator *generator, int64_t text,
                                      int64_t lane, int64_t slot,
                                      const int32_t *source, size_t count);

/* ---- devices ----------------------------------------------------------- */
/* Reports the machine's support for a device, as JSON: "usable", "problem"
 * (empty if usable), "parts" (list of "what", "version", "without", "remedy";
 * an empty version: not found), "devices" (list of "name", "architecture",
 * "memory_bytes", "multiprocessors"; empty for the CPU). Valid until the
 * thread's next call. Errors are those of tsr_session_create: a missing plug-in
 * is TSR_NOT_FOUND. */
tsr_status tsr_device_report(const char *device, const char **out_json);

/* ---- MPI --------------------------------------------------------------- */
/* A process among those that an MPI's launcher has started. */
typedef struct tsr_mpi_member {
  size_t size; /* sizeof(tsr_mpi_member), set by the caller */
  int32_t rank, world_size;
  const char *rendezvous; /* an address of rank 0 that all processes reach, and
                             a port: for tsr_session_options */
  const char *secret;     /* made for this run, likewise; "" in a build without
                             libcrypto */
  const char *library;    /* the MPI, for people: "Open MPI v4.1.4" */
} tsr_mpi_member;
/* Finds the plug-in for the MPI of this process's launcher, and starts nothing.
 * `out_file` is valid until the thread's next call. TSR_NOT_FOUND: there is
 * none, and how one is built. */
tsr_status tsr_mpi_find(const char **out_file);
/* Starts the MPI, once in a process, before it creates sessions whose
 * communicator is "mpi", one at a time. Collective over all processes of the
 * launcher. `world_size` and `rank` are what the launcher's variables say; 0:
 * unknown. Texts are valid until tsr_mpi_finish. TSR_NOT_FOUND; TSR_MISMATCH:
 * the MPI says something else, since the launcher is another MPI's;
 * TSR_UNSUPPORTED: it has no MPI_THREAD_MULTIPLE; TSR_TIMEOUT: not all have
 * come within `timeout_ms`, 0: 300000. A thread then still waits for them, and
 * the process can only end. */
tsr_status tsr_mpi_start(int32_t world_size, int32_t rank, int32_t timeout_ms,
                         tsr_mpi_member *out_member);
/* Ends the MPI after the last session is destroyed; collective. A process whose
 * session has failed does not call it: others may not come. TSR_TIMEOUT: they
 * have not come within a minute. */
tsr_status tsr_mpi_finish(void);
/* Reports the plug-ins that were found, as JSON: "plugins" (list of "file",
 * "family", "problem": empty if it can be used), "command", which builds one
 * for another MPI. Valid until the thread's next call. */
tsr_status tsr_mpi_report(const char **out_json);

/* ---- checkpoints: directories with safetensors, global tensors --------- */
/* Writes DIR/step-N/{model,optimizer}.safetensors and manifest.json, and the
 * config.json (and generation_config.json) that the artifact was imported from,
 * so that `transformers` opens the step directory as a model. With
 * max_shard_bytes the model may be several files and their index. Adapters have
 * the files of their own that tsr_session_load_adapter reads. Atomic: on
 * any failure the checkpoints that were there are untouched. The first call
 * claims the directory, as tsr_session_claim does. */
tsr_status tsr_session_save(tsr_session *session, const char *directory);
/* Does the same, and if `count` checkpoints of earlier steps are complete, the
 * oldest gives way to the new one: a process that is killed leaves no more than
 * `count`, unless that is 1. Call tsr_session_prune afterwards, which says what
 * cannot be removed. TSR_INVALID_ARGUMENT: `count` is less than 1. */
tsr_status tsr_session_save_newest(tsr_session *session, const char *directory,
                                   int64_t count);
/* Saves likewise, to the directory itself, in the place of the checkpoint that
 * is there: it appears whole, or the old one stays. The session claims its
 * parent. TSR_INVALID_ARGUMENT: the directory holds other files. */
tsr_status tsr_session_save_as(tsr_session *session, const char *directory);
/* Lets checkpoints that are saved from now on take along the files that lie in
 * a model's folder beside its weights (config, tokenizer, pooling), but for the
 * files that the artifact holds itself. The files are read now. TSR_IO. */
tsr_status tsr_session_set_model_folder(tsr_session *session,
                                        const char *folder);
/* Lets checkpoints that are saved from now on hold this JSON value in their
 * manifest, as "records": {`name`: `json`}; tsr_session_load takes over those
 * of the checkpoint. TSR_CORRUPT: `json` is no JSON. */
tsr_status tsr_session_set_record(tsr_session *session, const char *name,
                                  const char *json);
/* Makes the directory and its file `.lock`, so that no other session saves
 * there until this one is destroyed or its process ends. TSR_IO: another run
 * has it; the message names its host and process. TSR_IO of tsr_session_save:
 * the directory is another one by now (its file system was unmounted). */
tsr_status tsr_session_claim(tsr_session *session, const char *directory);
/* Removes checkpoints from the directory, which the session owns from then on:
 * of the complete ones up to the session's step all but the newest `count`, the
 * oldest first. To be called when saving has succeeded; what is then removed is
 * first renamed, durably, to a name that no loading takes for a checkpoint.
 * Checkpoints of later steps are another run's and stay. TSR_INVALID_ARGUMENT:
 * `count` is less than 1; TSR_IO names the directory that cannot be renamed or
 * removed, and all checkpoints that are left are whole. */
tsr_status tsr_session_prune(tsr_session *session, const char *directory,
                             int64_t count);
/* Restores parameters, optimizer state, step, seed, place in the data and
 * records from a step directory, or from the newest complete one in DIR. Any
 * mesh's checkpoint loads. TSR_MISMATCH: it is of another model, by a key of
 * its config or by its tensors, of another optimizer or of other data.
 * tsr_session_notes: what is trained otherwise than before. */
tsr_status tsr_session_load(tsr_session *session, const char *directory);
/* The description of a checkpoint and its run, without its tensors. */
typedef struct tsr_checkpoint tsr_checkpoint;
/* Opens a step directory, or the newest complete one in DIR. TSR_NOT_FOUND;
 * TSR_CORRUPT: its manifest is altered. The tensors are not looked at. */
tsr_status tsr_checkpoint_open(const char *directory,
                               tsr_checkpoint **out_checkpoint);
void tsr_checkpoint_destroy(tsr_checkpoint *checkpoint);
/* Return the step directory, and its manifest.json. Valid until it is
 * destroyed. */
const char *tsr_checkpoint_path(const tsr_checkpoint *checkpoint);
const char *tsr_checkpoint_manifest(const tsr_checkpoint *checkpoint);

/* Loads parameters only, from a safetensors file, from the index of several
 * (model.safetensors.index.json), or from a directory that holds either, or
 * step directories, of which the newest counts, under the names that versions
 * and classes of `transformers` give them. Heads that are missing are drawn
 * from the session's seed, tensors that the artifact has not are ignored;
 * tsr_session_notes names both. TSR_MISMATCH: any other parameter is missing,
 * one is misshapen, or two differ that the model ties; or the weights are of a
 * checkpoint of another model, which the message tells by a key of its config.
 * An adapter beside the weights of a directory is loaded into the artifact's,
 * or, if it has none, added to the weights, which a note says; TSR_NOT_FOUND: a
 * file is missing; TSR_CORRUPT: a file that is cut off, is a pointer of Git LFS
 * or is no safetensors file as the format's own package reads them, an index
 * that its files do not fit, or that names files elsewhere; TSR_UNSUPPORTED:
 * weights in another format. Nothing is written before all is checked. */
tsr_status tsr_session_load_weights(tsr_session *session, const char *path);
/* Finds out if tsr_session_load_weights accepts this path; does not read the
 * file. TSR_NOT_FOUND: there are no weights; TSR_UNSUPPORTED names weights in
 * another format, as pytorch_model.bin, and what to do with them. */
tsr_status tsr_weights_find(const char *path);
/* Loads parameters of adapters only, from a directory with
 * adapter_model.safetensors and adapter_config.json, as peft saves LoRA and as
 * checkpoints have it. The model's own parameters are there already.
 * TSR_MISMATCH: the artifact has no adapters, or of another rank, scale or
 * model, or beside other layers, or other weights are loaded than those that it
 * was trained beside; TSR_UNSUPPORTED: it is another kind of adapter;
 * TSR_INVALID_ARGUMENT: the model's parameters are undefined. Nothing is
 * written before all is checked. */
tsr_status tsr_session_load_adapter(tsr_session *session,
                                    const char *directory);
/* Writes to the directory `output`, which must not exist, the weights of a
 * model (as tsr_session_load_weights finds them), each with what its adapter
 * adds, computed in f64 and rounded once to the weight's own type, and the
 * config.json and tokenizer that lie beside them. TSR_MISMATCH: the adapter is
 * of another model, or was trained beside other weights; TSR_UNSUPPORTED: it is
 * another kind of adapter, or a weight is F16. On any failure there is no
 * `output`. */
tsr_status tsr_adapter_merge(const char *model, const char *adapter,
                             const char *output);

/* ---- data: token streams ----------------------------------------------- */
typedef struct tsr_data tsr_data;

typedef struct tsr_data_options {
  size_t size;        /* sizeof(tsr_data_options) */
  const char *format; /* "auto" (NULL), "text": bytes, "uint16", "uint32": raw
                         little-endian ids, "llmc": llm.c's header, then either
                         of these */
  int64_t sequence;   /* tokens of one sequence */
  int64_t vocabulary; /* a larger token id is an error */
  int64_t seed;       /* seeds the order */
  int64_t target;     /* tokens of a target after each sequence; 0: none */
  const double *weights;      /* for each path, its share of the sequences: not
                                 negative, with a positive sum; NULL: the files
                                 are joined to one stream */
  double validation_fraction; /* share of each file, held out from its end; 0:
                                 none. In a file that says where documents
                                 begin, cut at the nearest begin of one */
  const char *part; /* the part to read if a fraction is held out: "training"
                       (NULL) or "validation" */
} tsr_data_options;

/* Opens `paths`; they must not change while they are read. With weights each
 * file is a stream of its own, and they take turns so that after any number of
 * sequences each has been read within one sequence of its share. Shares are
 * whole numbers in the ratio of the weights; where none that sum to less than
 * 65536 have it, the weights are rounded to multiples of 1 / 65536.
 * "auto" takes what a header says (llm.c's of 20240520 and 20240801, a .npy
 * file of one dimension and type <u2, <u4 or <i4, Megatron's .idx file beside a
 * .bin file, of which either may be named); otherwise a .bin file holds uint16
 * and any other text, and one that looks like something else (JSON, tokens of
 * another width) is refused. A
 * format that is named is obeyed, unless the file begins as an archive or a
 * table does, or with a header that says otherwise: those "text" alone takes.
 * TSR_NOT_FOUND; TSR_IO; TSR_CORRUPT (bad header, odd length, an
 * index that does not fit its tokens);
 * TSR_INVALID_ARGUMENT (another kind of file; no token; the first id of a file
 * outside of the vocabulary: files are read once, by all cores, unless any id
 * of their type is legal; a stream, or a part of one that is split, shorter
 * than one sequence; weights or a fraction that are none, a weight below
 * 1 / 65536 of the sum). */
tsr_status tsr_data_open(const char *const *paths, size_t count,
                         const tsr_data_options *options, tsr_data **out_data);
void tsr_data_destroy(tsr_data *data);
/* Names the format of a file that begins with the `count` bytes `head`, if it
 * is an archive, a table or the like, which hold neither text nor tokens as
 * they are: "compressed by gzip", "a Parquet table"; else NULL. tsr_data_open
 * refuses such files. The first bytes of a text may be those of one by chance:
 * ask only for a file that is not text. */
const char *tsr_data_foreign(const void *head, size_t count);
/* Returns the tokens in all files together, of the part that is read. This
 * holds for what follows, too. */
int64_t tsr_data_tokens(const tsr_data *data);
/* Returns how many sequences differ: an epoch, or with weights one of each
 * file. */
int64_t tsr_data_sequences(const tsr_data *data);
/* Finds the part of file `file` (from 0) that is read: its tokens [first, first
 * + tokens), and the share of all sequences that these are.
 * TSR_INVALID_ARGUMENT: there are not so many files. */
tsr_status tsr_data_file(const tsr_data *data, size_t file, int64_t *out_first,
                         int64_t *out_tokens, double *out_share);
/* Returns the bytes of a token, in the file that has the widest: 1 if all are
 * text or Megatron's tokens of uint8 or int8, at most 8. */
int64_t tsr_data_token_bytes(const tsr_data *data);
/* Returns how many documents there are in the files that say where theirs begin
 * (Megatron's); 0: none does. They are counted over these files in order. */
int64_t tsr_data_documents(const tsr_data *data);
/* Finds where a document begins in all files, joined in order, and how many
 * tokens it has: none if it is empty. TSR_INVALID_ARGUMENT: there are not so
 * many; TSR_IO. */
tsr_status tsr_data_document(const tsr_data *data, int64_t document,
                             int64_t *out_first, int64_t *out_tokens);
/* Reads the global batch of a step, [batch, sequence + 1], where the token
 * after a sequence is the first of the next, or with targets [batch, sequence +
 * target] of records that share no token; a function of the seed, the step and
 * the batch alone. Each epoch of a stream visits every sequence of it once. */
tsr_status tsr_data_batch(const tsr_data *data, int64_t step, int64_t batch,
                          int32_t *out_tokens);
/* Reads sequences [first, first + count) of the same order, [count, columns] as
 * above: those of a step whose batches are of any sizes. tsr_data_batch is
 * tsr_data_read of sequences [step batch, (step + 1) batch). A run that goes on
 * reads from tsr_session_sequences on. TSR_INVALID_ARGUMENT: `first` is
 * negative or `count` is less than 1; a token outside of the vocabulary. */
tsr_status tsr_data_read(const tsr_data *data, int64_t first, int64_t count,
                         int32_t *out_tokens);
/* Collective, like tsr_session_save. Says that the session is trained on this
 * data, which its checkpoints then name by a hash of all tokens; `data` is not
 * kept. TSR_MISMATCH: the processes' data differ; or the checkpoint that was
 * loaded names other data: other tokens, shares or parts, not other names.
 * tsr_session_load then refuses such a checkpoint, too. Checkpoints that name
 * none are taken. The call takes as long as reading the files; in one process,
 * where nothing is compared, a thread hashes large ones until the session is
 * saved. */
tsr_status tsr_session_use_data(tsr_session *session, const tsr_data *data);
/* Does the same, but the data may be another one than before. If it is, or
 * if the checkpoint names none, tsr_session_sequences is 0 again: an epoch
 * begins. */
tsr_status tsr_session_change_data(tsr_session *session, const tsr_data *data);
/* Compares data; collective. TSR_MISMATCH: not all processes have the same data
 * here, as that of an evaluation; rank, file and both hashes are named. Takes
 * as long as reading the files; in one process it does nothing. */
tsr_status tsr_session_compare_data(tsr_session *session, const tsr_data *data);
/* Compares any files likewise that all processes read, in the same order: their
 * content counts, not their paths. TSR_NOT_FOUND, TSR_IO. */
tsr_status tsr_session_compare_files(tsr_session *session,
                                     const char *const *paths, size_t count);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif /* TESSERA_H */
