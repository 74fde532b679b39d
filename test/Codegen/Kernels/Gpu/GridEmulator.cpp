//===- GridEmulator.cpp - runs CUDA kernels on the CPU --------------------===//
// For programs that went through emulate-grid, in an executable that exports
// its symbols. A thread is a fiber; a warp goes on when all its lanes have come
// to the same shuffle, a block when all threads have come to the barrier. Lanes
// and warps run in a shuffled order, so that code which needs an order it did
// not ask for fails sooner or later. Divergence at a barrier or a shuffle ends
// the process with a message: on a GPU it would hang or compute garbage.
//===----------------------------------------------------------------------===//

// Fibers jump between stacks with longjmp, which makes no system calls as
// swapcontext does. The fortified longjmp refuses that.
#undef _FORTIFY_SOURCE

#include "tessera/Codegen/Kernels/DeviceKernel.h"
#include "tessera/abi.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <setjmp.h>
#include <ucontext.h>
#include <vector>

namespace {

constexpr int kWarp = 32;
constexpr size_t kStackBytes = 64 << 10;

enum class Place { Ready, AtShuffle, AtWarpBarrier, AtBarrier, Done };

struct Fiber {
  ucontext_t context; ///< of its first turn
  jmp_buf resumed;    ///< of the others
  std::unique_ptr<char[]> stack;
  bool isStarted = false;
  Place place = Place::Done;
  int32_t posted = 0, mask = 0, received = 0;
};

struct Launch {
  void *thread = nullptr;
  const tsr_abi_device_kernel *kernel = nullptr;
  std::vector<void *> arguments;
};

/// Calls a function of `count` pointers.
template <size_t... i>
void callWith(void *function, void *const *arguments,
              std::index_sequence<i...>) {
  using Function = void (*)(decltype((void)i, (void *)nullptr)...);
  reinterpret_cast<Function>(function)(arguments[i]...);
}

template <size_t count = 2>
void callThread(void *function, const std::vector<void *> &arguments) {
  constexpr size_t most = 64;
  if (arguments.size() == count)
    return callWith(function, arguments.data(),
                    std::make_index_sequence<count>());
  if constexpr (count < most)
    return callThread<count + 1>(function, arguments);
  std::fprintf(stderr, "grid emulator: %zu parameters\n", arguments.size());
  std::abort();
}

class BlockRun {
public:
  static BlockRun &current() {
    thread_local BlockRun run;
    return run;
  }

  void runGrid(const Launch &next) {
    launch = next;
    threads = int(launch.kernel->threads);
    while (int(fibers.size()) < threads)
      fibers.emplace_back();
    for (block = 0; block < launch.kernel->blocks; ++block)
      runBlock();
  }

  int32_t self = 0;
  int64_t block = 0;
  std::vector<char> sharedMemory;

  /// Leaves the running thread until the scheduler lets it go on.
  void waitAt(Place place) {
    Fiber &own = fibers[self];
    own.place = place;
    if (_setjmp(own.resumed) == 0)
      _longjmp(scheduler, 1);
  }

  Fiber &fiber() { return fibers[self]; }

private:
  /// A fiber's stack serves one thread after the other.
  static void start() {
    BlockRun &run = current();
    while (true) {
      callThread(run.launch.thread, run.launch.arguments);
      run.waitAt(Place::Done);
    }
  }

  void prepare(Fiber &fiber) {
    fiber.place = Place::Ready;
    if (fiber.stack)
      return;
    // Not cleared: a thread touches few pages of its stack.
    fiber.stack.reset(new char[kStackBytes]);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, start, 0);
  }

  void runBlock() {
    // Shared memory holds garbage at first: NaN is the worst.
    sharedMemory.assign(launch.kernel->shared_bytes + 16, char(0xFF));
    for (int i = 0; i < threads; ++i)
      prepare(fibers[i]);
    std::vector<int> warps((threads + kWarp - 1) / kWarp);
    while (true) {
      for (size_t i = 0; i < warps.size(); ++i)
        warps[i] = int(i);
      std::shuffle(warps.begin(), warps.end(), random);
      for (int warp : warps)
        runWarp(warp);
      if (count(0, threads, Place::Done) == threads)
        return;
      if (count(0, threads, Place::AtBarrier) != threads)
        die("threads of a block do not all come to its barrier");
      for (int i = 0; i < threads; ++i)
        fibers[i].place = Place::Ready;
    }
  }

  /// Until all lanes are done or at the block's barrier.
  void runWarp(int warp) {
    int begin = warp * kWarp, end = std::min(threads, begin + kWarp);
    std::vector<int> lanes;
    for (int i = begin; i < end; ++i)
      lanes.push_back(i);
    while (true) {
      std::shuffle(lanes.begin(), lanes.end(), random);
      for (int lane : lanes)
        resume(lane);
      bool isShuffle = count(begin, end, Place::AtShuffle) == end - begin;
      bool isBarrier = count(begin, end, Place::AtWarpBarrier) == end - begin;
      if (isShuffle)
        exchange(begin, end);
      if (!isShuffle && !isBarrier)
        break;
      for (int lane : lanes)
        fibers[lane].place = Place::Ready;
    }
    if (count(begin, end, Place::AtShuffle) ||
        count(begin, end, Place::AtWarpBarrier))
      die("lanes of a warp do not all come to a shuffle or warp barrier");
  }

  [[noreturn]] static void enter(Fiber &fiber) {
    if (fiber.isStarted)
      _longjmp(fiber.resumed, 1);
    fiber.isStarted = true;
    setcontext(&fiber.context);
    std::abort();
  }

  void resume(int lane) {
    if (fibers[lane].place != Place::Ready)
      return;
    self = lane;
    if (_setjmp(scheduler) == 0)
      enter(fibers[lane]);
  }

  void exchange(int begin, int end) {
    for (int i = begin; i < end; ++i) {
      int other = begin + ((i - begin) ^ fibers[i].mask);
      if (other >= end)
        die("a shuffle reads a lane that does not exist");
      fibers[i].received = fibers[other].posted;
    }
  }

  int count(int begin, int end, Place place) const {
    return int(std::count_if(
        fibers.begin() + begin, fibers.begin() + end,
        [&](const Fiber &fiber) { return fiber.place == place; }));
  }

  [[noreturn]] void die(const char *why) const {
    std::fprintf(stderr, "grid emulator: kernel '%s', block %lld: %s\n",
                 launch.kernel->name, (long long)block, why);
    std::abort();
  }

  Launch launch;
  int threads = 0;
  std::deque<Fiber> fibers;
  jmp_buf scheduler;
  std::mt19937 random{1};
};

/// The workspace of this host thread; it holds nothing between launches: NaN.
void *freshWorkspace(int64_t bytes) {
  constexpr size_t alignment = 256; // cudaMalloc's
  thread_local std::vector<char> memory;
  memory.assign(bytes + alignment, char(0xFF));
  auto address = reinterpret_cast<uintptr_t>(memory.data());
  return reinterpret_cast<void *>((address + alignment - 1) &
                                  ~uintptr_t(alignment - 1));
}

void run(void *const *threads, const void *kernel, int64_t workspaceBytes,
         void *const *buffers, const int64_t *scalars, int64_t begin,
         int64_t end) {
  if (begin != 0 || end == 0)
    return;
  void *workspace = freshWorkspace(workspaceBytes);
  for (auto *at = static_cast<const tsr_abi_device_kernel *>(kernel); at;
       at = at->next) {
    Launch launch{*threads++, at, {}};
    launch.arguments.assign(buffers, buffers + at->buffers);
    launch.arguments.push_back(const_cast<int64_t *>(scalars));
    launch.arguments.push_back(workspace);
    BlockRun::current().runGrid(launch);
  }
}

int32_t shuffle(int32_t value, int32_t mask) {
  BlockRun &run = BlockRun::current();
  Fiber &fiber = run.fiber();
  fiber.posted = value;
  fiber.mask = mask;
  run.waitAt(Place::AtShuffle);
  return fiber.received;
}

void *sharedMemory() {
  auto address =
      reinterpret_cast<uintptr_t>(BlockRun::current().sharedMemory.data());
  return reinterpret_cast<void *>((address + 15) & ~uintptr_t(15));
}

} // namespace

/// One kernel, for a device that launches: its parameters are the buffers, the
/// address of the scalars and that of the workspace.
extern "C" __attribute__((visibility("default"), used)) void
tsr_emulate_launch(void *thread, const tsr_abi_device_kernel *kernel,
                   void *const *parameters) {
  BlockRun::current().runGrid(
      {thread, kernel, {parameters, parameters + kernel->buffers + 2}});
}

/// Programs of emulate-grid find it by its name.
extern "C" __attribute__((visibility("default"), used))
const tessera::GridEmulator tsr_grid_emulator{
    run,
    [] { return BlockRun::current().self; },
    [] { return int32_t(BlockRun::current().block); },
    shuffle,
    [] { BlockRun::current().waitAt(Place::AtBarrier); },
    [] { BlockRun::current().waitAt(Place::AtWarpBarrier); },
    sharedMemory};
