//===- GraphBuilder.h - a graph of tensors for cuDNN ------------*- C++ -*-===//
// Tensors have four dimensions [batch, heads, rows, columns] with strides in
// elements. Arithmetic is f32; virtual tensors are never stored.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_CUDNN_GRAPHBUILDER_H
#define TESSERA_RUNTIME_CUDA_CUDNN_GRAPHBUILDER_H

#include "runtime/cuda/cudnn/Descriptor.h"

#include <array>
#include <deque>

namespace tessera::cuda {

using Shape = std::array<int64_t, 4>;

/// The layout of a tensor in memory.
struct TensorLayout {
  Shape dims, strides;
  cudnnDataType_t type;

  /// Returns the rows and columns exchanged; nothing moves.
  TensorLayout transposed() const;
  static TensorLayout packed(const Shape &dims, cudnnDataType_t type);
};

/// A tensor of the graph; its builder owns it.
struct GraphTensor {
  TensorLayout layout;
  const Descriptor *descriptor;
};

/// A constant of the graph, which is handed over with each execution.
struct GraphScalar {
  int64_t id;
  float value;
};

class GraphBuilder {
public:
  explicit GraphBuilder(const CudnnLibrary &cudnn) : cudnn(cudnn) {}
  GraphBuilder(GraphBuilder &&) = default;

  /// Returns a buffer; `id` binds its address at execution, and is below 100.
  GraphTensor bound(int64_t id, const TensorLayout &layout);
  GraphTensor scalar(float value);
  /// Returns a virtual tensor.
  GraphTensor temporary(const TensorLayout &layout);

  /// c = a b over rows and columns, batches and heads one by one; heads of b
  /// may divide those of a (grouped queries).
  GraphTensor matmul(GraphTensor a, GraphTensor b, const TensorLayout &c);
  void matmulInto(GraphTensor a, GraphTensor b, GraphTensor c);
  /// Applies a function element by element, in a's layout; b may have
  /// dimensions of 1.
  GraphTensor apply(cudnnPointwiseMode_t mode, GraphTensor a);
  GraphTensor apply(cudnnPointwiseMode_t mode, GraphTensor a, GraphTensor b);
  void applyInto(cudnnPointwiseMode_t mode, GraphTensor a, GraphTensor b,
                 GraphTensor result);
  /// Returns the index of each element of `like` along `axis`, i32.
  GraphTensor index(GraphTensor like, int64_t axis);
  /// Returns a boolean tensor: whether a >= b, both i32.
  GraphTensor atLeast(GraphTensor a, GraphTensor b);
  /// Selects `chosen` where `mask` holds, else `other`.
  GraphTensor select(GraphTensor mask, GraphTensor chosen, GraphTensor other);
  /// Reduces over columns: the result has one. `reduceInto` reduces over the
  /// dimensions that are smaller in `result`.
  GraphTensor reduceRows(cudnnReduceTensorOp_t op, GraphTensor a);
  void reduceInto(cudnnReduceTensorOp_t op, GraphTensor a, GraphTensor result);
  /// Returns the same elements as a tensor of another layout.
  GraphTensor reshaped(GraphTensor a, const TensorLayout &result);

  /// Returns the finished graph; a null handle: for a device that is described
  /// elsewhere.
  Descriptor finish(cudnnHandle_t handle);
  const std::deque<GraphScalar> &scalars() const { return constants; }

private:
  GraphTensor add(int64_t id, const TensorLayout &layout, bool isVirtual,
                  bool isByValue);
  Descriptor pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t precision,
                       int64_t axis = -1);
  void operate(Descriptor what, GraphTensor a, const GraphTensor *b,
               const GraphTensor *mask, GraphTensor result);
  void addOperation(Descriptor operation);

  const CudnnLibrary &cudnn;
  std::deque<Descriptor> tensors, settings, operations;
  std::deque<GraphScalar> constants;
  int64_t nextId = 100;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CUDNN_GRAPHBUILDER_H
