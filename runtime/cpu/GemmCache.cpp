//===- GemmCache.cpp - oneDNN primitives, made once per product -----------===//

#include "runtime/cpu/GemmCache.h"
#include "tessera/abi.h"

#include <new>

using namespace tessera;
using dnnl::memory;

static dnnl::engine &cpuEngine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

static memory::data_type typeOf(int64_t dtype) {
  return dtype == TSR_DTYPE_BF16 ? memory::data_type::bf16
                                 : memory::data_type::f32;
}

/// Returns a [rows, columns] matrix, or a batch of them, described by strides.
static memory::desc describe(const GemmProblem &p, int64_t rows,
                             int64_t columns, int64_t leading, bool transposed,
                             int64_t stride, int64_t dtype) {
  const int64_t rowStride = transposed ? 1 : leading;
  const int64_t columnStride = transposed ? leading : 1;
  if (p.batch == 1)
    return {memory::dims{rows, columns}, typeOf(dtype),
            memory::dims{rowStride, columnStride}};
  return {memory::dims{p.batch, rows, columns}, typeOf(dtype),
          memory::dims{stride, rowStride, columnStride}};
}

static memory::desc describeBias(const GemmProblem &p) {
  if (p.batch == 1)
    return {memory::dims{1, p.n}, typeOf(p.dtypeC), memory::dims{p.n, 1}};
  return {memory::dims{1, 1, p.n}, typeOf(p.dtypeC), memory::dims{p.n, p.n, 1}};
}

CachedGemm::CachedGemm(const GemmProblem &p) {
  const auto descA =
      describe(p, p.m, p.k, p.lda, p.transA, p.strideA, p.dtypeAB);
  const auto descB =
      describe(p, p.k, p.n, p.ldb, p.transB, p.strideB, p.dtypeAB);
  const auto descC = describe(p, p.m, p.n, p.ldc, false, p.strideC, p.dtypeC);
  const auto descBias = p.bias ? describeBias(p) : memory::desc();
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops postOps;
  if (p.accumulate)
    postOps.append_sum(1.0f);
  attributes.set_post_ops(postOps);
  const auto operation = p.bias
                             ? dnnl::matmul::desc(descA, descB, descBias, descC)
                             : dnnl::matmul::desc(descA, descB, descC);
  const dnnl::matmul::primitive_desc primitiveDesc(operation, attributes,
                                                   cpuEngine());
  primitive = dnnl::matmul(primitiveDesc);

  void *const without = DNNL_MEMORY_NONE;
  a = memory(descA, cpuEngine(), without);
  b = memory(descB, cpuEngine(), without);
  c = memory(descC, cpuEngine(), without);
  scratchpad = memory(primitiveDesc.scratchpad_desc(), cpuEngine(), without);
  arguments = {{DNNL_ARG_SRC, a},
               {DNNL_ARG_WEIGHTS, b},
               {DNNL_ARG_DST, c},
               {DNNL_ARG_SCRATCHPAD, scratchpad}};
  if (p.bias) {
    bias = memory(descBias, cpuEngine(), without);
    arguments.emplace(DNNL_ARG_BIAS, bias);
  }
}

void CachedGemm::run(const GemmProblem &p, void *scratch) {
  a.set_data_handle(const_cast<void *>(p.a));
  b.set_data_handle(const_cast<void *>(p.b));
  c.set_data_handle(p.c);
  scratchpad.set_data_handle(scratch);
  if (p.bias)
    bias.set_data_handle(const_cast<void *>(p.bias));
  static thread_local dnnl::stream stream(cpuEngine());
  primitive.execute(stream, arguments);
}

GemmCache &GemmCache::ofThisThread() {
  thread_local GemmCache cache;
  return cache;
}

GemmCache::Key GemmCache::keyOf(const GemmProblem &p) {
  return {p.m,      p.n,       p.k,          p.lda,
          p.ldb,    p.ldc,     p.dtypeAB,    p.dtypeC,
          p.batch,  p.strideA, p.strideB,    p.strideC,
          p.transA, p.transB,  p.accumulate, p.bias != nullptr};
}

void GemmCache::run(const GemmProblem &p) {
  std::unique_ptr<CachedGemm> &gemm = primitives[keyOf(p)];
  if (!gemm)
    gemm = std::make_unique<CachedGemm>(p);
  void *scratch = workspace.reserve(gemm->scratchBytes());
  if (!scratch && gemm->scratchBytes() > 0)
    throw std::bad_alloc();
  gemm->run(p, scratch);
}
