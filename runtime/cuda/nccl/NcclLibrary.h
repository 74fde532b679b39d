//===- NcclLibrary.h - NCCL, found at run time ------------------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_NCCL_NCCLLIBRARY_H
#define TESSERA_RUNTIME_CUDA_NCCL_NCCLLIBRARY_H

#include "runtime/support/Status.h"

#include <nccl.h>

namespace tessera::cuda {

struct NcclLibrary {
  decltype(&ncclGetVersion) getVersion;
  decltype(&ncclGetUniqueId) getUniqueId;
  decltype(&ncclCommInitRank) commInitRank;
  decltype(&ncclCommAbort) commAbort;
  decltype(&ncclCommDestroy) commDestroy;
  decltype(&ncclCommGetAsyncError) commGetAsyncError;
  decltype(&ncclGetErrorString) getErrorString;
  decltype(&ncclGetLastError) getLastError;
  decltype(&ncclAllReduce) allReduce;
  decltype(&ncclAllGather) allGather;
  decltype(&ncclReduceScatter) reduceScatter;
  decltype(&ncclBroadcast) broadcast;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) recv;
  decltype(&ncclGroupStart) groupStart;
  decltype(&ncclGroupEnd) groupEnd;

  /// Opened on first use; TSR_NOT_FOUND.
  static const NcclLibrary &get();
  Status statusOf(ncclResult_t result, const std::string &what) const;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_NCCL_NCCLLIBRARY_H
