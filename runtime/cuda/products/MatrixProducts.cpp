#include "runtime/cuda/products/MatrixProducts.h"

#include "runtime/cuda/Check.h"
#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/products/AlignedParts.h"
#include "runtime/support/DType.h"
#include "tessera/abi.h"

#include <algorithm>
#include <cstring>

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

constexpr int64_t mostAlignment = 256;
/// Choices are those of all places: buffers move from layer to layer.
constexpr int64_t choicesAlignment = 16;

/// The largest power of two, up to `most`, that divides the address: what the
/// library may assume.
int64_t alignmentOf(const void *data, int64_t most = mostAlignment) {
  auto address = reinterpret_cast<uint64_t>(data) | static_cast<uint64_t>(most);
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
  Preference(const ColumnProduct &p, int64_t most) {
    checkBlas(cublasLtMatmulPreferenceCreate(&preference),
              "making a preference");
    set<uint64_t>(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                  productWorkspaceBytes);
    // The other schemes round parts of sums to the type of C.
    set<uint32_t>(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                  CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
    set<uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                  alignmentOf(p.first.data, most));
    set<uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                  alignmentOf(p.second.data, most));
    set<uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                  alignmentOf(p.c.data, most));
    set<uint32_t>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
                  alignmentOf(p.c.data, most));
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
  /// Those that the description holds; they vary from call to call.
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

/// What algorithms belong to.
static std::string placeOf(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "asking for the GPU");
  return concat(properties.name, ", cublasLt ", cublasLtGetVersion());
}

MatrixProducts::MatrixProducts(int device, bool canMeasure)
    : choices(ProductChoices::ofProcess(placeOf(device))),
      canMeasure(canMeasure) {
  checkBlas(cublasLtCreate(&handle), "starting the library");
}

MatrixProducts::~MatrixProducts() {
  plans.clear();
  cublasLtDestroy(handle);
}

MatrixProducts::Key MatrixProducts::keyOf(const GemmProblem &p, int64_t most) {
  auto alignment = [&](const void *data) {
    return data ? alignmentOf(data, most) : 0;
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

/// The library's first algorithms, best first as it guesses.
std::vector<cublasLtMatmulAlgo_t>
MatrixProducts::algorithms(const Plan &plan, const GemmProblem &problem,
                           int most) const {
  Preference preference(columnProduct(problem),
                        most == 1 ? mostAlignment : choicesAlignment);
  std::vector<cublasLtMatmulHeuristicResult_t> found(most);
  int count = 0;
  cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle, plan.description, plan.first.layout, plan.second.layout,
      plan.c.layout, plan.c.layout, preference.preference, most, found.data(),
      &count);
  std::vector<cublasLtMatmulAlgo_t> result;
  for (int i = 0; status == CUBLAS_STATUS_SUCCESS && i < count; ++i)
    if (found[i].state == CUBLAS_STATUS_SUCCESS)
      result.push_back(found[i].algo);
  return result;
}

/// Takes the library's first algorithm; false if it has none.
bool MatrixProducts::choose(Plan &plan, const GemmProblem &problem) {
  std::vector<cublasLtMatmulAlgo_t> found = algorithms(plan, problem, 1);
  if (found.empty())
    return false;
  plan.algorithm = found.front();
  return true;
}

/// False where the library lacks the epilogue for the types and alignment.
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
  if (auto found = plans.find(keyOf(problem, mostAlignment));
      found != plans.end())
    return *found->second;
  auto plan = std::make_unique<Plan>();
  plan->describe(problem, columnProduct(problem));
  if (hasEpilogue(problem))
    plan->isFound = chooseWithEpilogue(*plan, problem);
  else
    choosePlain(*plan, problem);
  missing += hasEpilogue(problem) && !plan->isFound;
  takeChoice(*plan, problem);
  // Not earlier: a choice may need plans of other products.
  std::unique_ptr<Plan> &slot = plans[keyOf(problem, mostAlignment)];
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

/// What follows each other in place of a problem that has terms.
static std::vector<GemmProblem> piecesOf(const GemmProblem &problem) {
  if (problem.batch == 1 || problem.strideC != 0)
    return alignedParts(problem);
  // One C for all.
  std::vector<GemmProblem> pieces(problem.batch, problem);
  const int64_t bytes = dtypeBytes(static_cast<int>(problem.dtypeAB));
  auto advance = [&](const void *data, int64_t elements) {
    return static_cast<const void *>(static_cast<const char *>(data) +
                                     elements * bytes);
  };
  for (int64_t i = 0; i < problem.batch; ++i) {
    pieces[i].batch = 1;
    pieces[i].a = advance(problem.a, i * problem.strideA);
    pieces[i].b = advance(problem.b, i * problem.strideB);
  }
  return pieces;
}

static bool isEmpty(const GemmProblem &problem) {
  return problem.m == 0 || problem.n == 0 || problem.batch == 0;
}

void MatrixProducts::prepare(const GemmProblem &problem) {
  if (isEmpty(problem) || problem.k == 0)
    return;
  for (const GemmProblem &piece : piecesOf(problem))
    planOf(piece);
  if (choices)
    choices->save();
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

/// Times ways to a product on operands of its own.
class MatrixProducts::Trial {
public:
  /// Throws TSR_OUT_OF_MEMORY.
  explicit Trial(const GemmProblem &problem) : scratch(problem) {
    auto make = [&](DeviceMemory &memory, int64_t elements, int64_t dtype) {
      memory.allocate(elements * dtypeBytes(static_cast<int>(dtype)),
                      "measuring a product");
      fill(memory);
      return memory.data();
    };
    const GemmProblem &p = problem;
    auto extent = [&](int64_t rows, int64_t ld, int64_t stride) {
      return (p.batch - 1) * stride + rows * ld;
    };
    scratch.a =
        make(a, extent(p.transA ? p.k : p.m, p.lda, p.strideA), p.dtypeAB);
    scratch.b =
        make(b, extent(p.transB ? p.n : p.k, p.ldb, p.strideB), p.dtypeAB);
    scratch.c = make(c, extent(p.m, p.ldc, p.strideC), p.dtypeC);
    if (p.bias)
      scratch.bias = make(bias, p.n, p.dtypeC);
    if (p.aux)
      scratch.aux = make(aux, p.m * p.ldaux, p.dtypeC);
    if (p.sums)
      scratch.sums = make(sums, std::max(p.m, p.n), TSR_DTYPE_F64);
    workspace = make(work, productWorkspaceBytes, TSR_DTYPE_I8);
  }

  /// The least of some seconds of what `queue` puts into the stream; fewer
  /// repetitions of what is not near `best`.
  template <class Queue> double seconds(const Queue &queue, double best) {
    double least = once(queue);
    for (int i = 0; i < repetitions && least < 1.5 * best; ++i)
      least = std::min(least, once(queue));
    return least;
  }

  GemmProblem scratch;
  void *workspace;
  Stream stream;

private:
  static constexpr int repetitions = 5;

  /// Random numbers of either sign in [1, 2), as bf16 and about as f32: equal
  /// ones would let a GPU at its power limit run faster than it does in a step.
  void fill(const DeviceMemory &memory) {
    static const std::vector<uint16_t> numbers = [] {
      std::vector<uint16_t> random(1 << 20);
      uint64_t state = 1;
      for (uint16_t &number : random) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        number = static_cast<uint16_t>(0x3F80 | (state >> 48 & 0x807F));
      }
      return random;
    }();
    const auto most = static_cast<int64_t>(numbers.size() * 2);
    for (int64_t at = 0; at < memory.size(); at += most)
      check(cudaMemcpyAsync(memory.data() + at, numbers.data(),
                            std::min(most, memory.size() - at),
                            cudaMemcpyHostToDevice, stream.get()),
            "filling");
  }

  template <class Queue> double once(const Queue &queue) {
    start.record(stream.get());
    queue();
    end.record(stream.get());
    check(cudaStreamSynchronize(stream.get()), "measuring a product");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.get(), end.get()),
          "measuring a product");
    return milliseconds * 1e-3;
  }

  DeviceMemory a, b, c, bias, aux, sums, work;
  Event start{Event::Kind::Time}, end{Event::Kind::Time};
};

/// Another way has to be this much faster than the library's first.
static constexpr double worthwhile = 0.99;

ProductChoice MatrixProducts::measure(Plan &plan, const GemmProblem &problem) {
  constexpr int mostAlgorithms = 16;
  // Before the scratch memory is taken, as it takes its own.
  Plan *plain = hasEpilogue(problem) ? &planOf(plainProduct(problem)) : nullptr;
  Trial trial(problem);
  const GemmProblem &scratch = trial.scratch;
  double best = 1e30;
  cublasLtMatmulAlgo_t fastest = plan.algorithm;
  auto attempt = [&](const cublasLtMatmulAlgo_t &algorithm) {
    plan.algorithm = algorithm;
    double seconds = trial.seconds(
        [&] {
          multiply(plan, scratch, problem.accumulate, trial.workspace,
                   trial.stream.get());
        },
        best);
    if (seconds < worthwhile * best) {
      best = seconds;
      fastest = algorithm;
    }
  };
  if (!plain || plan.isFound)
    for (const cublasLtMatmulAlgo_t &each :
         algorithms(plan, problem, mostAlgorithms))
      attempt(each);
  if (plain) {
    double seconds = trial.seconds(
        [&] {
          const GemmProblem product = plainProduct(scratch);
          multiply(*plain, product, problem.accumulate, trial.workspace,
                   trial.stream.get());
          check(followProduct(scratch, trial.workspace, trial.stream.get()),
                "an epilogue");
        },
        best);
    plan.isFound = plan.isFound && seconds >= worthwhile * best;
  }
  ProductChoice choice;
  choice.hasEpilogue = plan.isFound;
  static_assert(sizeof fastest == sizeof choice.algorithm);
  std::memcpy(choice.algorithm.data(), &fastest, sizeof fastest);
  return choice;
}

/// Products with fewer terms (m * n * k) are not worth measuring.
static constexpr int64_t leastTermsMeasured = int64_t(1) << 27;

void MatrixProducts::takeChoice(Plan &plan, const GemmProblem &problem) {
  if (!choices || problem.m * problem.n * problem.k < leastTermsMeasured)
    return;
  const Key key = keyOf(problem, choicesAlignment);
  if (!canMeasure && !choices->has(key))
    fail(TSR_UNSUPPORTED, "'", choices->path(),
         "' (TESSERA_PRODUCTS) lacks the product with m ", problem.m, ", n ",
         problem.n, ", k ", problem.k,
         ", and ranks in several processes cannot measure it, because they "
         "might choose differently; run a step of the model with its ranks in "
         "one process first, or unset TESSERA_PRODUCTS");
  const ProductChoice choice =
      choices->get(key, [&] { return measure(plan, problem); });
  plan.isFound = choice.hasEpilogue;
  std::memcpy(&plan.algorithm, choice.algorithm.data(), sizeof plan.algorithm);
}

} // namespace tessera::cuda
