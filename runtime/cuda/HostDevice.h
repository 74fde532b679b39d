//===- HostDevice.h - One source for the GPU and for g++ --------*- C++ -*-===//
// Kernel bodies are written in headers that g++ compiles too, so that the very
// code that runs on a GPU is tested where there is none. (The attention kernels
// are templates over an execution policy: CudaExec.cuh on the GPU, HostExec.h
// in the tests.) These macros make it compile in both worlds.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_HOSTDEVICE_H
#define TESSERA_RUNTIME_CUDA_HOSTDEVICE_H

#if defined(__CUDACC__)
/// Index arithmetic: also evaluated by the compiler and by the launcher.
#define TSR_HOST_DEVICE __host__ __device__
/// Parts of a kernel. Arrays passed by reference must become registers, so
/// nothing may stay a call.
#define TSR_DEVICE __device__ __forceinline__
#define TSR_UNROLL _Pragma("unroll")
#define TSR_NO_UNROLL _Pragma("unroll 1")
#else
#define TSR_HOST_DEVICE
#define TSR_DEVICE inline
#define TSR_UNROLL
#define TSR_NO_UNROLL
#endif

#endif // TESSERA_RUNTIME_CUDA_HOSTDEVICE_H
