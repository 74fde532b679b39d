//===- StandInBlas.cpp - as much of cuBLASLt as the device calls ----------===//
// Products by the definitions of cublasLt.h, element by element, in stream
// order: they prove which operand, epilogue, leading dimension and pointer the
// device gives the library, not the library.

#include "runtime/cuda/products/ProductElements.h"
#include "test/Runtime/cuda/StandInControl.h"
#include "test/Runtime/cuda/StandInStream.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cublasLt.h>

std::atomic<bool> standInEpilogues{true};
std::atomic<int> standInProducts{0};

namespace {
using tessera::cuda::Bf16;
using tessera::cuda::Narrow;

struct Description {
  cudaDataType_t scale;
  int32_t transA = 0, transB = 0, epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  int32_t biasType = -1;
  int64_t auxLd = 0;
  void *bias = nullptr, *aux = nullptr;
};

struct Layout {
  cudaDataType type;
  uint64_t rows, columns;
  int64_t ld, stride = 0;
  int32_t batch = 1;
};

template <class T, class Opaque> T &of(Opaque *handle) {
  return *reinterpret_cast<T *>(handle);
}
template <class T> const T &of(const void *handle) {
  return *static_cast<const T *>(handle);
}

double get(cudaDataType_t type, const void *data, int64_t at) {
  if (type == CUDA_R_64F)
    return static_cast<const double *>(data)[at];
  if (type == CUDA_R_16BF)
    return widen(static_cast<const Bf16 *>(data)[at]);
  return static_cast<const float *>(data)[at];
}

void put(cudaDataType_t type, void *data, int64_t at, double value) {
  auto single = static_cast<float>(value);
  if (type == CUDA_R_64F)
    static_cast<double *>(data)[at] = value;
  else if (type == CUDA_R_16BF)
    static_cast<Bf16 *>(data)[at] = Narrow<Bf16>::from(single);
  else
    static_cast<float *>(data)[at] = single;
}

double roundedTo(cudaDataType_t type, double value) {
  double rounded[1]; // room for any type
  put(type, rounded, 0, value);
  return get(type, rounded, 0);
}

/// The preference that a search for an algorithm is given, and the algorithm.
struct Preference {
  uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
};
struct Algorithm {
  bool roundsParts;
};

struct Matmul {
  Description how;
  Layout a, b, c;
  const void *dataA, *dataB;
  void *dataC;
  double beta;
  bool roundsParts;

  int64_t m() const { return static_cast<int64_t>(c.rows); }
  int64_t n() const { return static_cast<int64_t>(c.columns); }
  int64_t k() const {
    return static_cast<int64_t>(how.transA ? a.rows : a.columns);
  }
  double elementA(int64_t i, int64_t row, int64_t term) const {
    int64_t at = how.transA ? term + row * a.ld : row + term * a.ld;
    return get(a.type, dataA, i * a.stride + at);
  }
  double elementB(int64_t i, int64_t term, int64_t column) const {
    int64_t at = how.transB ? column + term * b.ld : term + column * b.ld;
    return get(b.type, dataB, i * b.stride + at);
  }
  /// Sums the terms of an element, in parts that follow each other.
  double sumOf(int64_t i, int64_t row, int64_t column) const;
  void element(int64_t i, int64_t row, int64_t column) const;
  void run() const;
};

double Matmul::sumOf(int64_t i, int64_t row, int64_t column) const {
  const int64_t part = roundsParts ? (k() + 1) / 2 : k();
  double all = 0;
  for (int64_t first = 0; first < k(); first += part) {
    double sum = 0;
    for (int64_t term = first; term < std::min(first + part, k()); ++term)
      sum += elementA(i, row, term) * elementB(i, term, column);
    all += roundsParts ? roundedTo(c.type, sum) : sum;
  }
  return all;
}

void Matmul::element(int64_t i, int64_t row, int64_t column) const {
  int64_t at = i * c.stride + row + column * c.ld;
  double sum = beta == 0 ? 0 : beta * get(c.type, dataC, at);
  sum += sumOf(i, row, column);
  if (how.epilogue & CUBLASLT_EPILOGUE_BIAS)
    sum += get(c.type, how.bias, row);
  int64_t aux = row + column * how.auxLd;
  if ((how.epilogue & CUBLASLT_EPILOGUE_GELU_AUX) ==
      CUBLASLT_EPILOGUE_GELU_AUX) {
    put(c.type, how.aux, aux, sum);
    sum = tessera::cuda::gelu(float(sum));
  }
  if (how.epilogue == CUBLASLT_EPILOGUE_DGELU)
    sum *= tessera::cuda::geluGrad(float(get(c.type, how.aux, aux)));
  put(c.type, dataC, at, sum);
}

void Matmul::run() const {
  for (int64_t i = 0; i < c.batch; ++i)
    for (int64_t column = 0; column < n(); ++column)
      for (int64_t row = 0; row < m(); ++row)
        element(i, row, column);
  bool sumsA = how.epilogue == CUBLASLT_EPILOGUE_BGRADA;
  bool sumsB = how.epilogue == CUBLASLT_EPILOGUE_BGRADB;
  for (int64_t i = 0; (sumsA || sumsB) && i < (sumsA ? m() : n()); ++i) {
    double sum = 0;
    for (int64_t term = 0; term < k(); ++term)
      sum += sumsA ? elementA(0, i, term) : elementB(0, term, i);
    put(c.type, how.bias, i, sum);
  }
}

/// Returns whether the library has the epilogue, with sums in f32 or f64;
/// cublasLt.h asks for aux rows of multiples of 8. There is GELU of f64, to the
/// precision of f32, as found on an H100.
bool isKnown(const Description &how, const Layout &c) {
  bool isPlain = how.epilogue == CUBLASLT_EPILOGUE_DEFAULT ||
                 how.epilogue == CUBLASLT_EPILOGUE_BIAS;
  bool hasAux = how.epilogue & (CUBLASLT_EPILOGUE_GELU | 128);
  if (how.epilogue != CUBLASLT_EPILOGUE_DEFAULT && how.biasType != c.type)
    return false;
  if (hasAux && (how.auxLd % 8 != 0 || how.auxLd < int64_t(c.rows)))
    return false;
  return isPlain || standInEpilogues;
}
} // namespace

const char *cublasLtGetStatusName(cublasStatus_t) { return "stand-in"; }
const char *cublasLtGetStatusString(cublasStatus_t) { return "stand-in"; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                          cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t ld) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Layout{type, rows, columns, ld});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &of<Layout>(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                 cublasLtMatrixLayoutAttribute_t name,
                                 const void *value, size_t bytes) {
  Layout &into = of<Layout>(layout);
  if (name == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && bytes == 4)
    into.batch = of<int32_t>(value);
  else if (name == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET && bytes == 8)
    into.stride = of<int64_t>(value);
  else
    return CUBLAS_STATUS_INVALID_VALUE;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *description,
                                        cublasComputeType_t,
                                        cudaDataType_t scale) {
  *description = reinterpret_cast<cublasLtMatmulDesc_t>(new Description{scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete &of<Description>(description);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                               cublasLtMatmulDescAttributes_t name,
                               const void *value, size_t bytes) {
  Description &into = of<Description>(description);
  auto take = [&](auto &field) {
    if (bytes != sizeof field)
      return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&field, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (name) {
  case CUBLASLT_MATMUL_DESC_TRANSA:
    return take(into.transA);
  case CUBLASLT_MATMUL_DESC_TRANSB:
    return take(into.transB);
  case CUBLASLT_MATMUL_DESC_EPILOGUE:
    return take(into.epilogue);
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
    return take(into.bias);
  case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
    return take(into.biasType);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
    return take(into.aux);
  case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
    return take(into.auxLd);
  default:
    return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete &of<Preference>(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                     cublasLtMatmulPreferenceAttributes_t name,
                                     const void *value, size_t bytes) {
  if (name == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK && bytes == 4)
    of<Preference>(preference).reductions = of<uint32_t>(value);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t,
    cublasLtMatmulPreference_t preference, int,
    cublasLtMatmulHeuristicResult_t results[], int *count) {
  // Parts whenever they are allowed: the library takes them for few results.
  of<Algorithm>(&results[0].algo).roundsParts =
      of<Preference>(preference).reductions &
      (CUBLASLT_REDUCTION_SCHEME_INPLACE |
       CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);
  *count = isKnown(of<Description>(description), of<Layout>(c));
  results[0].state = CUBLAS_STATUS_SUCCESS;
  return *count ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t,
                              cublasLtMatmulDesc_t description,
                              const void *alpha, const void *a,
                              cublasLtMatrixLayout_t layoutA, const void *b,
                              cublasLtMatrixLayout_t layoutB, const void *beta,
                              const void *c, cublasLtMatrixLayout_t layoutC,
                              void *d, cublasLtMatrixLayout_t layoutD,
                              const cublasLtMatmulAlgo_t *algorithm, void *,
                              size_t, cudaStream_t stream) {
  const Description &how = of<Description>(description);
  if (c != d || layoutC != layoutD || get(how.scale, alpha, 0) != 1 ||
      !isKnown(how, of<Layout>(layoutC)))
    return CUBLAS_STATUS_INVALID_VALUE;
  ++standInProducts;
  Matmul work{how,
              of<Layout>(layoutA),
              of<Layout>(layoutB),
              of<Layout>(layoutC),
              a,
              b,
              d,
              get(how.scale, beta, 0),
              of<const Algorithm>(algorithm).roundsParts};
  stream->push([work] { work.run(); });
  return CUBLAS_STATUS_SUCCESS;
}
