#include "test/Runtime/cuda/StandInGraph.h"

#include "runtime/support/DType.h"

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace {
using Index = std::array<int64_t, 4>;

/// A tensor's elements, row-major.
struct Values {
  Index dims{};
  std::vector<double> data;

  static Values of(const Index &dims) {
    return {dims, std::vector<double>(dims[0] * dims[1] * dims[2] * dims[3])};
  }
  /// Dimensions of 1 are repeated, heads in groups.
  int64_t placeOf(const Index &i, const Index &like) const {
    int64_t place = 0;
    for (int d = 0; d < 4; ++d)
      place = place * dims[d] + i[d] / (like[d] / dims[d]);
    return place;
  }
  double at(const Index &i, const Index &like) const {
    return data[placeOf(i, like)];
  }
};

template <class Each> void forEach(const Index &dims, const Each &each) {
  Index i;
  for (i[0] = 0; i[0] < dims[0]; ++i[0])
    for (i[1] = 0; i[1] < dims[1]; ++i[1])
      for (i[2] = 0; i[2] < dims[2]; ++i[2])
        for (i[3] = 0; i[3] < dims[3]; ++i[3])
          each(i);
}

class Evaluation {
public:
  explicit Evaluation(const std::map<int64_t, void *> &buffers)
      : buffers(buffers) {}

  void run(const StandInDescriptor &op) {
    switch (op.type) {
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      return matmul(op);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
      return pointwise(op);
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      return reduce(op);
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      return reshape(op);
    default:
      throw std::logic_error("an operation that the stand-in does not know");
    }
  }

private:
  static Index indexOf(const StandInDescriptor &tensor,
                       cudnnBackendAttributeName_t name) {
    std::vector<int64_t> list = tensor.list<int64_t>(name);
    return {list.at(0), list.at(1), list.at(2), list.at(3)};
  }
  static Index dimsOf(const StandInDescriptor &tensor) {
    return indexOf(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS);
  }
  static int64_t idOf(const StandInDescriptor &tensor) {
    return tensor.get<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  }
  static Index stridesOf(const StandInDescriptor &tensor) {
    return indexOf(tensor, CUDNN_ATTR_TENSOR_STRIDES);
  }
  static int64_t placeOf(const Index &strides, const Index &i) {
    return i[0] * strides[0] + i[1] * strides[1] + i[2] * strides[2] +
           i[3] * strides[3];
  }
  static bool isBf16(const StandInDescriptor &tensor) {
    return tensor.get<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE) ==
           CUDNN_DATA_BFLOAT16;
  }

  Values read(const StandInDescriptor &tensor) {
    auto known = made.find(idOf(tensor));
    if (known != made.end())
      return known->second;
    auto *memory = static_cast<char *>(buffers.at(idOf(tensor)));
    Values result = Values::of(dimsOf(tensor));
    const Index strides = stridesOf(tensor);
    const bool isHalf = isBf16(tensor);
    size_t next = 0;
    forEach(result.dims, [&](const Index &i) {
      int64_t place = placeOf(strides, i);
      result.data[next++] =
          isHalf ? tessera::bf16ToFloat(
                       reinterpret_cast<uint16_t *>(memory)[place])
                 : reinterpret_cast<float *>(memory)[place];
    });
    return result;
  }

  /// Real tensors are read back by who reads them, as stored.
  void write(const StandInDescriptor &tensor, Values values) {
    if (values.dims != dimsOf(tensor))
      throw std::logic_error("a result of another shape");
    const bool isHalf = isBf16(tensor);
    if (isHalf)
      for (double &value : values.data)
        value = tessera::bf16ToFloat(tessera::doubleToBf16(value));
    if (tensor.get<bool>(CUDNN_ATTR_TENSOR_IS_VIRTUAL)) {
      made[idOf(tensor)] = std::move(values);
      return;
    }
    auto *memory = static_cast<char *>(buffers.at(idOf(tensor)));
    const Index strides = stridesOf(tensor);
    size_t next = 0;
    forEach(values.dims, [&](const Index &i) {
      double value = values.data[next++];
      int64_t place = placeOf(strides, i);
      if (isHalf)
        reinterpret_cast<uint16_t *>(memory)[place] =
            tessera::doubleToBf16(value);
      else
        reinterpret_cast<float *>(memory)[place] = static_cast<float>(value);
    });
  }

  void matmul(const StandInDescriptor &op) {
    Values a = read(op.link(CUDNN_ATTR_OPERATION_MATMUL_ADESC));
    Values b = read(op.link(CUDNN_ATTR_OPERATION_MATMUL_BDESC));
    Values c = Values::of({a.dims[0], a.dims[1], a.dims[2], b.dims[3]});
    if (a.dims[3] != b.dims[2] || a.dims[0] != b.dims[0])
      throw std::logic_error("matrices that do not fit");
    Index like{a.dims[0], a.dims[1], b.dims[2], b.dims[3]};
    size_t next = 0;
    forEach(c.dims, [&](const Index &i) {
      const double *row = &a.data[a.placeOf({i[0], i[1], i[2], 0}, a.dims)];
      const double *column = &b.data[b.placeOf({i[0], i[1], 0, i[3]}, like)];
      double sum = 0;
      for (int64_t k = 0; k < a.dims[3]; ++k)
        sum += row[k] * column[k * b.dims[3]];
      c.data[next++] = sum;
    });
    write(op.link(CUDNN_ATTR_OPERATION_MATMUL_CDESC), std::move(c));
  }

  static double apply(cudnnPointwiseMode_t mode, double a, double b) {
    switch (mode) {
    case CUDNN_POINTWISE_MUL:
      return a * b;
    case CUDNN_POINTWISE_ADD:
      return a + b;
    case CUDNN_POINTWISE_SUB:
      return a - b;
    case CUDNN_POINTWISE_DIV:
      return a / b;
    case CUDNN_POINTWISE_EXP:
      return std::exp(a);
    case CUDNN_POINTWISE_LOG:
      return std::log(a);
    case CUDNN_POINTWISE_CMP_GE:
      return a >= b;
    default:
      throw std::logic_error("arithmetic that the stand-in does not know");
    }
  }

  void pointwise(const StandInDescriptor &op) {
    const StandInDescriptor &what =
        op.link(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    auto mode = what.get<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
    Values a = read(op.link(CUDNN_ATTR_OPERATION_POINTWISE_XDESC)), b, mask;
    if (op.has(CUDNN_ATTR_OPERATION_POINTWISE_BDESC))
      b = read(op.link(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
    if (op.has(CUDNN_ATTR_OPERATION_POINTWISE_TDESC))
      mask = read(op.link(CUDNN_ATTR_OPERATION_POINTWISE_TDESC));
    Values y = Values::of(a.dims);
    size_t next = 0;
    forEach(y.dims, [&](const Index &i) {
      double left = a.at(i, y.dims);
      double right = b.data.empty() ? 0 : b.at(i, y.dims);
      double &result = y.data[next++];
      if (mode == CUDNN_POINTWISE_GEN_INDEX)
        result = double(i.at(what.get<int64_t>(CUDNN_ATTR_POINTWISE_AXIS)));
      else if (mode == CUDNN_POINTWISE_BINARY_SELECT)
        result = mask.at(i, y.dims) != 0 ? left : right;
      else
        result = apply(mode, left, right);
    });
    write(op.link(CUDNN_ATTR_OPERATION_POINTWISE_YDESC), std::move(y));
  }

  void reduce(const StandInDescriptor &op) {
    const StandInDescriptor &target =
        op.link(CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
    bool isMax =
        op.link(CUDNN_ATTR_OPERATION_REDUCTION_DESC)
            .get<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR) ==
        CUDNN_REDUCE_TENSOR_MAX;
    Values x = read(op.link(CUDNN_ATTR_OPERATION_REDUCTION_XDESC));
    Values y = Values::of(dimsOf(target));
    for (double &value : y.data)
      value = isMax ? -std::numeric_limits<double>::infinity() : 0;
    size_t next = 0;
    forEach(x.dims, [&](const Index &i) {
      int64_t place = 0;
      for (int d = 0; d < 4; ++d)
        place = place * y.dims[d] + i[d] / (x.dims[d] / y.dims[d]);
      double value = x.data[next++];
      y.data[place] =
          isMax ? std::max(y.data[place], value) : y.data[place] + value;
    });
    write(target, std::move(y));
  }

  /// Reads the elements of x in memory with y's strides.
  void reshape(const StandInDescriptor &op) {
    const StandInDescriptor &from = op.link(CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
    const StandInDescriptor &to = op.link(CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
    Values x = read(from), y = Values::of(dimsOf(to));
    const Index source = stridesOf(from), target = stridesOf(to);
    // Places that x does not hold are NaN.
    std::vector<double> memory;
    size_t next = 0;
    forEach(x.dims, [&](const Index &i) {
      const auto place = static_cast<size_t>(placeOf(source, i));
      if (place >= memory.size())
        memory.resize(place + 1, std::numeric_limits<double>::quiet_NaN());
      memory[place] = x.data[next++];
    });
    next = 0;
    forEach(y.dims, [&](const Index &i) {
      y.data[next++] = memory.at(placeOf(target, i));
    });
    write(to, std::move(y));
  }

  const std::map<int64_t, void *> &buffers;
  std::map<int64_t, Values> made; ///< virtual tensors
};
} // namespace

void evaluate(const StandInDescriptor &graph,
              const std::map<int64_t, void *> &buffers) {
  Evaluation evaluation(buffers);
  for (const StandInDescriptor *op :
       graph.list<const StandInDescriptor *>(CUDNN_ATTR_OPERATIONGRAPH_OPS))
    evaluation.run(*op);
}
