/*===- abi.h - contract between compiled programs and the runtime ---------===*\
|* Names and plain structs only, C11, no dependency. The compiler (lib/) and  *|
|* the runtime (runtime/) both include it; nothing else is shared by them.    *|
|* A compiled program is a shared object that exports `tsr_program_step` and  *|
|* calls the runtime only through the table `tsr_abi_api`.                    *|
\*===----------------------------------------------------------------------===*/
#ifndef TESSERA_ABI_H
#define TESSERA_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever anything in this file or in the artifact layout changes. */
#define TSR_ABI_VERSION 4

/* ------------------------------------------------------------- artifact ---
 * A `.tsr` file is: this header (little endian), `metadata_bytes` of UTF-8
 * JSON (docs/Artifact.md describes it), `code_bytes` of an ELF shared object.
 * `hash` is XXH3-64 of everything behind the header, seed 0. */
#define TSR_ARTIFACT_MAGIC "TESSERA" /* 8 bytes with the final zero */
typedef struct tsr_abi_header {
  char magic[8];
  uint32_t abi_version;
  uint32_t header_bytes; /* sizeof(tsr_abi_header) */
  uint64_t metadata_bytes;
  uint64_t code_bytes;
  uint64_t hash;
} tsr_abi_header;

/* Element types, as stored in buffers. */
enum {
  TSR_DTYPE_F32 = 0,
  TSR_DTYPE_BF16 = 1,
  TSR_DTYPE_F64 = 2,
  TSR_DTYPE_I32 = 3
};

/* Reductions of a collective. */
enum { TSR_REDUCE_SUM = 0, TSR_REDUCE_MAX = 1 };

/* ------------------------------------------------------------- program ---*/

/* A fused kernel. It works on [begin, end) of its parallel dimension: rows for
 * the row schedule, columns for the column schedule. `buffers` are its operands
 * in order (inputs, then outputs), `scalars` its integers in order. Several
 * threads run it at once on disjoint ranges. */
typedef void (*tsr_abi_kernel)(void *const *buffers, const int64_t *scalars,
                               int64_t begin, int64_t end);

/* A fused kernel of a program for an accelerator, whose shapes are all known at
 * compile time: it covers its whole space in one grid. Its parameters are
 * `buffers` pointers into the arena (inputs, then outputs), then a pointer to
 * its int64 scalars in device memory, then a pointer to the workspace that it
 * shares with `next`: device memory that holds nothing between launches. */
typedef struct tsr_abi_device_kernel {
  const char *name;     /* of its function in the image */
  int64_t blocks;       /* of the grid */
  int64_t threads;      /* of a block */
  int64_t shared_bytes; /* dynamic shared memory of a block */
  int64_t buffers;
  int64_t scalars;
  /* Runs behind it with the same parameters; null: none. */
  const struct tsr_abi_device_kernel *next;
} tsr_abi_device_kernel;

/* All device kernels of a program. The cubin is used on the architecture it is
 * for, PTX (zero-terminated text) on others through the driver's compiler. */
typedef struct tsr_abi_device_image {
  const char *ptx;
  int64_t ptx_bytes; /* with the final zero */
  const void *cubin; /* null: there was no assembler at compile time */
  int64_t cubin_bytes;
  int64_t workspace_bytes; /* the most that a kernel needs */
} tsr_abi_device_image;

/* The symbol of the image; only programs for an accelerator export it. */
#define TSR_PROGRAM_IMAGE "tsr_program_image"

/* Every runtime entry has this shape. `op` indexes "ops" of the metadata, for
 * diagnostics. Returns 0, or non-zero to stop the step: the runtime has already
 * recorded the error, and the program returns the value unchanged. */
typedef int32_t (*tsr_abi_entry)(void *context, int64_t op,
                                 void *const *buffers, const int64_t *args);

/* What the generated code may call. Argument lists: the enums below. */
typedef struct tsr_abi_api {
  int64_t bytes; /* sizeof(tsr_abi_api) */
  tsr_abi_entry launch;
  tsr_abi_entry gemm;
  tsr_abi_entry attention;
  tsr_abi_entry attention_backward;
  tsr_abi_entry scatter_add;
  tsr_abi_entry fill;
  tsr_abi_entry copy;
  tsr_abi_entry all_reduce;
  tsr_abi_entry all_gather;
  tsr_abi_entry reduce_scatter;
  tsr_abi_entry all_to_all;
  tsr_abi_entry send;
  tsr_abi_entry receive;
  tsr_abi_entry broadcast;
  tsr_abi_entry wait;
  tsr_abi_entry shift;
  tsr_abi_entry routed;
  tsr_abi_entry zigzag;
  tsr_abi_entry chunked_gemm;
  tsr_abi_entry chunked_scatter_add;
} tsr_abi_api;

/* Indices of the entries: a table of pointers behind `bytes`. */
enum {
  TSR_ENTRY_LAUNCH = 1,
  TSR_ENTRY_GEMM,
  TSR_ENTRY_ATTENTION,
  TSR_ENTRY_ATTENTION_BACKWARD,
  TSR_ENTRY_SCATTER_ADD,
  TSR_ENTRY_FILL,
  TSR_ENTRY_COPY,
  TSR_ENTRY_ALL_REDUCE,
  TSR_ENTRY_ALL_GATHER,
  TSR_ENTRY_REDUCE_SCATTER,
  TSR_ENTRY_ALL_TO_ALL,
  TSR_ENTRY_SEND,
  TSR_ENTRY_RECEIVE,
  TSR_ENTRY_BROADCAST,
  TSR_ENTRY_WAIT,
  TSR_ENTRY_SHIFT,
  TSR_ENTRY_ROUTED,
  TSR_ENTRY_ZIGZAG,
  TSR_ENTRY_CHUNKED_GEMM,
  TSR_ENTRY_CHUNKED_SCATTER_ADD
};

/* Most of a program is data: lists of calls, which the runtime makes one by
 * one. A call is a tsr_abi_call, then a word for each buffer, then a word for
 * each computed argument. */
typedef struct tsr_abi_call {
  int32_t entry;     /* TSR_ENTRY_* */
  int32_t kernel;    /* its number; it is buffers[0]. -1: none */
  int32_t buffers;   /* words behind this */
  int32_t arguments; /* of the entry */
  int32_t first;     /* of these in the table of all */
  int32_t computed;  /* words behind those of buffers */
} tsr_abi_call;

/* A buffer's word: its offset in the arena, and above TSR_BUFFER_OFFSET_BITS
 * the scalar that is added to it; scalar 0 is zero. */
enum { TSR_BUFFER_OFFSET_BITS = 48, TSR_NO_BUFFER = -1 };

/* A computed argument's word: its index, and above 32 bits the scalar that is
 * added to what the table holds. */
typedef struct tsr_abi_calls {
  int64_t count;
  int64_t first_op;         /* index of the first call in "ops" */
  const void *words;        /* the calls, without gaps */
  const int64_t *arguments; /* those of all lists */
  void *const *kernels;
} tsr_abi_calls;

struct tsr_abi_frame;

/* Makes the calls, up to the first status that is not zero, which it returns.
 * `scalars` is what the program computed for this list. */
typedef int32_t (*tsr_abi_run)(const struct tsr_abi_frame *frame,
                               const tsr_abi_calls *calls,
                               const int64_t *scalars);

/* What one rank hands to its program, for one optimizer step. */
typedef struct tsr_abi_frame {
  const tsr_abi_api *api;
  void *context;              /* the rank; passed on to every entry */
  unsigned char *arena;       /* all of the rank's buffers, 64-byte aligned */
  int64_t step;               /* optimizer step, from 0 */
  int64_t seed;               /* of dropout */
  const int64_t *coordinates; /* of the rank, one per mesh axis, mesh order */
  tsr_abi_run run;
} tsr_abi_frame;

/* The symbol that a program exports: one optimizer step of one rank. */
#define TSR_PROGRAM_STEP "tsr_program_step"
typedef int32_t (*tsr_abi_program)(const tsr_abi_frame *frame);

/* -------------------------------------------------- arguments of entries ---
 * Sizes, strides and leading dimensions are in elements. */

/* launch: run `kernel` over [0, COUNT) on the rank's threads, in ranges that
 * are multiples of GRAIN (the last may be shorter). buffers[0] is the kernel,
 * the rest are its buffers. Its scalars start at args[TSR_LAUNCH_SCALARS].
 * In a program for an accelerator buffers[0] is a tsr_abi_device_kernel. */
enum { TSR_LAUNCH_COUNT = 0, TSR_LAUNCH_GRAIN, TSR_LAUNCH_SCALARS };

/* gemm: row-major C[m,n] = op(A) op(B) (+ C if ACCUMULATE) (+ bias[n] if bias
 * is not null), for BATCH matrices at the given strides.
 * op(A) is [m,k]; with TRANS_A, A is stored as [k,m]. op(B) is [k,n]; with
 * TRANS_B, B is stored as [n,k]. A and B have dtype AB, C and bias dtype C.
 * bf16 products accumulate in f32. buffers: a, b, c, bias (may be null). */
enum {
  TSR_GEMM_M = 0,
  TSR_GEMM_N,
  TSR_GEMM_K,
  TSR_GEMM_LDA,
  TSR_GEMM_LDB,
  TSR_GEMM_LDC,
  TSR_GEMM_TRANS_A,
  TSR_GEMM_TRANS_B,
  TSR_GEMM_ACCUMULATE,
  TSR_GEMM_DTYPE_AB,
  TSR_GEMM_DTYPE_C,
  TSR_GEMM_BATCH,
  TSR_GEMM_STRIDE_A,
  TSR_GEMM_STRIDE_B,
  TSR_GEMM_STRIDE_C,
  TSR_GEMM_ARGS
};

/* attention: O = dropout(softmax(SCALE Q K^T + mask)) V per batch and head.
 * Element (b, s, n, d) of Q lies at q[(b*SEQ_Q + s)*ROW_Q + n*HEAD_DIM + d];
 * K, V, O alike with their own row strides (so that Q, K, V may be slices of
 * one fused buffer). Query head n reads key/value head n / (HEADS / KV_HEADS).
 * LSE[b, n, s] (f32; f64 for f64 data) is the log-sum-exp of the scaled,
 * masked scores. CAUSAL: query s sees keys t <= QUERY_START + s: the queries
 * are a slice of QUERIES_TOTAL positions. SCALE_BITS and DROPOUT_BITS are the
 * bits of doubles. Dropout keeps element (b, n, s, t) where philox(index, key)
 * >= p 2^32 and scales by 1/(1-p), with index = (((BATCH_START + b) *
 * HEADS_TOTAL + HEAD_START + n) * QUERIES_TOTAL
 *            + QUERY_START + s) * SEQ_K + t,   key = tsr_abi_stream(SEED, STEP,
 * STREAM). forward buffers:  q, k, v, o, lse backward buffers: d_o, q, k, v, o,
 * lse, d_q, d_k, d_v (d_q, d_k, d_v have the row strides of q, k, v given as
 * ROW_DQ...).
 * With KEYS_TOTAL the keys are a slice, too: SEQ_K of so many positions, from
 * KEY_START on; both count in the mask (keys KEY_START + t) and in the index of
 * dropout. The result for all keys is made slice by slice; it is contiguous,
 * and f32 where q is bf16. EARLIER is 0 for the first slice, of which a query
 * must see a key; with 1, o and lse hold the result for the slices before and
 * become that with this one. In backward o and lse are final, of q's type; with
 * EARLIER d_q is added to what it holds, with EARLIER_KEYS d_k and d_v are.
 * BUCKETS > 0: a table [BUCKETS, HEADS] in the type of LSE adds a bias by
 * distance to the scaled scores: table[bucket(t - QUERY_START - s), n], where
 * HEADS are the local ones. With m buckets of a direction (BUCKETS if CAUSAL,
 * else half of them: keys behind the query have the second half) distance x is
 * in bucket x below e = m/2, else in min(m - 1, e + floor(log(x/e) /
 * log(MAX_DISTANCE/e) * (m - e))), in f32 (Raffel et al. 2020, as Hugging Face
 * computes it). One more forward buffer: table; two more backward: table,
 * d_table. */
enum {
  TSR_ATTENTION_BATCH = 0,
  TSR_ATTENTION_HEADS,
  TSR_ATTENTION_KV_HEADS,
  TSR_ATTENTION_SEQ_Q,
  TSR_ATTENTION_SEQ_K,
  TSR_ATTENTION_HEAD_DIM,
  TSR_ATTENTION_ROW_Q,
  TSR_ATTENTION_ROW_K,
  TSR_ATTENTION_ROW_V,
  TSR_ATTENTION_ROW_O,
  TSR_ATTENTION_ROW_DQ,
  TSR_ATTENTION_ROW_DK,
  TSR_ATTENTION_ROW_DV,
  TSR_ATTENTION_ROW_DO,
  TSR_ATTENTION_CAUSAL,
  TSR_ATTENTION_SCALE_BITS,
  TSR_ATTENTION_DTYPE,
  TSR_ATTENTION_DROPOUT_BITS,
  TSR_ATTENTION_SEED,
  TSR_ATTENTION_STEP,
  TSR_ATTENTION_STREAM,
  TSR_ATTENTION_BATCH_START,
  TSR_ATTENTION_HEAD_START,
  TSR_ATTENTION_HEADS_TOTAL,
  TSR_ATTENTION_QUERY_START,
  TSR_ATTENTION_QUERIES_TOTAL,
  TSR_ATTENTION_KEY_START,
  TSR_ATTENTION_KEYS_TOTAL, /* 0: the keys are no slice */
  TSR_ATTENTION_EARLIER,
  TSR_ATTENTION_EARLIER_KEYS,
  TSR_ATTENTION_BUCKETS,
  TSR_ATTENTION_MAX_DISTANCE,
  TSR_ATTENTION_ARGS
};

/* scatter_add: table[ids[r] - START, :] += src[r, :] for r < ROWS where
 * 0 <= ids[r] - START < VALID; other rows are skipped. table is
 * [TABLE_ROWS, COLS]. Deterministic: rows are added in order of r.
 * buffers: src (DTYPE_SRC), ids (i32), table (DTYPE_TABLE). */
enum {
  TSR_SCATTER_ROWS = 0,
  TSR_SCATTER_COLS,
  TSR_SCATTER_START,
  TSR_SCATTER_VALID,
  TSR_SCATTER_DTYPE_SRC,
  TSR_SCATTER_DTYPE_TABLE,
  TSR_SCATTER_ARGS
};

/* chunked_gemm, chunked_scatter_add: as gemm and scatter_add, but CHUNKS equal
 * pieces of what is added are summed one by one, and their sums as a balanced
 * tree, (0 + 1) + (2 + 3), before bias, then C, or the table is added: ranks
 * with parts of the tree get the bits of one with all. CHUNKS is a power of 2.
 * k of gemm is [OUTER, CHUNKS, rest], rows of scatter_add [CHUNKS, rest]. */
enum {
  TSR_CHUNKED_GEMM_CHUNKS = TSR_GEMM_ARGS,
  TSR_CHUNKED_GEMM_OUTER,
  TSR_CHUNKED_GEMM_ARGS
};
enum { TSR_SCATTER_CHUNKS = TSR_SCATTER_ARGS, TSR_CHUNKED_SCATTER_ARGS };

/* fill: set BYTES bytes of buffers[0] to zero. */
enum { TSR_FILL_BYTES = 0, TSR_FILL_ARGS };

/* copy: rows of bytes, buffers: src, dst. Row i of ROWS rows of ROW_BYTES is
 * read at src + i*SRC_STRIDE and written at dst + i*DST_STRIDE (bytes). */
enum {
  TSR_COPY_ROWS = 0,
  TSR_COPY_ROW_BYTES,
  TSR_COPY_SRC_STRIDE,
  TSR_COPY_DST_STRIDE,
  TSR_COPY_ARGS
};

/* Collectives run over the ranks that differ from this one only on the mesh
 * axes whose bits are set in AXES (bit i: axis i of the mesh). Ranks of a group
 * are ordered as in the mesh. Reductions add in that order, a tree on the CPU,
 * so every rank gets the same bits; bf16 adds in f32 and rounds once.
 * all_reduce: buffers: data, in place, COUNT elements.
 * all_gather: a dimension of the result is concatenated from the ranks:
 *   src is [OUTER, COUNT], dst is [OUTER, n, COUNT]. buffers: src, dst.
 * reduce_scatter: src is [OUTER, n, COUNT], dst is [OUTER, COUNT].
 * all_to_all: one dimension is gathered, another is scattered. With
 *   GATHERS_OUTER the gathered one is the outer of the two: src is
 *   [OUTER, ROWS, n, COUNT], dst is [OUTER, n, ROWS, COUNT], and rank r's
 *   dst[:, k, :, :] is rank k's src[:, :, r, :]. Else the other way round.
 *   buffers: src, dst, gates. Where gates are not null the result is
 *   [GATED_EXPERTS, GATED_TOKENS, GATED_ROW] and gates are [GATED_TOKENS,
 *   GATED_EXPERTS] of type DTYPE_GATES: rows whose gate is zero are not
 *   moved, and are set to zero.
 * broadcast: buffers: data, in place; COUNT elements of the member whose
 *   coordinate on the one axis in AXES is ROOT go to the others.
 * shift: dst gets the COUNT elements of src of the member before, the first
 *   member those of the last; AXES is one axis. buffers: src, dst.
 * zigzag: a dimension is cut into 2n chunks. Member r has chunks 2r and 2r + 1
 *   in whole [OUTER, 2, COUNT]; in early and late [OUTER, COUNT] it has chunks
 *   r and 2n - 1 - r. Makes the latter of the former, or with MAKES_WHOLE the
 *   other way round. AXES is one axis. buffers: whole, early, late.
 * With ASYNC the call returns at once. Until `wait` returns nobody may write
 * what the collective reads, or touch what it writes. Collectives that are
 * started run one after the other, in the order of their starts, which is the
 * same on all ranks.
 * wait: until the collective is done whose result is buffers[0]; args is
 * null. A program waits for all that it starts. */
enum {
  TSR_COLLECTIVE_AXES = 0,
  TSR_COLLECTIVE_COUNT,
  TSR_COLLECTIVE_DTYPE,
  TSR_COLLECTIVE_REDUCTION,
  TSR_COLLECTIVE_OUTER,
  TSR_COLLECTIVE_ASYNC,
  TSR_COLLECTIVE_ROWS, /* all_to_all only, as the next */
  TSR_COLLECTIVE_GATHERS_OUTER,
  TSR_COLLECTIVE_ROOT,
  TSR_COLLECTIVE_GATED_EXPERTS, /* all_to_all with gates only, as the next */
  TSR_COLLECTIVE_GATED_TOKENS,
  TSR_COLLECTIVE_GATED_ROW,
  TSR_COLLECTIVE_DTYPE_GATES,
  TSR_COLLECTIVE_MAKES_WHOLE, /* zigzag only */
  TSR_COLLECTIVE_ARGS
};

/* routed: mixtures of experts. g are gates [TOKENS, EXPERTS] (f32, or f64 with
 * f64 data), zero where a token t is not routed to an expert x; "rows" are
 * [EXPERTS, TOKENS, ..]. Only rows whose gate is not zero are read or computed,
 * the others of a result are set to zero. KIND:
 * TOP_K: g[t, x] = exp(l[t, x]) / sum over the K largest of row t, else zero;
 *   of equal logits the first is larger. buffers: l, g.
 * DISPATCH: rows[x, t, :] = tokens[t, :], if WEIGHTED times g[t, x].
 *   buffers: tokens, g, rows. COLUMNS elements of a row.
 * COLLECT: tokens[t, :] = sum over x of rows[x, t, :], if WEIGHTED times
 *   g[t, x]. buffers: rows, g, tokens.
 * COLLECT_GRAD_GATES: dg[t, x] = sum over c of grad[t, c] rows[x, t, c].
 *   buffers: grad, rows, g, dg.
 * PRODUCT: c[x, t, :] = a[x, t, :] w[x]^T with w[x] of [COLUMNS, INNER], or
 *   with TRANSPOSED of [INNER, COLUMNS]. buffers: a, w, g, c.
 * PRODUCT_GRAD_WEIGHT: dw[x] of [COLUMNS, INNER] = sum over t of the products
 *   grad[x, t, :]^T a[x, t, :]. buffers: grad, a, g, dw.
 * DTYPE_IN is that of all operands but the gates, DTYPE_OUT the result's. */
enum {
  TSR_ROUTED_TOP_K = 0,
  TSR_ROUTED_DISPATCH,
  TSR_ROUTED_COLLECT,
  TSR_ROUTED_COLLECT_GRAD_GATES,
  TSR_ROUTED_PRODUCT,
  TSR_ROUTED_PRODUCT_GRAD_WEIGHT
};
enum {
  TSR_ROUTED_KIND = 0,
  TSR_ROUTED_TOKENS,
  TSR_ROUTED_EXPERTS,
  TSR_ROUTED_COLUMNS,
  TSR_ROUTED_INNER,
  TSR_ROUTED_K,
  TSR_ROUTED_WEIGHTED,
  TSR_ROUTED_TRANSPOSED,
  TSR_ROUTED_DTYPE_IN,
  TSR_ROUTED_DTYPE_OUT,
  TSR_ROUTED_ARGS
};

/* send, receive: BYTES bytes of buffers[0] to or from the rank whose coordinate
 * on mesh axis number AXIS is PEER and whose others are this rank's. A send
 * ends when the peer has received; messages of a pair meet in order. */
enum {
  TSR_MESSAGE_AXIS = 0,
  TSR_MESSAGE_PEER,
  TSR_MESSAGE_BYTES,
  TSR_MESSAGE_ARGS
};

/* ---------------------------------------------------------- randomness ---
 * Random numbers are Philox4x32-10 (Salmon et al. 2011): counter = (index low,
 * index high, 0, 0), key = (key low, key high); the first output word is used.
 * The key of a stream mixes seed, step and stream so that none repeats:
 * splitmix64 finalizer of (seed + 0x9E3779B97F4A7C15 * (step + 1))
 * xor-ed with 0xD1B54A32D192ED03 * (stream + 1), finalized again. Initial
 * values use step -1, so (step + 1) is 0. */
static inline uint64_t tsr_abi_mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
static inline uint64_t tsr_abi_stream(int64_t seed, int64_t step,
                                      int64_t stream) {
  uint64_t a =
      tsr_abi_mix((uint64_t)seed + 0x9E3779B97F4A7C15u * (uint64_t)(step + 1));
  return tsr_abi_mix(a ^ (0xD1B54A32D192ED03u * (uint64_t)(stream + 1)));
}

#ifdef __cplusplus
}
#endif
#endif /* TESSERA_ABI_H */
