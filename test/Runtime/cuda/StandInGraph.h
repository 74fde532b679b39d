//===- StandInGraph.h - a graph of cuDNN, evaluated on the host -*- C++ -*-===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_STANDINGRAPH_H
#define TESSERA_TEST_RUNTIME_CUDA_STANDINGRAPH_H

#include <cstdint>
#include <cudnn_graph.h>
#include <map>
#include <vector>

/// The attributes that were set on an object of the graph interface.
struct StandInDescriptor {
  cudnnBackendDescriptorType_t type;
  bool isFinal = false;
  std::map<cudnnBackendAttributeName_t, std::vector<char>> attributes;

  bool has(cudnnBackendAttributeName_t name) const {
    return attributes.count(name) != 0;
  }
  template <class T>
  std::vector<T> list(cudnnBackendAttributeName_t name) const {
    const std::vector<char> &bytes = attributes.at(name);
    auto *first = reinterpret_cast<const T *>(bytes.data());
    return std::vector<T>(first, first + bytes.size() / sizeof(T));
  }
  template <class T> T get(cudnnBackendAttributeName_t name) const {
    return list<T>(name).at(0);
  }
  const StandInDescriptor &link(cudnnBackendAttributeName_t name) const {
    return *get<const StandInDescriptor *>(name);
  }
};

/// Computes the operations one by one, in f64 but for what a tensor's type
/// rounds. `buffers`: addresses by id, also of constants.
void evaluate(const StandInDescriptor &graph,
              const std::map<int64_t, void *> &buffers);

#endif // TESSERA_TEST_RUNTIME_CUDA_STANDINGRAPH_H
