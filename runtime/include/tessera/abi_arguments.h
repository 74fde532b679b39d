/*===- abi_arguments.h - what the runtime's entries are given -------------===*\
|* Part of abi.h, which says what an entry is.                                *|
\*===----------------------------------------------------------------------===*/
#ifndef TESSERA_ABI_ARGUMENTS_H
#define TESSERA_ABI_ARGUMENTS_H

/* -------------------------------------------------- arguments of entries ---
 * Sizes, strides and leading dimensions are in elements. */

/* launch: run `kernel` over [0, COUNT) on the rank's threads, in ranges that
 * are multiples of GRAIN (the last may be shorter). buffers[0] is the kernel,
 * the rest are its buffers. Its scalars start at args[TSR_LAUNCH_SCALARS].
 * In a program for an accelerator buffers[0] is a tsr_abi_device_kernel, and
 * the next FOLLOWERS launches are of the same kernel and may run at the same
 * time: none of them touches what another one writes. */
enum {
  TSR_LAUNCH_COUNT = 0,
  TSR_LAUNCH_GRAIN,
  TSR_LAUNCH_FOLLOWERS,
  TSR_LAUNCH_SCALARS
};

/* gemm: row-major C[m,n] = op(A) op(B) (+ C if ACCUMULATE) (+ bias[n] if bias
 * is not null), for BATCH matrices at the given strides.
 * op(A) is [m,k]; with TRANS_A, A is stored as [k,m]. op(B) is [k,n]; with
 * TRANS_B, B is stored as [n,k]. A and B have dtype AB, C and bias dtype C.
 * With INT8_B, B is integers of i8, without BATCH, EPILOGUE, SUMS and TRANS_A.
 * bf16 products accumulate in f32. With BATCH 1 one of these may be asked for:
 * EPILOGUE GELU: aux[m,n] becomes op(A) op(B) (+ bias), and C its gelu_tanh;
 * EPILOGUE GELU_GRAD: C = op(A) op(B) * gelu_tanh'(aux), without bias;
 *   neither has ACCUMULATE. gelu_tanh(x) = 0.5 x (1 + tanh(sqrt(2/pi) (x +
 *   0.044715 x^3))). aux has dtype C and rows LD_AUX apart. What the function
 *   is taken of, and what it is multiplied by, may be rounded to dtype C first.
 * SUMS A: sums[m] = sum over k of op(A); SUMS B: sums[n] = that of op(B); of
 *   dtype C, without bias and EPILOGUE.
 * buffers: a, b, c, bias, aux, sums; null where there is none. */
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
  TSR_GEMM_EPILOGUE,
  TSR_GEMM_LD_AUX,
  TSR_GEMM_SUMS,
  TSR_GEMM_INT8_B,
  TSR_GEMM_ARGS
};
enum {
  TSR_GEMM_EPILOGUE_NONE = 0,
  TSR_GEMM_EPILOGUE_GELU,
  TSR_GEMM_EPILOGUE_GELU_GRAD
};
enum { TSR_GEMM_SUMS_NONE = 0, TSR_GEMM_SUMS_A, TSR_GEMM_SUMS_B };

/* attention: O = dropout(softmax(SCALE Q K^T + mask)) V per batch and head.
 * Element (b, s, n, d) of Q lies at q[(b*SEQ_Q + s)*ROW_Q + n*HEAD_DIM + d];
 * K, V, O alike with their own row strides (so that Q, K, V may be slices of
 * one fused buffer). Query head n reads key/value head n / (HEADS / KV_HEADS).
 * LSE[b, n, s] (f32; f64 for f64 data) is the log-sum-exp of the scaled,
 * masked scores. CAUSAL: query s sees keys t <= QUERY_START + s: the queries
 * are a slice of QUERIES_TOTAL positions. With CAUSAL and WINDOW > 0 it sees
 * only the last WINDOW of them: QUERY_START + s - WINDOW < t. A query that sees
 * no key has output 0, LSE -infinity and gradient 0. SCALE_BITS and
 * DROPOUT_BITS are the bits of doubles. Dropout keeps element (b, n, s, t)
 * where philox(index, key)
 * >= p 2^32 and scales by 1/(1-p), with index = (((BATCH_START + b) *
 * HEADS_TOTAL + HEAD_START + n) * QUERIES_TOTAL
 *            + QUERY_START + s) * SEQ_K + t,   key = tsr_abi_stream(SEED, STEP,
 * STREAM). forward buffers:  q, k, v, o, lse backward buffers: d_o, q, k, v, o,
 * lse, d_q, d_k, d_v (d_q, d_k, d_v have the row strides of q, k, v given as
 * ROW_DQ...).
 * With KEYS_TOTAL the keys are a slice, too: SEQ_K of so many positions, from
 * KEY_START on; both count in the mask (keys KEY_START + t) and in the index of
 * dropout. The result for all keys is made slice by slice; it is contiguous,
 * and f32 where q is bf16. EARLIER is 0 for the first slice, which with
 * CAUSAL must not begin after the first query; with 1, o and lse hold the
 * result for the slices before and become that with this one. In backward o and
 * lse are final, of q's type; with EARLIER d_q is added to what it holds, with
 * EARLIER_KEYS d_k and d_v are. BUCKETS > 0: a table [BUCKETS, HEADS] in the
 * type of LSE adds a bias by distance to the scaled scores: table[bucket(t -
 * QUERY_START - s), n], where HEADS are the local ones. With m buckets of a
 * direction (BUCKETS if CAUSAL, else half of them: keys after the query have
 * the second half) distance x is in bucket x below e = m/2, else in min(m - 1,
 * e + floor(log(x/e) / log(MAX_DISTANCE/e) * (m - e))), in f32 (Raffel et al.
 * 2020, as Hugging Face computes it). One more forward buffer: table; two more
 * backward: table, d_table. SEGMENTS: a query sees only keys of its own
 * segment, and -1 is padding, which no query sees and which sees no key. Two
 * more buffers, the last ones, of i32: segments of queries [BATCH, SEQ_Q] and
 * of keys [BATCH, SEQ_K]; with KEYS_TOTAL those of all positions, [BATCH,
 * QUERIES_TOTAL] and [BATCH, KEYS_TOTAL]. */
enum {
#define TSR_ATTENTION_ARGUMENT(NAME, name, TYPE) TSR_ATTENTION_##NAME,
#include "tessera/abi_attention.def"
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
 * exchange_rows: compact rows (see routed) of COUNT elements, ROWS of them in
 *   src and TARGET_ROWS in dst. With TO_EXPERTS src are rows of this rank's
 *   tokens, and dst those of all ranks' tokens for this rank's experts: rank r
 *   has the r-th of n equal parts of the experts, and its tokens are the r-th
 *   part of all. Else the other way round. Source gates are [GATED_TOKENS,
 *   GATED_EXPERTS]; target gates have n times the tokens and 1/n of the
 *   experts, or the other way round. What is left of dst is set to zero. With
 *   ROUND n gates are numbers of rounds (see routed): only rows of round n go,
 *   and the side of the experts has no others; on the other side they stay.
 *   buffers: src, dst, source gates, target gates.
 * broadcast: buffers: data, in place; COUNT elements of the member whose
 *   coordinate on the one axis in AXES is ROOT go to the others.
 * shift: dst gets the COUNT elements of src of the member DISTANCE before,
 * where the last is before the first; AXES is one axis. buffers: src, dst.
 * zigzag: a dimension is cut into 2n chunks. Member r has chunks 2r and 2r + 1
 *   in whole [OUTER, 2, COUNT]; in early and late [OUTER, COUNT] it has chunks
 *   r and 2n - 1 - r. Makes the latter of the former, or with MAKES_WHOLE the
 *   other way round. AXES is one axis. buffers: whole, early, late.
 * all_gather_coalesced, reduce_scatter_coalesced: all_gather or reduce_scatter
 *   of MEMBERS tensors in one call, each of its own sizes and type; COUNT is
 *   that of all, DTYPE that of the first. buffers: the sources of all members,
 *   then their results.
 * With ASYNC the call returns at once. Until `wait` returns nobody may write
 * what the collective reads, or touch what it writes. Collectives and messages
 * that are started run one after the other, in the order of their starts, which
 * is the same on all ranks of a collective.
 * wait: until the call is done whose first result, or whose token, is
 * buffers[0]; args is null. A program waits for all that it starts. */
enum {
  TSR_COLLECTIVE_AXES = 0,
  TSR_COLLECTIVE_COUNT,
  TSR_COLLECTIVE_DTYPE,
  TSR_COLLECTIVE_REDUCTION,
  TSR_COLLECTIVE_OUTER,
  TSR_COLLECTIVE_ASYNC,
  TSR_COLLECTIVE_ROWS,          /* all_to_all, exchange_rows */
  TSR_COLLECTIVE_GATHERS_OUTER, /* all_to_all only */
  TSR_COLLECTIVE_ROOT,
  TSR_COLLECTIVE_GATED_EXPERTS, /* this and the next: if there are gates */
  TSR_COLLECTIVE_GATED_TOKENS,
  TSR_COLLECTIVE_GATED_ROW,
  TSR_COLLECTIVE_DTYPE_GATES,
  TSR_COLLECTIVE_MAKES_WHOLE, /* zigzag only */
  TSR_COLLECTIVE_DISTANCE,    /* shift only */
  TSR_COLLECTIVE_TARGET_ROWS, /* exchange_rows only, as the next */
  TSR_COLLECTIVE_TO_EXPERTS,
  TSR_COLLECTIVE_ROUND, /* 0: there are none */
  TSR_COLLECTIVE_ARGS
};

/* A coalesced collective has the arguments of one, then MEMBERS, then from
 * SIZES on so many for each member. */
enum { TSR_COALESCED_MEMBERS = TSR_COLLECTIVE_ARGS, TSR_COALESCED_SIZES };
enum {
  TSR_MEMBER_COUNT = 0,
  TSR_MEMBER_OUTER,
  TSR_MEMBER_DTYPE,
  TSR_MEMBER_ARGS
};

/* routed: mixtures of experts. g are gates [TOKENS, EXPERTS] (f32, or f64 with
 * f64 data), zero where a token t is not routed to an expert x; "rows" are
 * [EXPERTS, TOKENS, ..]. Only rows whose gate is not zero are read or computed,
 * the others of a result are set to zero. Where ROWS is not zero, rows are
 * compact: they are [ROWS, ..], those whose gate is not zero, in order of
 * experts and then of tokens; what is left of a result is set to zero. It is an
 * error if gates route more. KIND:
 * TOP_K: g[t, x] = exp(l[t, x]) / sum over the K largest of row t, else zero;
 *   of equal logits the first is larger, and NaN is larger than numbers.
 *   buffers: l, g.
 * DISPATCH: rows[x, t, :] = tokens[t, :], if WEIGHTED times g[t, x].
 *   buffers: tokens, g, rows. COLUMNS elements of a row.
 * COLLECT: tokens[t, :] = sum over x of rows[x, t, :], if WEIGHTED times
 *   g[t, x]. buffers: rows, g, tokens.
 * COLLECT_GRAD_GATES: dg[t, x] = sum over c of grad[t, c] rows[x, t, c].
 *   buffers: grad, rows, g, dg.
 * PRODUCT: c[x, t, :] = a[x, t, :] w[x]^T with w[x] of [COLUMNS, INNER], or
 *   with TRANSPOSED of [INNER, COLUMNS]. buffers: a, w, g, c. With INT8 w is
 *   integers of i8, and what is summed is multiplied by s[x, :] before it is
 *   rounded, f32 scales [EXPERTS, COLUMNS] (f64 with f64 data). buffers: a, w,
 *   s, g, c.
 * PRODUCT_GRAD_WEIGHT: dw[x] of [COLUMNS, INNER] = sum over t of the products
 *   grad[x, t, :]^T a[x, t, :]. buffers: grad, a, g, dw.
 * EXPAND: rows [EXPERTS, TOKENS, COLUMNS] of compact ones, of the same type.
 *   buffers: compact rows, g, rows.
 * ROUNDS: r[t, x] = 1 + p / ROWS, where p is the number of the row among those
 *   that are routed; zero where none is. MEMBERS equal parts of the tokens are
 *   numbered apart. buffers: g, r.
 * PACK: messages [MEMBERS, MESSAGE, COLUMNS] of compact ROWS. Message i has
 *   those of the i-th of MEMBERS equal parts of the tokens or, with OWN, of the
 *   experts, in their order. With OWN it lacks the first SENT of the part, and
 *   those that it has no room for; it is an error if a part has more than K
 *   rows, or than its experts, for each token. Without OWN it is an error if
 *   rows have no room. What is left of a message is not written.
 *   buffers: rows, g, messages.
 * UNPACK: the other way. What is left of the rows is set to zero, but with SENT
 *   stays as it is. buffers: messages, g, rows.
 * With ROUND n, g are numbers of rounds, and only rows of round n are routed:
 * of PRODUCT, PRODUCT_GRAD_WEIGHT, EXPAND, and PACK and UNPACK without OWN. The
 * results of PRODUCT_GRAD_WEIGHT and EXPAND hold those of the rounds before it,
 * which n > 1 adds to or leaves.
 * DTYPE_IN is that of all operands but gates, integers and scales, DTYPE_OUT
 * the result's. */
enum {
  TSR_ROUTED_TOP_K = 0,
  TSR_ROUTED_DISPATCH,
  TSR_ROUTED_COLLECT,
  TSR_ROUTED_COLLECT_GRAD_GATES,
  TSR_ROUTED_PRODUCT,
  TSR_ROUTED_PRODUCT_GRAD_WEIGHT,
  TSR_ROUTED_EXPAND,
  TSR_ROUTED_ROUNDS,
  TSR_ROUTED_PACK,
  TSR_ROUTED_UNPACK
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
  TSR_ROUTED_ROWS,
  TSR_ROUTED_ROUND,
  TSR_ROUTED_MEMBERS, /* PACK, UNPACK, ROUNDS; the next of the first two */
  TSR_ROUTED_MESSAGE,
  TSR_ROUTED_SENT,
  TSR_ROUTED_OWN,
  TSR_ROUTED_INT8, /* PRODUCT only */
  TSR_ROUTED_ARGS
};

/* Caches are [LANES, SLOTS, PLACES, elements of a position]; slots and
 * positions are i32 [LANES, ROWS]. Positions are dealt in turn to DEAL ranks,
 * each with PLACES places: the rank whose places are those from START on, of
 * all, has the positions p with p mod DEAL = START / PLACES, each at its place
 * p / DEAL mod PLACES. It writes and reads no other. One rank has DEAL 1, START
 * 0.
 * append: of each row s of lane b whose slot is not negative,
 *   cache[b, slots[b, s], place of positions[b, s]] = rows[b, s], a row of
 *   COLUMNS elements of DTYPE; those of `rows` are ROW apart. Rows of one lane
 *   have different places. buffers: cache, rows, slots, positions.
 * cached_attention: o[b, s, n] = softmax(SCALE q k^T) v over the places of the
 *   row's slot that hold positions from max(0, p - WINDOW + 1) (0 without a
 *   WINDOW) to p = positions[b, s]; 0 where the slot is negative. No other
 *   place is read. HEADS query heads of HEAD_DIM, rows of q ROW apart; keys and
 *   values are [.., KV_HEADS, HEAD_DIM], and query head n reads head n /
 *   (HEADS / KV_HEADS). o is contiguous. If it is WEIGHTED, it is f32 (f64 of
 *   f64) and has after each head log(sum of exp(SCALE q k)); over no place the
 *   head is 0 and that is -inf. BUCKETS > 0: a table [BUCKETS, HEADS] of f32
 *   (f64 of f64) adds table[bucket(p - j), n] to the score of the place of
 *   position j, with buckets to MAX_DISTANCE as those of a CAUSAL attention;
 *   then KV_HEADS is HEADS. The result of a row has the same bits whatever the
 *   other rows are. buffers: q, keys, values, slots, positions, o, and with
 *   BUCKETS the table.
 * A slot that is not below SLOTS, and a negative position of a row with a slot,
 * are errors.
 * merge_means: of RANKS such parts [ROWS, COLUMNS + 1] of DTYPE_IN, one after
 *   the other, m[r] = sum over k of w[k, r] part[k, r], where the logarithms of
 *   the weights w are the last column, divided by the sum of these; 0 if all
 *   are -inf. It is of DTYPE_OUT. If it is WEIGHTED, m has as a last column the
 *   logarithm of the sum of the weights. Sums over RANKS are balanced trees.
 *   buffers: parts, m. */
enum {
  TSR_APPEND_LANES = 0,
  TSR_APPEND_ROWS,
  TSR_APPEND_SLOTS,
  TSR_APPEND_PLACES,
  TSR_APPEND_COLUMNS,
  TSR_APPEND_ROW,
  TSR_APPEND_DTYPE,
  TSR_APPEND_DEAL,
  TSR_APPEND_START,
  TSR_APPEND_ARGS
};
enum {
#define TSR_CACHED_ATTENTION_ARGUMENT(NAME, name, TYPE)                        \
  TSR_CACHED_ATTENTION_##NAME,
#include "tessera/abi_cached_attention.def"
  TSR_CACHED_ATTENTION_ARGS
};
enum {
  TSR_MERGE_MEANS_RANKS = 0,
  TSR_MERGE_MEANS_ROWS,
  TSR_MERGE_MEANS_COLUMNS,
  TSR_MERGE_MEANS_WEIGHTED,
  TSR_MERGE_MEANS_DTYPE_IN,
  TSR_MERGE_MEANS_DTYPE_OUT,
  TSR_MERGE_MEANS_ARGS
};

/* Sampling. Rows of logits [ROWS, COLUMNS] of DTYPE (f32 or f64) are those of
 * indices START and on of the vocabulary; the first VALID of them are, the rest
 * is padding, which is not read.
 * penalize: of each row r whose penalties[r] is not 1, the logit x of each
 * index among tokens[r], TOKENS of i32, becomes x / penalties[r] if it is above
 * 0, else x * penalties[r], once. Indices that the rank does not have, negative
 *   ones too, are left out. buffers: logits, tokens, penalties of DTYPE.
 * top: of each row a list of COUNT candidates of DTYPE, the largest values
 *   first, of equal ones the smaller index first, each the value and the index
 *   in the vocabulary. NaN and -inf are none; the end of a list of too few is
 *   (-inf, TOTAL). If it is DRAWN, values are x * sharpness[r] + noise of
 * (seed, position, index), and a candidate has the logit x as a third number;
 *   draws[r] are the low and high half of the seed and the position, which if
 *   negative means no noise. buffers: logits, lists, and if it is DRAWN
 *   sharpness of DTYPE and draws, i32.
 * merge_top: of RANKS such parts [ROWS, COUNT, NUMBERS] of DTYPE, one after the
 *   other, for each row the best COUNT of all. buffers: parts, lists. */
enum {
  TSR_PENALIZE_ROWS = 0,
  TSR_PENALIZE_COLUMNS,
  TSR_PENALIZE_START,
  TSR_PENALIZE_VALID,
  TSR_PENALIZE_TOKENS,
  TSR_PENALIZE_DTYPE,
  TSR_PENALIZE_ARGS
};
enum {
  TSR_TOP_ROWS = 0,
  TSR_TOP_COLUMNS,
  TSR_TOP_START,
  TSR_TOP_VALID,
  TSR_TOP_TOTAL,
  TSR_TOP_COUNT,
  TSR_TOP_DRAWN,
  TSR_TOP_DTYPE,
  TSR_TOP_ARGS
};
enum {
  TSR_MERGE_TOP_RANKS = 0,
  TSR_MERGE_TOP_ROWS,
  TSR_MERGE_TOP_COUNT,
  TSR_MERGE_TOP_NUMBERS,
  TSR_MERGE_TOP_DTYPE,
  TSR_MERGE_TOP_ARGS
};

/* send, receive: BYTES bytes of a buffer to or from the rank whose coordinate
 * on mesh axis number AXIS is PEER and whose others are this rank's. buffers:
 * data, of a send also a token, which nobody reads: the name to wait for. A
 * send ends when the peer has received; messages of a pair meet in order. With
 * ASYNC the call returns at once, as that of a collective; then it is
 * asynchronous at both ends. */
enum {
  TSR_MESSAGE_AXIS = 0,
  TSR_MESSAGE_PEER,
  TSR_MESSAGE_BYTES,
  TSR_MESSAGE_ASYNC,
  TSR_MESSAGE_ARGS
};

#endif /* TESSERA_ABI_ARGUMENTS_H */
