//===- NcclConnection.h - making a communicator of NCCL ---------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_CUDA_NCCL_NCCLCONNECTION_H
#define TESSERA_RUNTIME_CUDA_NCCL_NCCLCONNECTION_H

#include "runtime/cuda/nccl/NcclLibrary.h"
#include "runtime/device/Rank.h"

namespace tessera::cuda {

/// A member's place in a group.
struct NcclSeat {
  ncclUniqueId id;
  int size, member;
  int device;       ///< its GPU
  std::string over; ///< "axis 'tp'"
};

/// ncclCommInitRank returns when all members have called it, or never: here a
/// failure of another rank, or the rank's time-out, ends the wait.
Status connectNccl(const NcclLibrary &nccl, const NcclSeat &seat,
                   const Rank &rank, ncclComm_t *comm);

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_NCCL_NCCLCONNECTION_H
