//===- GpuMachine.h - the GPUs that calibrate measures ----------*- C++ -*-===//

#ifndef TESSERA_LIB_CALIBRATE_GPUMACHINE_H
#define TESSERA_LIB_CALIBRATE_GPUMACHINE_H

#include <cstdint>
#include <string>

namespace tessera {

/// GPUs of one kind, all of one host.
struct GpuMachine {
  std::string name;         ///< "NVIDIA H200"
  std::string architecture; ///< "sm_90"
  int64_t count = 1;
  int64_t memoryBytes = 0, multiprocessors = 1; ///< The same for each.
  std::string communicator;                     ///< Connects several.
};

} // namespace tessera

#endif // TESSERA_LIB_CALIBRATE_GPUMACHINE_H
