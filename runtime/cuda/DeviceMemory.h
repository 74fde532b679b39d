//===- DeviceMemory.h - owned CUDA objects ----------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_DEVICEMEMORY_H
#define TESSERA_RUNTIME_CUDA_DEVICEMEMORY_H

#include "runtime/cuda/Check.h"

#include <cstdint>

namespace tessera::cuda {

/// Memory of the current device.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  ~DeviceMemory();

  /// Frees what there is first. TSR_OUT_OF_MEMORY names `what`, the bytes and
  /// what is free.
  void allocate(int64_t size, const char *what);
  unsigned char *data() const { return base; }
  int64_t size() const { return bytes; }

private:
  unsigned char *base = nullptr;
  int64_t bytes = 0;
};

/// Host memory that the device reads while the host goes on.
class PinnedMemory {
public:
  PinnedMemory() = default;
  PinnedMemory(const PinnedMemory &) = delete;
  PinnedMemory &operator=(const PinnedMemory &) = delete;
  ~PinnedMemory();

  void allocate(int64_t size);
  void *data() const { return base; }

private:
  void *base = nullptr;
};

/// Orders streams.
class Event {
public:
  enum class Kind { Order, Time };
  explicit Event(Kind kind = Kind::Order);
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;
  ~Event() { cudaEventDestroy(event); }

  void record(cudaStream_t stream) const;
  /// Waits until the latest record is reached; not at all if there is none.
  void wait() const;
  cudaEvent_t get() const { return event; }

private:
  cudaEvent_t event = nullptr;
};

/// A stream of the current device that waits for no other.
class Stream {
public:
  Stream();
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;
  ~Stream() { cudaStreamDestroy(stream); }

  cudaStream_t get() const { return stream; }

private:
  cudaStream_t stream = nullptr;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_DEVICEMEMORY_H
