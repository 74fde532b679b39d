//===- CudaRank.h - one rank on a GPU ---------------------------*- C++ -*-===//
// A step runs the host program twice. The recording pass collects what varies
// from step to step (StepRecording.h). The submission pass submits the work to
// the rank's stream, and collectives to a stream beside it. Calls that are new
// are prepared in a pass between the two, for the workspace, kernels and
// communicators that they need. From a program's third step with the same calls
// on, a captured graph replaces the submission pass where the collectives allow
// it; programs take turns, so each has a graph of its own.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_STEP_CUDARANK_H
#define TESSERA_RUNTIME_CUDA_STEP_CUDARANK_H

#include "runtime/cuda/DeviceMemory.h"
#include "runtime/cuda/Image.h"
#include "runtime/cuda/collectives/CollectiveStream.h"
#include "runtime/cuda/collectives/Collectives.h"
#include "runtime/cuda/cudnn/CudnnAttention.h"
#include "runtime/cuda/products/MatrixProducts.h"
#include "runtime/cuda/step/HostCopies.h"
#include "runtime/cuda/step/LaunchBatch.h"
#include "runtime/cuda/step/OpTimes.h"
#include "runtime/cuda/step/RoundCounts.h"
#include "runtime/cuda/step/StepGraph.h"
#include "runtime/cuda/step/StepRecording.h"
#include "runtime/cuda/step/StepWait.h"
#include "runtime/device/Rank.h"

#include <map>

namespace tessera::cuda {

class CudaRank final : public DeviceRank {
public:
  CudaRank(Rank &rank, int device, std::shared_ptr<Image> image);
  ~CudaRank() override;

  unsigned char *hostArena() const override { return nullptr; }
  void read(int64_t offset, int64_t bytes, void *host) const override;
  unsigned char *stage(int64_t bytes) override;
  unsigned char *stagePiece(int64_t bytes) override;
  void write(int64_t offset, int64_t bytes, const void *host) override;
  void copy(int64_t from, int64_t to, int64_t bytes) override;
  void zero(int64_t offset, int64_t bytes) override;
  void poison() override;
  Status run(const ProgramStep &step) override;
  std::string describe() const override;

  /// Records, prepares or submits a call; the ABI's entries call this.
  Status enter(const Call &call);
  void recordList(const tsr_abi_frame &frame, const tsr_abi_calls &calls,
                  const int64_t *scalars) {
    recording.record(frame, calls, scalars);
  }
  Rank &owner() const { return rank; }

private:
  enum class Pass { Record, Prepare, Submit };
  /// The state that is known of one of the artifact's programs.
  struct Known {
    uint64_t prepared = 0; ///< digest of the last calls that were prepared for
    /// Digest of the last step that was queued call by call.
    uint64_t queued = 0;
    StepGraph graph;
  };
  void use() const;
  Status runPass(const ProgramStep &step, Pass kind);
  Status runStep(const ProgramStep &step);
  Status runAndWait(const ProgramStep &step);
  Status queueStep(const ProgramStep &step);
  Status capture(const ProgramStep &step);
  Status record(const ProgramStep &step);
  void sendScalars();
  void dropGraphs();
  std::string trouble() const;
  Status queueCalls(const ProgramStep &step);
  Status failureOf(const ProgramStep &step, cudaError_t error) const;
  Status waitForStream(const ProgramStep &step);

  void findKernels(const tsr_abi_device_kernel &kernel);
  void prepareFor(const Call &call);
  size_t attentionWorkspaceOf(const Call &call);
  static size_t cacheWorkspaceOf(const Call &call);
  Status queue(const Call &call);
  Status queueOnProgram(const Call &call);
  void queueLaunch(const Call &call);
  void queueProduct(const Call &call);
  void queueAttention(const Call &call);
  Status queueCollective(const Call &call);
  Status runCollective(const Call &call);
  Status runAllToAll(const Call &call, const Collective &what);
  Status runMessage(const Call &call);
  cudaError_t progress() const;
  const int64_t *takeScalars(int64_t count);

  Rank &rank;
  int device;
  std::shared_ptr<Image> image; ///< null: the program has no kernels
  Stream stream;
  CollectiveStream communication;
  DeviceMemory arena, workspace, scalars;
  PinnedMemory pinned; ///< must live as long as `scalars`
  Uploads uploads;
  Pieces pieces;
  StepResults results;
  RoundCounts rounds;
  MatrixProducts products;
  CudnnAttention cudnn;
  std::unique_ptr<Collectives> collectives;
  StepRecording recording;
  LaunchBatch batch;
  int64_t workspaceNeeded = 0;
  Pass pass = Pass::Record;
  std::unique_ptr<OpTimes> times; ///< null: the step is not traced
  std::map<tsr_abi_program, Known> programs;
  StepWait wait;
};

/// Returns the table that programs on a GPU call (CudaEntries.cpp); its context
/// is a CudaRank.
const tsr_abi_api &cudaApi();

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_STEP_CUDARANK_H
