//===- HostDevice.h - One source for the GPU and for g++ --------*- C++ -*-===//
// The bodies of the attention kernels are templates over an execution policy
// (CudaExec.cuh on the GPU, HostExec.h in the tests), so that the very code
// that runs on a GPU is tested where there is none. These macros make it
// compile in both worlds.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CUDA_ATTENTION_HOSTDEVICE_H
#define TESSERA_CUDA_ATTENTION_HOSTDEVICE_H

#if defined(__CUDACC__)
/// Index arithmetic: also evaluated by the compiler and by the launcher.
#define ATTENTION_HOST_DEVICE __host__ __device__
/// Parts of a kernel. Arrays passed by reference must become registers, so
/// nothing may stay a call.
#define ATTENTION_DEVICE __device__ __forceinline__
#define ATTENTION_UNROLL _Pragma("unroll")
#define ATTENTION_NO_UNROLL _Pragma("unroll 1")
#else
#define ATTENTION_HOST_DEVICE
#define ATTENTION_DEVICE inline
#define ATTENTION_UNROLL
#define ATTENTION_NO_UNROLL
#endif

#endif // TESSERA_CUDA_ATTENTION_HOSTDEVICE_H
