//===- EpilogueTest.cpp - epilogues of products against the CPU's ---------===//

#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/products/MatrixProducts.h"
#include "test/Runtime/cuda/EpilogueCase.h"

using namespace gpu;

namespace {

TEST(GpuEpilogue, AllFormsAndTypesAreTheCpus) {
  for (const EpilogueCase &c : epilogueCases())
    compareEpilogue(c);
}

TEST(GpuEpilogue, NoTermsAndOddShapes) {
  for (int64_t k : {0, 1, 33})
    for (int64_t n : {1, 65}) {
      compareEpilogue({7, n, k, TSR_DTYPE_F32, TSR_DTYPE_F32,
                       TSR_GEMM_EPILOGUE_GELU, 0, false, false, true});
      compareEpilogue({7, n, k, TSR_DTYPE_BF16, TSR_DTYPE_BF16,
                       TSR_GEMM_EPILOGUE_GELU_GRAD, 0});
      compareEpilogue(
          {7, n, k, TSR_DTYPE_BF16, TSR_DTYPE_F32, 0, TSR_GEMM_SUMS_B, true});
    }
}

/// The kernels run where the library has no sums; they are compared with the
/// library's.
TEST(GpuEpilogue, KernelsSumAsTheLibraryDoes) {
  for (int64_t sums : {TSR_GEMM_SUMS_A, TSR_GEMM_SUMS_B})
    for (bool trans : {false, true}) {
      // So many terms that they are cut into slices.
      EpilogueCase c{24, 24,   1100,  TSR_DTYPE_BF16, TSR_DTYPE_F32,
                     0,  sums, trans, trans};
      EpilogueOperands x(c);
      World world(single(1 << 19, [&](const Program &program) {
        std::vector<void *> all;
        for (size_t i = 0; i < x.buffers.size(); ++i)
          all.push_back(program.at(epiloguePlace(i)));
        tessera::GemmProblem problem;
        std::string error;
        if (int32_t status = tessera::decodeGemm(
                x.args.data(), x.pick(all).data(), &problem, &error))
          return status;
        cudaStream_t stream = nullptr;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        tessera::cuda::DeviceMemory workspace;
        workspace.allocate(tessera::cuda::productWorkspaceBytes, "workspace");
        cudaError_t failed =
            tessera::cuda::followProduct(problem, workspace.data(), stream);
        cudaStreamSynchronize(stream);
        cudaStreamDestroy(stream);
        return failed == cudaSuccess ? 0 : int32_t(TSR_INTERNAL);
      }));
      for (size_t i = 0; i < x.buffers.size(); ++i)
        world.write(0, epiloguePlace(i), bytesOf(x.buffers[i]));
      world.read<char>(0, 0, 1); // waits: the kernel is on another stream
      tessera::Status status = world.step();
      ASSERT_TRUE(status.ok()) << status.message;
      x.runOnCpu();
      std::vector<unsigned char> wanted = bytesOf(x.buffers[5]);
      ASSERT_EQ(world.read<unsigned char>(0, epiloguePlace(5), wanted.size()),
                wanted)
          << "sums " << sums << " trans " << trans;
    }
}

TEST(GpuEpilogue, RefusalIsTheCpus) {
  EpilogueOperands x({4, 5, 6, TSR_DTYPE_F32, TSR_DTYPE_F32,
                      TSR_GEMM_EPILOGUE_GELU_GRAD, 0, false, false, true});
  // Before any work: when the rank is made.
  try {
    World world(single(4096, [&](const Program &program) {
      std::vector<void *> all(6, program.at(0));
      return program.call(program.frame.api->gemm, x.pick(all), x.args);
    }));
    FAIL() << "no error";
  } catch (const tessera::Error &error) {
    EXPECT_NE(std::string(error.what()).find("gelu_grad cannot have a bias"),
              std::string::npos)
        << error.what();
  }
}

} // namespace
