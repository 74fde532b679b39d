#include "runtime/cuda/cudnn/AttentionGraph.h"

#include "tessera/abi.h"

#include <limits>

namespace tessera::cuda {

namespace {
/// Returns the layout [batch, heads, positions, head_dim] of rows with `row`
/// elements.
TensorLayout rowsOf(const AttentionCall &c, int64_t heads, int64_t positions,
                    int64_t row) {
  return {{c.batch, heads, positions, c.headDim},
          {positions * row, c.headDim, row, 1},
          CUDNN_DATA_BFLOAT16};
}

TensorLayout queryRows(const AttentionCall &c, int64_t row) {
  return rowsOf(c, c.heads, c.seqQ, row);
}

TensorLayout keyRows(const AttentionCall &c, int64_t row) {
  return rowsOf(c, c.kvHeads, c.seqK, row);
}

TensorLayout statisticsOf(const AttentionCall &c) {
  return TensorLayout::packed({c.batch, c.heads, c.seqQ, 1}, CUDNN_DATA_FLOAT);
}

TensorLayout scoresOf(const AttentionCall &c, cudnnDataType_t type) {
  return TensorLayout::packed({c.batch, c.heads, c.seqQ, c.seqK}, type);
}

/// Makes hidden scores as small as possible.
GraphTensor maskLater(GraphBuilder &graph, GraphTensor scores) {
  GraphTensor queries = graph.index(scores, 2);
  GraphTensor keys = graph.index(scores, 3);
  GraphTensor visible = graph.atLeast(queries, keys);
  return graph.select(visible, scores,
                      graph.scalar(std::numeric_limits<float>::lowest()));
}

} // namespace

const char *checkGraphAttention(const AttentionCall &c) {
  if (c.dtype != TSR_DTYPE_BF16)
    return "the type is not bf16";
  if (c.dropout > 0)
    return "there is dropout, whose bits are Tessera's own";
  if (c.buckets != 0)
    return "there is a bias by distance";
  if (c.activeWindow() != 0)
    return "a window hides keys";
  if (c.segments)
    return "attention stays within segments";
  if (c.keysTotal != 0)
    return "the keys are a slice";
  if (c.causal && c.firstQuery() != 0)
    return "the queries do not start with the keys";
  if (c.headDim % 8 != 0 || c.headDim > 128)
    return "head_dim is not a multiple of 8 up to 128";
  if (c.batch == 0 || c.seqQ == 0)
    return "there are no queries";
  return nullptr;
}

void buildForward(GraphBuilder &graph, const AttentionCall &c) {
  GraphTensor q = graph.bound(GraphQ, queryRows(c, c.rowQ));
  GraphTensor k = graph.bound(GraphK, keyRows(c, c.rowK).transposed());
  GraphTensor v = graph.bound(GraphV, keyRows(c, c.rowV));
  GraphTensor o = graph.bound(GraphO, queryRows(c, c.rowO));
  GraphTensor lse = graph.bound(GraphLse, statisticsOf(c));

  GraphTensor scores = graph.matmul(q, k, scoresOf(c, CUDNN_DATA_FLOAT));
  scores = graph.apply(CUDNN_POINTWISE_MUL, scores,
                       graph.scalar(static_cast<float>(c.scale)));
  if (c.causal)
    scores = maskLater(graph, scores);
  GraphTensor largest = graph.reduceRows(CUDNN_REDUCE_TENSOR_MAX, scores);
  GraphTensor powers = graph.apply(
      CUDNN_POINTWISE_EXP, graph.apply(CUDNN_POINTWISE_SUB, scores, largest));
  GraphTensor sum = graph.reduceRows(CUDNN_REDUCE_TENSOR_ADD, powers);
  graph.applyInto(CUDNN_POINTWISE_ADD, largest,
                  graph.apply(CUDNN_POINTWISE_LOG, sum), lse);
  GraphTensor weights = graph.temporary(scoresOf(c, CUDNN_DATA_BFLOAT16));
  graph.applyInto(CUDNN_POINTWISE_DIV, powers, sum, weights);
  graph.matmulInto(weights, v, o);
}

namespace {
/// Adds the gradient's product for all heads of queries, summed over the heads
/// that share keys.
void keyGradient(GraphBuilder &graph, const AttentionCall &c,
                 GraphTensor transposed, GraphTensor rows,
                 GraphTensor gradient) {
  if (c.heads == c.kvHeads)
    return graph.matmulInto(transposed, rows, gradient);
  GraphTensor all =
      graph.matmul(transposed, rows,
                   TensorLayout::packed({c.batch, c.heads, c.seqK, c.headDim},
                                        CUDNN_DATA_BFLOAT16));
  graph.reduceInto(CUDNN_REDUCE_TENSOR_ADD, all, gradient);
}

/// Computes rowsum(dO * O), stored in the workspace.
GraphTensor rowDot(GraphBuilder &graph, const AttentionCall &c, GraphTensor dO,
                   GraphTensor o) {
  GraphTensor both = graph.temporary(TensorLayout::packed(
      {c.batch, c.heads, c.seqQ, c.headDim}, CUDNN_DATA_FLOAT));
  graph.applyInto(CUDNN_POINTWISE_MUL, dO, o, both);
  GraphTensor sum = graph.reduceRows(CUDNN_REDUCE_TENSOR_ADD, both);
  GraphTensor delta = graph.bound(GraphDelta, statisticsOf(c));
  // The engines want a factor here, that of dropout.
  graph.applyInto(CUDNN_POINTWISE_MUL, sum, graph.scalar(1), delta);
  return delta;
}
} // namespace

void buildBackward(GraphBuilder &graph, const AttentionCall &c) {
  GraphTensor q = graph.bound(GraphQ, queryRows(c, c.rowQ));
  GraphTensor k = graph.bound(GraphK, keyRows(c, c.rowK).transposed());
  GraphTensor v = graph.bound(GraphV, keyRows(c, c.rowV).transposed());
  GraphTensor o = graph.bound(GraphO, queryRows(c, c.rowO));
  GraphTensor dO = graph.bound(GraphDO, queryRows(c, c.rowDO));
  GraphTensor lse = graph.bound(GraphLse, statisticsOf(c));
  GraphTensor dQ = graph.bound(GraphDQ, queryRows(c, c.rowDQ));
  GraphTensor dK = graph.bound(GraphDK, keyRows(c, c.rowDK));
  GraphTensor dV = graph.bound(GraphDV, keyRows(c, c.rowDV));
  GraphTensor scale = graph.scalar(static_cast<float>(c.scale));
  TensorLayout scores = scoresOf(c, CUDNN_DATA_FLOAT);
  TensorLayout turned = scoresOf(c, CUDNN_DATA_BFLOAT16).transposed();

  GraphTensor delta = rowDot(graph, c, dO, o);
  GraphTensor p =
      graph.apply(CUDNN_POINTWISE_MUL, graph.matmul(q, k, scores), scale);
  p = graph.apply(CUDNN_POINTWISE_SUB, p, lse);
  if (c.causal)
    p = maskLater(graph, p);
  p = graph.apply(CUDNN_POINTWISE_EXP, p);
  keyGradient(graph, c, graph.reshaped(p, turned), dO, dV);

  GraphTensor dS = graph.matmul(dO, v, scores);
  dS = graph.apply(CUDNN_POINTWISE_SUB, dS, delta);
  dS = graph.apply(CUDNN_POINTWISE_MUL, dS, p);
  dS = graph.apply(CUDNN_POINTWISE_MUL, dS, scale);
  keyGradient(graph, c, graph.reshaped(dS, turned), q, dK);
  graph.matmulInto(dS, graph.reshaped(k, keyRows(c, c.rowK)), dQ);
}

} // namespace tessera::cuda
