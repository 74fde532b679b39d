/*===- FixtureLayout.h - the arena of the fixture program -----------------===*\
|* Shared by the program (C) and the builder of its artifact (C++). The model *|
|* predicts label / V of a token by w[id] + bias, squared loss, Adam. w is    *|
|* S(0) on tp; its moments are cut once more over dp, as ZeRO does.           *|
\*===----------------------------------------------------------------------===*/
#ifndef TESSERA_TEST_RUNTIME_FIXTURELAYOUT_H
#define TESSERA_TEST_RUNTIME_FIXTURELAYOUT_H

#define CEIL(a, b) (((a) + (b)-1) / (b))
#define LINE(bytes) (CEIL(bytes, 64) * 64)

enum { V = 10, BATCH = 8, SEQUENCE = 4, MICRO_BATCHES = 2, MAX_RANKS = 8 };

struct fixture_layout {
  long rows, part, tokens; /* of w and of its moments on a rank; of the rank */
  long w, bias, m1, m2, bias_m1, bias_m2, ids, labels, lr, bc1, bc2, loss, norm,
      fault, gradient, scattered, sums, bytes;
};

static inline struct fixture_layout fixture_layout_of(long dp, long tp) {
  struct fixture_layout l;
  long end = 0;
  l.rows = CEIL(V, tp);
  l.part = CEIL(l.rows, dp);
  l.tokens = BATCH * SEQUENCE / dp;
#define PLACE(field, count)                                                    \
  l.field = end;                                                               \
  end += LINE((count)*4);
  PLACE(w, l.rows)
  PLACE(bias, 1)
  PLACE(m1, l.part)
  PLACE(m2, l.part)
  PLACE(bias_m1, 1)
  PLACE(bias_m2, 1)
  PLACE(ids, l.tokens)
  PLACE(labels, l.tokens)
  PLACE(lr, 1)
  PLACE(bc1, 1)
  PLACE(bc2, 1)
  PLACE(loss, 1)
  PLACE(norm, 1)
  PLACE(fault, MAX_RANKS)
  PLACE(gradient, l.part * dp)
  PLACE(scattered, l.part)
  PLACE(sums, 2)
#undef PLACE
  l.bytes = end;
  return l;
}

/* What the test may put into fault[rank]. */
enum {
  FAULT_NONE = 0,
  FAULT_ERROR,    /* returns 7 */
  FAULT_LEAVE,    /* returns 0 before the second collective */
  FAULT_STALL,    /* sleeps for 3 s before the second collective */
  FAULT_NAN,      /* the loss is NaN */
  FAULT_DISAGREE, /* calls the second collective with another count */
  FAULT_GEMM      /* calls an entry that refuses */
};

/* Indices into the metadata's ops. */
enum {
  OP_FILL,
  OP_SCATTER,
  OP_SUMS,
  OP_UPDATE,
  OP_GATHER,
  OP_COPY,
  OP_NORM,
  OP_GEMM,
  OP_COUNT
};

#endif
