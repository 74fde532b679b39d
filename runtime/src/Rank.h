//===- Rank.h - one rank of a session
//-----------------------------------------===
// Its memory, its endpoint, and the frame its program gets. `context` of the
// ABI points to a Rank.
//===------------------------------------------------------------------------===
#ifndef TESSERA_RUNTIME_RANK_H
#define TESSERA_RUNTIME_RANK_H

#include "Arena.h"
#include "Communicator.h"
#include "Metadata.h"

#include <memory>

namespace tessera {

struct Rank {
  int64_t number = 0;
  std::vector<int64_t> coordinates;
  std::shared_ptr<const Metadata> metadata;
  std::unique_ptr<Communicator> communicator;
  Arena arena;
  int threads = 1;

  unsigned char *at(const TensorInfo &tensor) const {
    return arena.data() + tensor.offset;
  }
};

/// The table that programs call (Entries.cpp). An entry that fails aborts the
/// communicator with a message and returns non-zero.
const tsr_abi_api &cpuApi();

/// Runs one step of `program`; never throws. On a failure all ranks'
/// collectives fail too.
void runProgram(Rank &rank, tsr_abi_program program, int64_t step,
                int64_t seed) noexcept;

} // namespace tessera

#endif // TESSERA_RUNTIME_RANK_H
