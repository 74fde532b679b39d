//===- MatrixProducts.h - gemm through cuBLASLt -----------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_PRODUCTS_MATRIXPRODUCTS_H
#define TESSERA_RUNTIME_CUDA_PRODUCTS_MATRIXPRODUCTS_H

#include "runtime/cuda/products/ColumnProduct.h"
#include "runtime/cuda/products/Int8Chunks.h"

#include <array>
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <map>
#include <memory>

namespace tessera::cuda {

/// Memory that the library may use beside the matrices.
constexpr int64_t productWorkspaceBytes = int64_t(32) << 20;

/// Products of one rank. f32 without TF32, bf16 with sums in f32, f64. The
/// library's choice is asked for once per shape, types, alignment and epilogue;
/// where it has none with the epilogue, kernels follow the product.
class MatrixProducts {
public:
  MatrixProducts();
  MatrixProducts(const MatrixProducts &) = delete;
  MatrixProducts &operator=(const MatrixProducts &) = delete;
  ~MatrixProducts();

  /// Chooses algorithms, so that what is not supported is found before a step.
  /// Throws.
  void prepare(const GemmProblem &problem);

  /// Runs a product; `workspace` is productWorkspaceBytes of device memory.
  /// Throws.
  void run(const GemmProblem &problem, void *workspace, cudaStream_t stream);

  /// Forms of products so far whose epilogue the library does not have.
  int64_t missingEpilogues() const { return missing; }

private:
  struct Plan;
  using Key = std::array<int64_t, 24>;
  static Key keyOf(const GemmProblem &problem);
  Plan &planOf(const GemmProblem &problem);
  bool choose(Plan &plan, const GemmProblem &problem);
  bool chooseWithEpilogue(Plan &plan, const GemmProblem &problem);
  void choosePlain(Plan &plan, const GemmProblem &problem);
  void multiply(Plan &plan, const GemmProblem &problem, bool accumulates,
                void *workspace, cudaStream_t stream);
  void product(const GemmProblem &problem, void *workspace,
               cudaStream_t stream);

  cublasLtHandle_t handle = nullptr;
  std::map<Key, std::unique_ptr<Plan>> plans;
  int64_t missing = 0;
};

/// C = (ACCUMULATE ? C : 0) + bias, for products that have no terms or whose
/// bias the library does not add. ProductKernels.cu.
cudaError_t startFromBias(const GemmProblem &problem, cudaStream_t stream);

/// Widens integers to dtype f32 or bf16. ProductKernels.cu.
cudaError_t widenIntegers(const Integers &integers, int64_t dtype, void *to,
                          cudaStream_t stream);

/// Computes the rest after the problem's `plainProduct` where the library has
/// no epilogue. `workspace`: productWorkspaceBytes, for parts of sums.
/// ProductKernels.cu.
cudaError_t followProduct(const GemmProblem &problem, void *workspace,
                          cudaStream_t stream);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_PRODUCTS_MATRIXPRODUCTS_H
