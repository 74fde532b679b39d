#include "runtime/cuda/step/StepGraph.h"

namespace tessera::cuda {

void StepGraph::begin(cudaStream_t stream) {
  drop();
  // Other ranks' threads may allocate meanwhile.
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
        "beginning to capture a step");
}

void StepGraph::end(cudaStream_t stream, uint64_t calls) {
  cudaGraph_t graph = nullptr;
  cudaError_t error = cudaStreamEndCapture(stream, &graph);
  if (error == cudaSuccess)
    error = cudaGraphInstantiate(&executable, graph, 0);
  if (graph)
    cudaGraphDestroy(graph);
  if (error == cudaSuccess) {
    digest = calls;
    return;
  }
  cudaGetLastError();
  executable = nullptr;
  why = concat("the step cannot be captured: ", errorText(error));
}

void StepGraph::launch(cudaStream_t stream) {
  check(cudaGraphLaunch(executable, stream), "launching the captured step");
}

void StepGraph::drop() {
  if (executable)
    cudaGraphExecDestroy(executable);
  executable = nullptr;
}

} // namespace tessera::cuda
