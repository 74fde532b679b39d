//===- CudnnAbsent.cpp - a plug-in built without cuDNN's headers ----------===//
#include "runtime/cuda/cudnn/CudnnAttention.h"

namespace tessera::cuda {

struct CudnnAttention::State {
  bool isAsked = false;
};

CudnnAttention::CudnnAttention(int64_t) : state(std::make_unique<State>()) {}
CudnnAttention::~CudnnAttention() = default;

bool CudnnAttention::takes(const AttentionCall &, Direction, void *const *) {
  state->isAsked = true;
  return false;
}

size_t CudnnAttention::workspaceOf(const AttentionCall &, Direction) const {
  return 0;
}

void CudnnAttention::run(const AttentionCall &, Direction, void *const *,
                         void *, cudaStream_t) {}

std::string CudnnAttention::version() { return ""; }

std::string CudnnAttention::absence() {
  return "the plug-in is built without cudnn_graph.h";
}

std::string CudnnAttention::describe() const {
  return state->isAsked ? "attention by Tessera's kernels where " + absence()
                        : "";
}

} // namespace tessera::cuda
