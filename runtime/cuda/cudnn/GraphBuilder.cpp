#include "runtime/cuda/cudnn/GraphBuilder.h"

namespace tessera::cuda {

namespace {
std::vector<int64_t> listOf(const Shape &shape) {
  return {shape.begin(), shape.end()};
}

/// The alignment of buffers, which callers check.
constexpr int64_t bufferAlignment = 16;
} // namespace

TensorLayout TensorLayout::transposed() const {
  TensorLayout result = *this;
  std::swap(result.dims[2], result.dims[3]);
  std::swap(result.strides[2], result.strides[3]);
  return result;
}

TensorLayout TensorLayout::packed(const Shape &dims, cudnnDataType_t type) {
  return {
      dims, {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1}, type};
}

GraphTensor GraphBuilder::add(int64_t id, const TensorLayout &layout,
                              bool isVirtual, bool isByValue) {
  Descriptor &tensor =
      tensors.emplace_back(cudnn, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, layout.type);
  tensor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, listOf(layout.dims));
  tensor.set(CUDNN_ATTR_TENSOR_STRIDES, listOf(layout.strides));
  tensor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, bufferAlignment);
  tensor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, isVirtual);
  tensor.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, isByValue);
  tensor.finalize("describing a tensor");
  return {layout, &tensor};
}

GraphTensor GraphBuilder::bound(int64_t id, const TensorLayout &layout) {
  return add(id, layout, false, false);
}

GraphTensor GraphBuilder::scalar(float value) {
  constants.push_back({nextId++, value});
  return add(constants.back().id,
             TensorLayout::packed({1, 1, 1, 1}, CUDNN_DATA_FLOAT), false, true);
}

GraphTensor GraphBuilder::temporary(const TensorLayout &layout) {
  return add(nextId++, layout, true, false);
}

void GraphBuilder::addOperation(Descriptor operation) {
  operation.finalize("describing an operation");
  operations.push_back(std::move(operation));
}

GraphTensor GraphBuilder::matmul(GraphTensor a, GraphTensor b,
                                 const TensorLayout &c) {
  GraphTensor result = temporary(c);
  matmulInto(a, b, result);
  return result;
}

void GraphBuilder::matmulInto(GraphTensor a, GraphTensor b, GraphTensor c) {
  Descriptor &what =
      settings.emplace_back(cudnn, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  what.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  what.finalize("describing a matrix product");
  Descriptor operation(cudnn, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, *a.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, *b.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, *c.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, what);
  addOperation(std::move(operation));
}

Descriptor GraphBuilder::pointwise(cudnnPointwiseMode_t mode,
                                   cudnnDataType_t precision, int64_t axis) {
  Descriptor what(cudnn, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  what.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  what.set(CUDNN_ATTR_POINTWISE_MATH_PREC, precision);
  if (axis >= 0)
    what.set(CUDNN_ATTR_POINTWISE_AXIS, axis);
  what.finalize("describing arithmetic");
  return what;
}

void GraphBuilder::operate(Descriptor what, GraphTensor a, const GraphTensor *b,
                           const GraphTensor *mask, GraphTensor result) {
  Descriptor operation(cudnn, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
                settings.emplace_back(std::move(what)));
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, *a.descriptor);
  if (b)
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b->descriptor);
  if (mask)
    operation.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, *mask->descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *result.descriptor);
  addOperation(std::move(operation));
}

GraphTensor GraphBuilder::apply(cudnnPointwiseMode_t mode, GraphTensor a) {
  GraphTensor result =
      temporary({a.layout.dims, a.layout.strides, CUDNN_DATA_FLOAT});
  operate(pointwise(mode, CUDNN_DATA_FLOAT), a, nullptr, nullptr, result);
  return result;
}

GraphTensor GraphBuilder::apply(cudnnPointwiseMode_t mode, GraphTensor a,
                                GraphTensor b) {
  GraphTensor result =
      temporary({a.layout.dims, a.layout.strides, CUDNN_DATA_FLOAT});
  applyInto(mode, a, b, result);
  return result;
}

void GraphBuilder::applyInto(cudnnPointwiseMode_t mode, GraphTensor a,
                             GraphTensor b, GraphTensor result) {
  operate(pointwise(mode, CUDNN_DATA_FLOAT), a, &b, nullptr, result);
}

GraphTensor GraphBuilder::index(GraphTensor like, int64_t axis) {
  GraphTensor result =
      temporary({like.layout.dims, like.layout.strides, CUDNN_DATA_INT32});
  operate(pointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, axis), like,
          nullptr, nullptr, result);
  return result;
}

GraphTensor GraphBuilder::atLeast(GraphTensor a, GraphTensor b) {
  GraphTensor result =
      temporary({a.layout.dims, a.layout.strides, CUDNN_DATA_BOOLEAN});
  operate(pointwise(CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN), a, &b, nullptr,
          result);
  return result;
}

GraphTensor GraphBuilder::select(GraphTensor mask, GraphTensor chosen,
                                 GraphTensor other) {
  GraphTensor result =
      temporary({chosen.layout.dims, chosen.layout.strides, CUDNN_DATA_FLOAT});
  operate(pointwise(CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT), chosen,
          &other, &mask, result);
  return result;
}

GraphTensor GraphBuilder::reduceRows(cudnnReduceTensorOp_t op, GraphTensor a) {
  Shape dims = a.layout.dims;
  dims[3] = 1;
  GraphTensor result = temporary(TensorLayout::packed(dims, CUDNN_DATA_FLOAT));
  reduceInto(op, a, result);
  return result;
}

void GraphBuilder::reduceInto(cudnnReduceTensorOp_t op, GraphTensor a,
                              GraphTensor result) {
  Descriptor &what =
      settings.emplace_back(cudnn, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  what.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1,
           &op);
  what.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  what.finalize("describing a reduction");
  Descriptor operation(cudnn, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, *a.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, *result.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, what);
  addOperation(std::move(operation));
}

GraphTensor GraphBuilder::reshaped(GraphTensor a, const TensorLayout &layout) {
  GraphTensor result = temporary(layout);
  Descriptor operation(cudnn, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, *a.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, *result.descriptor);
  addOperation(std::move(operation));
  return result;
}

Descriptor GraphBuilder::finish(cudnnHandle_t handle) {
  std::vector<cudnnBackendDescriptor_t> list;
  for (const Descriptor &operation : operations)
    list.push_back(operation.raw());
  Descriptor graph(cudnn, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            static_cast<int64_t>(list.size()), list.data());
  if (handle)
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
  graph.finalize("describing a graph");
  return graph;
}

} // namespace tessera::cuda
