//===- ExecutionPlan.h - how cuDNN computes a graph -------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_CUDNN_EXECUTIONPLAN_H
#define TESSERA_RUNTIME_CUDA_CUDNN_EXECUTIONPLAN_H

#include "runtime/cuda/cudnn/GraphBuilder.h"

#include <optional>

namespace tessera::cuda {

/// The device of a plan: the GPU of a handle, or one that is only described.
struct PlanDevice {
  cudnnHandle_t handle = nullptr;
  const Descriptor *properties = nullptr; ///< used where there is no handle
};

/// A buffer of the graph at execution.
struct GraphBuffer {
  int64_t id;
  const void *data;
};

class ExecutionPlan {
public:
  /// Returns the first plan, in the order of the library's heuristics, that
  /// always gives the same bits; none if there is no such plan.
  static std::optional<ExecutionPlan> find(GraphBuilder graph,
                                           const PlanDevice &device);

  int64_t workspaceBytes() const { return bytes; }
  /// Queues the work on the handle's stream. Throws.
  void execute(cudnnHandle_t handle, const std::vector<GraphBuffer> &buffers,
               void *workspace) const;

private:
  ExecutionPlan(GraphBuilder builder, Descriptor graph, Descriptor engine,
                Descriptor plan);

  // The parts that the plan was made of live as long as it does.
  GraphBuilder builder;
  Descriptor graph, engine, plan;
  int64_t bytes;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_CUDNN_EXECUTIONPLAN_H
