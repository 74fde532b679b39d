//===- EpilogueCase.h - a product with an epilogue, and the CPU's answer --===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_EPILOGUECASE_H
#define TESSERA_TEST_RUNTIME_CUDA_EPILOGUECASE_H

#include "runtime/cpu/CpuEntries.h"
#include "test/Runtime/cpu/TestBuffer.h"
#include "test/Runtime/cuda/GpuWorld.h"

#include <cmath>
#include <gtest/gtest.h>

namespace gpu {

struct EpilogueCase {
  int64_t m, n, k, dtypeAB, dtypeC;
  int64_t epilogue, sums; ///< TSR_GEMM_EPILOGUE_*, TSR_GEMM_SUMS_*
  bool transA = false, transB = false, bias = false, accumulate = false;
  int64_t pad = 0; ///< between the rows of aux
};

/// Operands are quarters, so that products and their sums are exact in every
/// type and order; functions of them are not.
class EpilogueOperands {
public:
  explicit EpilogueOperands(const EpilogueCase &c) : c(c) {
    using tessera::test::Buffer;
    int64_t ldaux = c.n + c.pad;
    args.resize(TSR_GEMM_ARGS);
    const int64_t first[] = {c.m,
                             c.n,
                             c.k,
                             c.transA ? c.m : c.k,
                             c.transB ? c.k : c.n,
                             c.n,
                             c.transA,
                             c.transB,
                             c.accumulate,
                             c.dtypeAB,
                             c.dtypeC,
                             1};
    std::copy(std::begin(first), std::end(first), args.begin());
    args[TSR_GEMM_EPILOGUE] = c.epilogue;
    args[TSR_GEMM_LD_AUX] = c.epilogue ? ldaux : 0;
    args[TSR_GEMM_SUMS] = c.sums;
    buffers = {
        Buffer(c.dtypeAB, c.m * c.k),  Buffer(c.dtypeAB, c.k * c.n),
        Buffer(c.dtypeC, c.m * c.n),   Buffer(c.dtypeC, c.n),
        Buffer(c.dtypeC, c.m * ldaux), Buffer(c.dtypeC, std::max(c.m, c.n))};
    for (unsigned i = 0; i < buffers.size(); ++i) {
      buffers[i].fillIntegers(i + 1, 2);
      for (int64_t at = 0; at < buffers[i].size(); ++at)
        buffers[i].set(at, buffers[i].get(at) / 4);
    }
  }

  /// Picks the buffers of the case; null where it has none.
  std::vector<void *> pick(const std::vector<void *> &all) const {
    return {all[0],
            all[1],
            all[2],
            c.bias ? all[3] : nullptr,
            c.epilogue ? all[4] : nullptr,
            c.sums ? all[5] : nullptr};
  }

  /// Computes the CPU's result in `buffers`.
  void runOnCpu() {
    std::vector<void *> all;
    for (tessera::test::Buffer &buffer : buffers)
      all.push_back(buffer.data());
    std::string error;
    ASSERT_EQ(tessera::cpuGemm(1, pick(all).data(), args.data(), &error), 0)
        << error;
  }

  EpilogueCase c;
  std::vector<int64_t> args;
  std::vector<tessera::test::Buffer> buffers;
};

constexpr int64_t epiloguePlace(size_t i) { return int64_t(i) << 16; }

inline std::vector<unsigned char> bytesOf(tessera::test::Buffer &buffer) {
  auto *data = static_cast<unsigned char *>(buffer.data());
  return {data, data + buffer.size() *
                           (static_cast<unsigned char *>(buffer.at(1)) - data)};
}

/// Runs the case on the device and compares all buffers with the CPU's: aux and
/// sums exactly. C is a function of sums that may be rounded before or after
/// it, and libraries may compute tanh to 2^-11 (PTX ISA, tanh.approx).
inline void compareEpilogue(const EpilogueCase &c) {
  EpilogueOperands x(c);
  constexpr int64_t elsewhere = 1 << 19;
  World world(single(2 * elsewhere, [&](const Program &program) {
    // Pointers may differ from call to call; the last counts.
    for (int64_t start : {elsewhere, int64_t(0)}) {
      std::vector<void *> all;
      for (size_t i = 0; i < x.buffers.size(); ++i)
        all.push_back(program.at(start + epiloguePlace(i)));
      if (int32_t status =
              program.call(program.frame.api->gemm, x.pick(all), x.args))
        return status;
    }
    return 0;
  }));
  for (size_t i = 0; i < x.buffers.size(); ++i)
    world.write(0, epiloguePlace(i), bytesOf(x.buffers[i]));
  tessera::Status status = world.step();
  ASSERT_TRUE(status.ok()) << status.message;
  x.runOnCpu();
  double tolerance = c.dtypeC == TSR_DTYPE_BF16  ? std::ldexp(1, -7)
                     : c.dtypeC == TSR_DTYPE_F64 ? 1e-12
                                                 : std::ldexp(1, -10);
  for (size_t i = 0; i < x.buffers.size(); ++i) {
    tessera::test::Buffer &wanted = x.buffers[i], found = wanted;
    std::vector<unsigned char> bytes = world.read<unsigned char>(
        0, epiloguePlace(i), int64_t(bytesOf(wanted).size()));
    std::memcpy(found.data(), bytes.data(), bytes.size());
    double allowed = i == 2 && c.epilogue ? tolerance : 0;
    for (int64_t at = 0; at < wanted.size(); ++at)
      ASSERT_NEAR(found.get(at), wanted.get(at),
                  allowed * std::max(1.0, std::abs(wanted.get(at))))
          << "buffer " << i << " at " << at << " epilogue " << c.epilogue
          << " sums " << c.sums << " types " << c.dtypeAB << " " << c.dtypeC
          << " trans " << c.transA << c.transB << " bias " << c.bias
          << " accumulate " << c.accumulate << " pad " << c.pad;
  }
}

/// Returns every epilogue, form and type, with rows of aux that suit the
/// library (multiples of 8) and that do not.
inline std::vector<EpilogueCase> epilogueCases() {
  const int64_t types[][2] = {{TSR_DTYPE_F32, TSR_DTYPE_F32},
                              {TSR_DTYPE_BF16, TSR_DTYPE_F32},
                              {TSR_DTYPE_BF16, TSR_DTYPE_BF16},
                              {TSR_DTYPE_F64, TSR_DTYPE_F64}};
  std::vector<EpilogueCase> cases;
  for (auto [ab, c] : types)
    for (int flags = 0; flags < 8; ++flags) {
      bool transA = flags & 1, transB = flags & 2, third = flags & 4;
      for (int64_t pad : {0, 8, 3}) {
        cases.push_back({24, 40, 16, ab, c, TSR_GEMM_EPILOGUE_GELU, 0, transA,
                         transB, third, false, pad});
        if (!third)
          cases.push_back({24, 40, 16, ab, c, TSR_GEMM_EPILOGUE_GELU_GRAD, 0,
                           transA, transB, false, false, pad});
      }
      for (int64_t sums : {TSR_GEMM_SUMS_A, TSR_GEMM_SUMS_B})
        cases.push_back(
            {24, 40, 16, ab, c, 0, sums, transA, transB, false, third, 0});
    }
  return cases;
}

} // namespace gpu

#endif // TESSERA_TEST_RUNTIME_CUDA_EPILOGUECASE_H
