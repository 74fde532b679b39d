//===- StepGraph.h - a captured step ----------------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_STEP_STEPGRAPH_H
#define TESSERA_RUNTIME_CUDA_STEP_STEPGRAPH_H

#include "runtime/cuda/Check.h"

#include <cstdint>

namespace tessera::cuda {

class StepGraph {
public:
  StepGraph() = default;
  StepGraph(const StepGraph &) = delete;
  StepGraph &operator=(const StepGraph &) = delete;
  ~StepGraph() { drop(); }

  /// Returns whether the graph was captured from calls of this digest.
  bool holds(uint64_t calls) const { return executable && digest == calls; }
  void begin(cudaStream_t stream);
  /// Ends what `begin` began, always. A failure is remembered as `trouble` and
  /// no graph is tried again.
  void end(cudaStream_t stream, uint64_t calls);
  void launch(cudaStream_t stream);
  void drop();

  /// Returns why steps are not captured; empty if they are.
  const std::string &trouble() const { return why; }

private:
  cudaGraphExec_t executable = nullptr;
  uint64_t digest = 0;
  std::string why;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_STEP_STEPGRAPH_H
