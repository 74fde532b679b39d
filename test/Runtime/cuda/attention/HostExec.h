//===- HostExec.h - The execution policy of a CPU ---------------*- C++ -*-===//
// The interface of CudaExec.cuh. The layouts of mma.m16n8k16 and ldmatrix are
// written from the PTX ISA ("Matrix Fragments for mma.m16n8k16 with floating
// point type", "ldmatrix") and share nothing with Fragment.h.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_ATTENTION_HOSTEXEC_H
#define TESSERA_TEST_RUNTIME_CUDA_ATTENTION_HOSTEXEC_H

#include "runtime/cpu/Bf16.h"
#include "test/Runtime/cuda/attention/HostBlock.h"

#include <cmath>
#include <cstring>

namespace tessera::test {

struct HostExec {
  using Address = uintptr_t;

  static HostBlock &block() { return *HostBlock::current; }
  static int thread() { return block().thread; }
  static int blockX() { return block().index.x; }
  static int blockY() { return block().index.y; }
  static int blockZ() { return block().index.z; }
  static void barrier() { block().barrier(); }
  static void expect(bool holds, const char *defect) {
    if (!holds)
      block().shared.report(defect);
  }

  template <typename T> static T loadShared(const T *from) {
    block().shared.read(thread(), from, sizeof(T));
    return *from;
  }
  template <typename T> static void storeShared(T *to, const T &value) {
    block().shared.write(thread(), to, sizeof(T));
    *to = value;
  }
  static float loadConstant(const float *from) { return *from; }
  template <int Bytes>
  static void copyAsync(void *to, const void *from, bool exists) {
    block().shared.copy(thread(), to, from, Bytes, exists);
  }
  static void copyWait() { block().shared.wait(thread()); }
  static void copyGroup() { block().shared.group(thread()); }
  template <int Pending> static void copyWaitGroups() {
    block().shared.waitGroups(thread(), Pending);
  }

  static Address address(const void *at) {
    return reinterpret_cast<uintptr_t>(at);
  }
  static void loadMatrices(uint32_t (&out)[4], Address row);
  static void loadMatricesTransposed(uint32_t (&out)[4], Address row);
  static void multiplyAdd(float (&sums)[4], const uint32_t (&a)[4], uint32_t b0,
                          uint32_t b1);
  static float shuffleXor(float x, int distance);
  static uint32_t ballot(bool bit);
  static int countBits(uint32_t bits) { return __builtin_popcount(bits); }

  static float maximum(float a, float b) { return std::fmax(a, b); }
  static float exp2(float x) { return std::exp2(x); }
  static float log2(float x) { return std::log2(x); }
  static float bitsToFloat(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  static uint32_t packBf16(float low, float high) {
    return floatToBf16(low).bits | uint32_t(floatToBf16(high).bits) << 16;
  }
};

} // namespace tessera::test

#endif // TESSERA_TEST_RUNTIME_CUDA_ATTENTION_HOSTEXEC_H
