//===- HostBlock.h - A thread block on a CPU --------------------*- C++ -*-===//
// Runs the threads of a block as fibers, switched at barriers, warp-wide
// operations and nowhere else, in a chosen order. Shared memory is watched: it
// reports races between barriers, reads of what nobody wrote or of copies in
// flight, and bank conflicts of ldmatrix, which a CPU would not notice.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_RUNTIME_CUDA_ATTENTION_HOSTBLOCK_H
#define TESSERA_TEST_RUNTIME_CUDA_ATTENTION_HOSTBLOCK_H

#include "test/Runtime/cuda/attention/SharedMemory.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::test {

/// In which order threads that can run do.
enum class Order { Forward, Backward, Shuffled };

class HostBlock {
public:
  HostBlock(int threads, int sharedBytes, Order order);
  ~HostBlock();

  struct Index {
    int x, y, z;
  };
  /// Runs `body` on every thread. Returns the first defect found, or "".
  std::string run(Index index,
                  const std::function<void(unsigned char *)> &body);

  /// The block whose thread is running; only valid inside of `body`. Host
  /// threads may each run one.
  static thread_local HostBlock *current;

  Index index;
  int thread = 0; /* the one that runs */
  SharedMemory shared;

  void barrier();
  /// All lanes of a warp meet. Each brings its slot and an operation, the same
  /// for all; the last lane applies it to the 32 slots, then all go on.
  using WarpOperation = void (*)(void *const *slots);
  void meet(WarpOperation operation, void *slot);

private:
  enum class State : char { Ready, AtBarrier, InWarp, Done };
  using Jump = void *[5]; /* see __builtin_setjmp */
  struct Fiber {
    Jump resumed; /* for all turns but the first */
    bool started = false;
    std::unique_ptr<unsigned char[]> stack;
    WarpOperation operation;
    void *slot;
  };

  [[noreturn]] static void enter();
  size_t nextReady(size_t from) const;
  void **passTurn();
  void wait(State state);
  void resume(int next);
  bool resumeReady();
  bool releaseBarrier();
  void releaseWarp();

  std::vector<Fiber> fibers;
  std::vector<State> states; /* one for each fiber */
  std::vector<int> inWarp;   /* fibers of each warp in that state */
  std::vector<int> order;
  size_t turn = 0; /* in that order */
  Jump scheduler;
  const std::function<void(unsigned char *)> *body = nullptr;
};

} // namespace tessera::test

#endif // TESSERA_TEST_RUNTIME_CUDA_ATTENTION_HOSTBLOCK_H
