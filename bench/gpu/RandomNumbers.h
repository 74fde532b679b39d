//===- RandomNumbers.h - operands like those of training --------*- C++ -*-===//
#ifndef TESSERA_BENCH_GPU_RANDOMNUMBERS_H
#define TESSERA_BENCH_GPU_RANDOMNUMBERS_H

#include "runtime/cuda/DeviceMemory.h"

#include <algorithm>
#include <random>
#include <vector>

namespace tessera::cuda {

/// Fills with random bf16 numbers of either sign in [1, 2), which repeat: equal
/// ones would let a GPU at its power limit run faster than a training step can.
inline void fillRandomly(const DeviceMemory &memory, cudaStream_t stream) {
  std::vector<uint16_t> numbers(1 << 22);
  std::mt19937 random(1);
  for (uint16_t &number : numbers)
    number = uint16_t(0x3F80 | (random() & 0x807F));
  const auto most = int64_t(numbers.size() * 2);
  for (int64_t at = 0; at < memory.size(); at += most)
    check(cudaMemcpyAsync(memory.data() + at, numbers.data(),
                          std::min(most, memory.size() - at),
                          cudaMemcpyHostToDevice, stream),
          "filling");
  check(cudaStreamSynchronize(stream), "filling");
}

} // namespace tessera::cuda

#endif // TESSERA_BENCH_GPU_RANDOMNUMBERS_H
