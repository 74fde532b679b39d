/* FixtureProgram.c - a small real program, as the compiler would emit one.
 * Compiled once per mesh: DP and TP are macros. */
#include "FixtureLayout.h"
#include "tessera/abi.h"

#include <math.h>
#include <time.h>

#define AT(field) ((float *)(frame->arena + l.field))

static void update(void *const *buffers, const int64_t *scalars, int64_t begin,
                   int64_t end) {
  float *w = buffers[0], *m1 = buffers[1], *m2 = buffers[2];
  const float *g = buffers[3], *lr = buffers[4], *bc1 = buffers[5],
              *bc2 = buffers[6];
  (void)scalars;
  for (int64_t i = begin; i < end; ++i) {
    m1[i] = 0.9f * m1[i] + 0.1f * g[i];
    m2[i] = 0.95f * m2[i] + 0.05f * g[i] * g[i];
    w[i] -= *lr * (m1[i] * *bc1) / (sqrtf(m2[i] * *bc2) + 1e-8f);
  }
}

static int32_t launch_update(const tsr_abi_frame *frame, void *w, void *m1,
                             void *m2, void *g, int64_t count) {
  struct fixture_layout l = fixture_layout_of(DP, TP);
  void *buffers[] = {(void *)update, w, m1, m2, g, AT(lr), AT(bc1), AT(bc2)};
  int64_t args[] = {count, 1, 0};
  return frame->api->launch(frame->context, OP_UPDATE, buffers, args);
}

static void backward(const tsr_abi_frame *frame, struct fixture_layout l) {
  const int32_t *ids = (int32_t *)AT(ids), *labels = (int32_t *)AT(labels);
  float *g = AT(gradient), *sums = AT(sums);
  long first = frame->coordinates[1] * l.rows;
  sums[0] = sums[1] = 0;
  for (long i = 0; i < l.tokens; ++i) {
    long row = ids[i] - first;
    if (row < 0 || row >= l.rows)
      continue;
    float diff = AT(w)[row] + *AT(bias) - (float)labels[i] / V;
    g[row] += diff / (BATCH * SEQUENCE);
    sums[0] += 0.5f * diff * diff / (BATCH * SEQUENCE);
    sums[1] += diff / (BATCH * SEQUENCE);
  }
}

static int32_t misbehave(const tsr_abi_frame *frame, int fault) {
  void *none[4] = {0};
  int64_t args[TSR_GEMM_ARGS] = {0};
  struct timespec stall = {3, 0};
  if (fault == FAULT_ERROR)
    return 7;
  if (fault == FAULT_STALL)
    nanosleep(&stall, 0);
  if (fault == FAULT_GEMM) {
    args[TSR_GEMM_DTYPE_AB] = 99;
    args[TSR_GEMM_M] = args[TSR_GEMM_N] = args[TSR_GEMM_K] = -1;
    return frame->api->gemm(frame->context, OP_GEMM, none, args);
  }
  return 0;
}

__attribute__((visibility("default"))) int32_t
tsr_program_step(const tsr_abi_frame *frame) {
  struct fixture_layout l = fixture_layout_of(DP, TP);
  const tsr_abi_api *api = frame->api;
  int64_t dp = frame->coordinates[0], tp = frame->coordinates[1];
  int fault = (int)AT(fault)[dp * TP + tp];
  int32_t code;

  void *gradient[] = {AT(gradient), AT(scattered)};
  int64_t fill[] = {l.part * DP * 4};
  if ((code = api->fill(frame->context, OP_FILL, gradient, fill)))
    return code;
  backward(frame, l);
  int64_t scatter[TSR_COLLECTIVE_ARGS] = {
      1, l.part, TSR_DTYPE_F32, TSR_REDUCE_SUM, 1, 0};
  if ((code =
           api->reduce_scatter(frame->context, OP_SCATTER, gradient, scatter)))
    return code;

  if ((code = misbehave(frame, fault)) || fault == FAULT_LEAVE)
    return code;
  if (fault == FAULT_NAN)
    AT(sums)[0] = NAN;
  void *sums[] = {AT(sums)};
  int64_t reduce[TSR_COLLECTIVE_ARGS] = {
      3, fault == FAULT_DISAGREE ? 1 : 2, TSR_DTYPE_F32, TSR_REDUCE_SUM, 1, 0};
  if ((code = api->all_reduce(frame->context, OP_SUMS, sums, reduce)))
    return code;
  *AT(loss) = AT(sums)[0];

  float *norm = AT(norm), bias_gradient = AT(sums)[1];
  norm[0] = 0;
  for (long i = 0; i < l.part; ++i)
    norm[0] += AT(scattered)[i] * AT(scattered)[i];
  void *norms[] = {norm};
  int64_t one[TSR_COLLECTIVE_ARGS] = {3, 1, TSR_DTYPE_F32, TSR_REDUCE_SUM,
                                      1, 0};
  if ((code = api->all_reduce(frame->context, OP_NORM, norms, one)))
    return code;
  norm[0] = sqrtf(norm[0] + bias_gradient * bias_gradient);

  /* The rank's part of w is updated in the gradient's place, then gathered. */
  float *own = AT(gradient) + dp * l.part;
  for (long i = 0; i < l.part; ++i)
    own[i] = dp * l.part + i < l.rows ? AT(w)[dp * l.part + i] : 0;
  if ((code =
           launch_update(frame, own, AT(m1), AT(m2), AT(scattered), l.part)) ||
      (code = launch_update(frame, AT(bias), AT(bias_m1), AT(bias_m2),
                            AT(sums) + 1, 1)))
    return code;
  void *gather[] = {own, AT(gradient)};
  int64_t parts[TSR_COLLECTIVE_ARGS] = {
      1, l.part, TSR_DTYPE_F32, TSR_REDUCE_SUM, 1, 0};
  if ((code = api->all_gather(frame->context, OP_GATHER, gather, parts)))
    return code;
  void *copy[] = {AT(gradient), AT(w)};
  int64_t rows[] = {1, l.rows * 4, 0, 0};
  return api->copy(frame->context, OP_COPY, copy, rows);
}
