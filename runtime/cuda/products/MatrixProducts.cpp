#include "runtime/cuda/products/MatrixProducts.h"

#include "runtime/cuda/Check.h"
#include "runtime/cuda/products/AlignedParts.h"
#include "tessera/abi.h"

namespace tessera::cuda {

namespace {
void checkBlas(cublasStatus_t status, const char *what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(TSR_INTERNAL, "cublasLt: ", what, ": ",
         cublasLtGetStatusString(status), " (", cublasLtGetStatusName(status),
         ")");
}

cudaDataType dataType(int64_t dtype) {
  return dtype == TSR_DTYPE_F64    ? CUDA_R_64F
         : dtype == TSR_DTYPE_BF16 ? CUDA_R_16BF
                                   : CUDA_R_32F;
}

/// Returns the largest power of two, up to 256, that divides the address: what
/// the library may assume.
int64_t alignmentOf(const void *data) {
  auto address = reinterpret_cast<uint64_t>(data) | 256;
  return static_cast<int64_t>(address & (~address + 1));
}

/// The library sums its operands A and B over k as bias gradients.
cublasLtEpilogue_t epilogueOf(const ColumnProduct &p) {
  if (p.epilogue == TSR_GEMM_EPILOGUE_GELU)
    return p.bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS
                  : CUBLASLT_EPILOGUE_GELU_AUX;
  if (p.epilogue == TSR_GEMM_EPILOGUE_GELU_GRAD)
    return CUBLASLT_EPILOGUE_DGELU;
  if (p.sums)
    return p.sumsOfFirst ? CUBLASLT_EPILOGUE_BGRADA : CUBLASLT_EPILOGUE_BGRADB;
  return p.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

bool hasEpilogue(const GemmProblem &problem) {
  return problem.epilogue || problem.sumsOf;
}

struct Layout {
  cublasLtMatrixLayout_t layout = nullptr;
  ~Layout() {
    if (layout)
      cublasLtMatrixLayoutDestroy(layout);
  }
  void create(const ColumnMatrix &matrix, int64_t batch, int64_t dtype) {
    checkBlas(cublasLtMatrixLayoutCreate(&layout, dataType(dtype), matrix.rows,
                                         matrix.columns, matrix.ld),
              "describing a matrix");
    auto count = static_cast<int32_t>(batch);
    checkBlas(
        cublasLtMatrixLayoutSetAttribute(
            layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
        "setting a batch");
    checkBlas(cublasLtMatrixLayoutSetAttribute(
                  layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                  &matrix.stride, sizeof matrix.stride),
              "setting a stride");
  }
};

class Preference {
public:
  explicit Preference(const ColumnProduct &p) {
    checkBlas(cublasLtMatmulPreferenceCreate(&preference),
              "making a preference");
    set<uint64_t>(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                  productWorkspaceBytes);
    // The other schemes round parts of sums to the type of C.
    set<uint32_t>(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                  CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
    set<uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                  alignmentOf(p.first.data));
    set<uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                  alignmentOf(p.second.data));
    set<uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                  alignmentOf(p.c.data));
    set<uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
                  alignmentOf(p.c.data));
  }
  ~Preference() { cublasLtMatmulPreferenceDestroy(preference); }
  cublasLtMatmulPreference_t preference = nullptr;

private:
  template <class T>
  void set(cublasLtMatmulPreferenceAttributes_t name, T value) {
    checkBlas(cublasLtMatmulPreferenceSetAttribute(preference, name, &value,
                                                   sizeof value),
              "setting a preference");
  }
};
} // namespace

struct MatrixProducts::Plan {
  cublasLtMatmulDesc_t description = nullptr;
  Layout first, second, c;
  cublasLtMatmulAlgo_t algorithm;
  bool biasInProduct = false;
  /// With an epilogue: false if kernels follow the plain product.
  bool isFound = false;

  ~Plan() {
    if (description)
      cublasLtMatmulDescDestroy(description);
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t name, const T &value) {
    checkBlas(
        cublasLtMatmulDescSetAttribute(description, name, &value, sizeof value),
        "describing a product");
  }
  void describe(const GemmProblem &problem, const ColumnProduct &p) {
    bool wide = problem.dtypeC == TSR_DTYPE_F64;
    checkBlas(cublasLtMatmulDescCreate(
                  &description, wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                  wide ? CUDA_R_64F : CUDA_R_32F),
              "describing a product");
    auto operation = [](const ColumnMatrix &matrix) {
      return matrix.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, operation(p.first));
    set(CUBLASLT_MATMUL_DESC_TRANSB, operation(p.second));
    first.create(p.first, p.batch, problem.dtypeAB);
    second.create(p.second, p.batch, problem.dtypeAB);
    c.create(p.c, p.batch, problem.dtypeC);
  }
  void setEpilogue(const GemmProblem &problem, const ColumnProduct &p) {
    biasInProduct = p.bias != nullptr;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogueOf(p));
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, dataType(problem.dtypeC));
    if (p.epilogue)
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.aux.ld);
    setPointers(p);
  }
  /// Sets the pointers that the description holds; they vary from call to call.
  void setPointers(const ColumnProduct &p) {
    if (p.epilogue)
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, p.aux.data);
    const void *vector = p.sums ? p.sums : p.bias;
    if (p.sums || biasInProduct)
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector);
  }
  void unsetBias() {
    biasInProduct = false;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
  }
};

MatrixProducts::MatrixProducts() {
  checkBlas(cublasLtCreate(&handle), "starting the library");
}

MatrixProducts::~MatrixProducts() {
  plans.clear();
  cublasLtDestroy(handle);
}

MatrixProducts::Key MatrixProducts::keyOf(const GemmProblem &p) {
  auto alignment = [&](const void *data) {
    return data ? alignmentOf(data) : 0;
  };
  return {p.m,
          p.n,
          p.k,
          p.lda,
          p.ldb,
          p.ldc,
          p.transA,
          p.transB,
          p.accumulate,
          p.dtypeAB,
          p.dtypeC,
          p.batch,
          p.strideA,
          p.strideB,
          p.strideC,
          alignment(p.a),
          alignment(p.b),
          alignment(p.c),
          alignment(p.bias),
          p.epilogue,
          p.ldaux,
          alignment(p.aux),
          p.sumsOf,
          alignment(p.sums)};
}

/// Asks the library for its best algorithm; false if it has none.
bool MatrixProducts::choose(Plan &plan, const GemmProblem &problem) {
  Preference preference(columnProduct(problem));
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle, plan.description, plan.first.layout, plan.second.layout,
      plan.c.layout, plan.c.layout, preference.preference, 1, &found, &count);
  if (status != CUBLAS_STATUS_SUCCESS || count == 0 ||
      found.state != CUBLAS_STATUS_SUCCESS)
    return false;
  plan.algorithm = found.algo;
  return true;
}

/// Chooses an algorithm; returns false if the library lacks the epilogue for
/// the types and alignment.
bool MatrixProducts::chooseWithEpilogue(Plan &plan,
                                        const GemmProblem &problem) {
  // cublasLt.h, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD.
  constexpr int64_t auxMultiple = 8;
  if (problem.epilogue && problem.ldaux % auxMultiple != 0)
    return false;
  // The library's GELU is exact to f32 alone: 2.5e-10 off for C near 1.
  if (problem.epilogue && problem.dtypeC == TSR_DTYPE_F64)
    return false;
  plan.setEpilogue(problem, columnProduct(problem));
  return choose(plan, problem);
}

void MatrixProducts::choosePlain(Plan &plan, const GemmProblem &problem) {
  if (problem.bias) {
    plan.setEpilogue(problem, columnProduct(problem));
    if (choose(plan, problem))
      return;
    plan.unsetBias();
  }
  if (!choose(plan, problem))
    fail(TSR_UNSUPPORTED, "cublasLt has no algorithm for gemm with m ",
         problem.m, ", n ", problem.n, ", k ", problem.k, ", dtypes ",
         problem.dtypeAB, " -> ", problem.dtypeC, ", leading dimensions ",
         problem.lda, ", ", problem.ldb, ", ", problem.ldc);
}

MatrixProducts::Plan &MatrixProducts::planOf(const GemmProblem &problem) {
  std::unique_ptr<Plan> &slot = plans[keyOf(problem)];
  if (slot)
    return *slot;
  auto plan = std::make_unique<Plan>();
  plan->describe(problem, columnProduct(problem));
  if (hasEpilogue(problem))
    plan->isFound = chooseWithEpilogue(*plan, problem);
  else
    choosePlain(*plan, problem);
  missing += hasEpilogue(problem) && !plan->isFound;
  slot = std::move(plan);
  return *slot;
}

void MatrixProducts::product(const GemmProblem &problem, void *workspace,
                             cudaStream_t stream) {
  Plan &plan = planOf(problem);
  if (hasEpilogue(problem)) {
    if (plan.isFound)
      return multiply(plan, problem, problem.accumulate, workspace, stream);
    product(plainProduct(problem), workspace, stream);
    return check(followProduct(problem, workspace, stream), "an epilogue");
  }
  bool started = problem.bias && !plan.biasInProduct;
  if (started)
    check(startFromBias(problem, stream), "adding a bias");
  multiply(plan, problem, problem.accumulate || started, workspace, stream);
}

void MatrixProducts::multiply(Plan &plan, const GemmProblem &problem,
                              bool accumulates, void *workspace,
                              cudaStream_t stream) {
  plan.setPointers(columnProduct(problem));
  const double wideOne = 1, wideBeta = accumulates;
  const float one = 1, beta = accumulates;
  bool wide = problem.dtypeC == TSR_DTYPE_F64;
  checkBlas(cublasLtMatmul(
                handle, plan.description,
                wide ? static_cast<const void *>(&wideOne) : &one, problem.b,
                plan.first.layout, problem.a, plan.second.layout,
                wide ? static_cast<const void *>(&wideBeta) : &beta, problem.c,
                plan.c.layout, problem.c, plan.c.layout, &plan.algorithm,
                workspace, productWorkspaceBytes, stream),
            "multiplying");
}

static bool isEmpty(const GemmProblem &problem) {
  return problem.m == 0 || problem.n == 0 || problem.batch == 0;
}

void MatrixProducts::prepare(const GemmProblem &problem) {
  if (isEmpty(problem) || problem.k == 0)
    return;
  for (const GemmProblem &piece : piecesOf(problem))
    planOf(piece);
}

void MatrixProducts::run(const GemmProblem &problem, void *workspace,
                         cudaStream_t stream) {
  if (!isEmpty(problem) && problem.k == 0)
    check(startFromBias(plainProduct(problem), stream), "starting from a bias");
  if (isEmpty(problem) || problem.k == 0)
    return check(followProduct(problem, workspace, stream), "an epilogue");
  for (const GemmProblem &piece : piecesOf(problem))
    product(piece, workspace, stream);
}

} // namespace tessera::cuda
