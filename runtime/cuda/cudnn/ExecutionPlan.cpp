#include "runtime/cuda/cudnn/ExecutionPlan.h"

#include "runtime/support/Status.h"

#include <algorithm>

namespace tessera::cuda {

namespace {
/// Returns the library's candidates for a graph, best first.
std::vector<Descriptor> candidatesOf(const Descriptor &graph,
                                     const PlanDevice &device) {
  const CudnnLibrary &cudnn = graph.library();
  Descriptor heuristic(cudnn, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  if (!device.handle)
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *device.properties);
  heuristic.finalize("asking for engines");
  int64_t count = 0;
  cudnn.check(cudnn.getAttribute(heuristic.raw(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count,
                                 nullptr),
              "counting engines");
  std::vector<Descriptor> result;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (int64_t i = 0; i < count; ++i) {
    result.emplace_back(cudnn, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    raw.push_back(result.back().raw());
  }
  int64_t got = 0;
  cudnn.check(cudnn.getAttribute(heuristic.raw(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &got,
                                 raw.data()),
              "reading engines");
  while (static_cast<int64_t>(result.size()) > got)
    result.pop_back();
  return result;
}

bool isDeterministic(const Descriptor &candidate) {
  const CudnnLibrary &cudnn = candidate.library();
  Descriptor engine(cudnn, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t raw = engine.raw();
  int64_t count = 0;
  cudnn.check(cudnn.getAttribute(candidate.raw(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count,
                                 &raw),
              "reading an engine");
  std::vector<cudnnBackendNumericalNote_t> notes(
      CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  cudnn.check(cudnn.getAttribute(raw, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                 CUDNN_TYPE_NUMERICAL_NOTE,
                                 static_cast<int64_t>(notes.size()), &count,
                                 notes.data()),
              "reading an engine's notes");
  notes.resize(count);
  return std::find(notes.begin(), notes.end(),
                   CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) == notes.end();
}
} // namespace

ExecutionPlan::ExecutionPlan(GraphBuilder builder, Descriptor graph,
                             Descriptor engine, Descriptor plan)
    : builder(std::move(builder)), graph(std::move(graph)),
      engine(std::move(engine)), plan(std::move(plan)),
      bytes(this->plan.get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)) {}

std::optional<ExecutionPlan> ExecutionPlan::find(GraphBuilder builder,
                                                 const PlanDevice &device) {
  Descriptor graph = builder.finish(device.handle);
  const CudnnLibrary &cudnn = graph.library();
  for (Descriptor &candidate : candidatesOf(graph, device)) {
    if (!isDeterministic(candidate))
      continue;
    Descriptor plan(cudnn, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, candidate);
    if (device.handle)
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, device.handle);
    else
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *device.properties);
    if (cudnn.finalize(plan.raw()) == CUDNN_STATUS_SUCCESS)
      return ExecutionPlan(std::move(builder), std::move(graph),
                           std::move(candidate), std::move(plan));
  }
  return std::nullopt;
}

void ExecutionPlan::execute(cudnnHandle_t handle,
                            const std::vector<GraphBuffer> &buffers,
                            void *workspace) const {
  std::vector<int64_t> ids;
  std::vector<const void *> data;
  for (const GraphBuffer &buffer : buffers) {
    ids.push_back(buffer.id);
    data.push_back(buffer.data);
  }
  for (const GraphScalar &scalar : builder.scalars()) {
    ids.push_back(scalar.id);
    data.push_back(&scalar.value);
  }
  const CudnnLibrary &cudnn = plan.library();
  Descriptor pack(cudnn, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
           static_cast<int64_t>(data.size()), data.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
           &workspace);
  pack.finalize("binding buffers");
  cudnn.check(cudnn.execute(handle, plan.raw(), pack.raw()), "attention");
}

} // namespace tessera::cuda
