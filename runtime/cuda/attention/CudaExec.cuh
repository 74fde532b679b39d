//===- CudaExec.cuh - The execution policy of a GPU -------------*- C++ -*-===//
// Implements in CUDA and PTX the machine that the kernel bodies ask for (PTX
// ISA: "mma", "ldmatrix", "cp.async", "ex2", "cvt"; all exist from sm_80 on).
// HostExec.h in the tests is the same interface on a CPU.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CUDA_ATTENTION_CUDAEXEC_CUH
#define TESSERA_CUDA_ATTENTION_CUDAEXEC_CUH

#include "runtime/cuda/HostDevice.h"

#include <cstdint>

namespace tessera::cuda {

struct CudaExec {
  /// An address in shared memory.
  using Address = uint32_t;

  static TSR_DEVICE int thread() { return int(threadIdx.x); }
  static TSR_DEVICE int blockX() { return int(blockIdx.x); }
  static TSR_DEVICE int blockY() { return int(blockIdx.y); }
  static TSR_DEVICE int blockZ() { return int(blockIdx.z); }
  static TSR_DEVICE void barrier() { __syncthreads(); }
  /// Ends the step with an error where `holds` is false.
  static TSR_DEVICE void expect(bool holds, const char *) {
    if (!holds)
      __trap();
  }

  template <typename T> static TSR_DEVICE T loadShared(const T *from) {
    return *from;
  }
  template <typename T>
  static TSR_DEVICE void storeShared(T *to, const T &value) {
    *to = value;
  }

  /// Loads from global memory that nobody writes while the kernel runs.
  static TSR_DEVICE float loadConstant(const float *from) {
    return __ldg(from);
  }

  /// Copies to shared memory, zeros where !exists: a copy of 0 bytes, which
  /// does not touch `from`. The 16-byte form bypasses L1.
  template <int Bytes>
  static TSR_DEVICE void copyAsync(void *to, const void *from, bool exists) {
    const uint32_t at = address(to);
    const int bytes = exists ? Bytes : 0;
    if constexpr (Bytes == 16)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(at),
                   "l"(from), "r"(bytes)
                   : "memory");
    else
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;\n" ::"r"(at),
                   "l"(from), "n"(Bytes), "r"(bytes)
                   : "memory");
  }
  /// This thread's copies have arrived; a barrier shows them to the others.
  static TSR_DEVICE void copyWait() {
    asm volatile("cp.async.wait_all;\n" ::: "memory");
  }
  /// This thread's copies since the last group are one, empty or not.
  static TSR_DEVICE void copyGroup() {
    asm volatile("cp.async.commit_group;\n" ::: "memory");
  }
  /// Groups have arrived but for the last `Pending`.
  template <int Pending> static TSR_DEVICE void copyWaitGroups() {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(Pending) : "memory");
  }

  static TSR_DEVICE Address address(const void *generic) {
    return Address(__cvta_generic_to_shared(generic));
  }
  static TSR_DEVICE void loadMatrices(uint32_t (&out)[4], Address row) {
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
        : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
        : "r"(row));
  }
  static TSR_DEVICE void loadMatricesTransposed(uint32_t (&out)[4],
                                                Address row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, "
                 "%3}, [%4];\n"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(row));
  }
  /// sums (16 x 8) += a (16 x 16) b (16 x 8). Volatile, though it has no side
  /// effect: the compiler must not move a warp-wide instruction into a branch.
  static TSR_DEVICE void multiplyAdd(float (&sums)[4], const uint32_t (&a)[4],
                                     uint32_t b0, uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }

  static TSR_DEVICE float shuffleXor(float x, int distance) {
    return __shfl_xor_sync(0xffffffffu, x, distance);
  }
  /// Returns a word whose bit l is the bit of lane l.
  static TSR_DEVICE uint32_t ballot(bool bit) {
    return __ballot_sync(0xffffffffu, bit);
  }
  static TSR_DEVICE int countBits(uint32_t bits) { return __popc(bits); }
  static TSR_DEVICE float maximum(float a, float b) { return fmaxf(a, b); }
  /// Computes 2^x, relative error below 2^-22; 0 for -inf.
  static TSR_DEVICE float exp2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }
  static TSR_DEVICE float log2(float x) { return log2f(x); }
  static TSR_DEVICE float bitsToFloat(uint32_t bits) {
    return __uint_as_float(bits);
  }
  /// Packs two numbers, rounded to nearest even; `low` has the lower address.
  static TSR_DEVICE uint32_t packBf16(float low, float high) {
    uint32_t packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
  }
};

} // namespace tessera::cuda

#endif // TESSERA_CUDA_ATTENTION_CUDAEXEC_CUH
