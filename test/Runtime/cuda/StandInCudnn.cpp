//===- StandInCudnn.cpp - libcudnn.so.9 that interprets graphs ------------===//
// The device opens it in cuDNN's place and calls it in stream order. It finds
// two engines for every graph, of which only the second always gives the same
// bits, and fills its workspace. What it proves is what a graph means, not what
// cuDNN makes of it.

#include "test/Runtime/cuda/StandInGraph.h"
#include "test/Runtime/cuda/StandInStream.h"

#include <atomic>
#include <cstring>
#include <set>

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace {
constexpr int64_t workspaceBytes = 1 << 12;
/// An engine's attribute, which nobody sets: whether its sums vary.
constexpr auto varies = CUDNN_ATTR_ENGINE_GLOBAL_INDEX;

std::mutex aliveMutex;
std::set<const StandInDescriptor *> alive;

StandInDescriptor &of(cudnnBackendDescriptor_t descriptor) {
  return *static_cast<StandInDescriptor *>(descriptor);
}

size_t sizeOf(cudnnBackendAttributeType_t type) {
  switch (type) {
  case CUDNN_TYPE_BOOLEAN:
  case CUDNN_TYPE_CHAR:
    return 1;
  case CUDNN_TYPE_INT64:
  case CUDNN_TYPE_HANDLE:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    return 8;
  default:
    return 4;
  }
}

void put(StandInDescriptor &to, cudnnBackendAttributeName_t name,
         const void *values, size_t bytes) {
  auto *first = static_cast<const char *>(values);
  to.attributes[name].assign(first, first + bytes);
}

/// A linked descriptor must be finished and alive.
bool isLinkable(const void *const *links, int64_t count) {
  std::lock_guard<std::mutex> lock(aliveMutex);
  for (int64_t i = 0; i < count; ++i) {
    auto *link = static_cast<const StandInDescriptor *>(links[i]);
    if (!alive.count(link) || !link->isFinal)
      return false;
  }
  return true;
}

void fillEngines(StandInDescriptor &heuristic, int64_t requested,
                 int64_t *count, void *const *results) {
  *count = 2;
  const StandInDescriptor *graph =
      &heuristic.link(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  for (int64_t i = 0; i < std::min<int64_t>(requested, 2); ++i) {
    bool isFirst = i == 0;
    put(of(results[i]), CUDNN_ATTR_ENGINE_OPERATION_GRAPH, &graph,
        sizeof graph);
    put(of(results[i]), varies, &isFirst, sizeof isFirst);
    of(results[i]).isFinal = true;
  }
}

const StandInDescriptor &graphOf(const StandInDescriptor &plan) {
  return plan.link(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)
      .link(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
}
} // namespace

extern "C" {

size_t cudnnGetVersion() { return 90800; }
const char *cudnnGetErrorString(cudnnStatus_t) { return "stand-in error"; }
void cudnnGetLastErrorString(char *message, size_t size) {
  std::strncpy(message, "stand-in details", size);
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *result) {
  auto *descriptor = new StandInDescriptor{type, false, {}};
  std::lock_guard<std::mutex> lock(aliveMutex);
  alive.insert(descriptor);
  *result = descriptor;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  std::lock_guard<std::mutex> lock(aliveMutex);
  alive.erase(&of(descriptor));
  delete &of(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type,
                                       int64_t count, const void *values) {
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR &&
      !isLinkable(static_cast<const void *const *>(values), count))
    return CUDNN_STATUS_BAD_PARAM;
  put(of(descriptor), name, values, count * sizeOf(type));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t,
                                       int64_t requested, int64_t *count,
                                       void *values) {
  StandInDescriptor &from = of(descriptor);
  *count = 1;
  if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS) {
    fillEngines(from, requested, count, static_cast<void *const *>(values));
  } else if (name == CUDNN_ATTR_ENGINECFG_ENGINE) {
    of(*static_cast<void **>(values)).attributes = from.attributes;
  } else if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE) {
    auto *notes = static_cast<cudnnBackendNumericalNote_t *>(values);
    notes[0] = CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    notes[1] = CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
    *count = from.get<bool>(varies) ? 2 : 1;
  } else if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) {
    *static_cast<int64_t *>(values) = workspaceBytes;
  } else {
    return CUDNN_STATUS_BAD_PARAM;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  of(descriptor).isFinal = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle,
                                  cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  std::vector<int64_t> ids =
      of(pack).list<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  std::vector<void *> data =
      of(pack).list<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  auto *workspace = of(pack).get<char *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  // Constants are in host memory that may be gone when the work runs.
  std::map<int64_t, void *> buffers;
  std::map<int64_t, float> constants;
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 100)
      buffers[ids[i]] = data[i];
    else
      constants[ids[i]] = *static_cast<const float *>(data[i]);
  const StandInDescriptor *graph = &graphOf(of(plan));
  handle->stream->push([=]() mutable {
    for (auto &[id, value] : constants)
      buffers[id] = &value;
    std::memset(workspace, 0xFF, workspaceBytes);
    evaluate(*graph, buffers);
  });
  return CUDNN_STATUS_SUCCESS;
}

} // extern "C"
