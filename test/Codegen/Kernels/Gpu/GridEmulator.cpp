//===- GridEmulator.cpp - runs CUDA kernels on the CPU --------------------===//
// For programs that went through emulate-grid, in an executable that exports
// its symbols. A thread is a fiber; a warp goes on when all its lanes have come
// to the same shuffle, a block when all threads have come to the barrier. Lanes
// and warps run in a shuffled order, so that code which needs an order it did
// not ask for fails sooner or later. Divergence at a barrier or a shuffle ends
// the process with a message: on a GPU it would hang or compute garbage.
//===----------------------------------------------------------------------===//

#include "tessera/Codegen/Kernels/DeviceKernel.h"
#include "tessera/abi.h"
#include "test/Fibers.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

using tessera::test::enterStack;
using tessera::test::jump;

namespace {

constexpr int kWarp = 32;
constexpr int kMostThreads = 1024; // CUDA's limit for a block
constexpr size_t kStackBytes = 64 << 10;

enum class Place : char { Ready, AtShuffle, AtWarpBarrier, AtBarrier, Done };

using Jump = void *[5]; ///< see __builtin_setjmp

struct Fiber {
  Jump resumed; ///< for all turns but the first
  std::unique_ptr<char[]> stack;
  bool isStarted = false;
  int32_t posted = 0, mask = 0, received = 0;
};

/// Knuth's MMIX generator: a shuffle of 32 lanes costs less than their turns.
class Shuffler {
public:
  void shuffle(std::vector<int> &order) {
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[(next() * i) >> 32]);
  }

private:
  /// Returns 32 bits.
  uint64_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 32;
  }

  uint64_t state = 1;
};

struct Launch {
  void *thread = nullptr;
  const tsr_abi_device_kernel *kernel = nullptr;
  std::vector<void *> arguments;
  int64_t launches = 1; ///< launches that run as one
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
    if (threads > kMostThreads)
      die("a block has too many threads");
    for (member = launch.launches; member-- > 0;)
      for (block = 0; block < launch.kernel->blocks; ++block)
        runBlock();
  }

  int32_t self = 0;
  int64_t block = 0;
  int64_t member = 0; ///< number among the launches; the last comes first
  std::vector<char> sharedMemory;

  /// Leaves the running thread until it is given another turn.
  void waitAt(Place place) {
    Fiber &own = fibers[self];
    places[self] = place;
    void **next = passTurn();
    if (__builtin_setjmp(own.resumed) == 0)
      jump(next);
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

  void runBlock() {
    // Shared memory holds garbage at first: NaN is the worst.
    sharedMemory.assign(launch.kernel->shared_bytes + 16, char(0xFF));
    std::fill_n(places.begin(), threads, Place::Ready);
    std::vector<int> warps((threads + kWarp - 1) / kWarp);
    while (true) {
      for (size_t i = 0; i < warps.size(); ++i)
        warps[i] = int(i);
      random.shuffle(warps);
      for (int warp : warps)
        runWarp(warp);
      if (count(0, threads, Place::Done) == threads)
        return;
      if (count(0, threads, Place::AtBarrier) != threads)
        die("threads of a block do not all come to its barrier");
      std::fill_n(places.begin(), threads, Place::Ready);
    }
  }

  /// Runs until all lanes are done or at the block's barrier.
  void runWarp(int warp) {
    int begin = warp * kWarp, end = std::min(threads, begin + kWarp);
    lanes.clear();
    for (int i = begin; i < end; ++i)
      lanes.push_back(i);
    while (true) {
      random.shuffle(lanes);
      for (turn = nextReady(0); turn < lanes.size(); turn = nextReady(turn + 1))
        resume(lanes[turn]);
      bool isShuffle = count(begin, end, Place::AtShuffle) == end - begin;
      bool isBarrier = count(begin, end, Place::AtWarpBarrier) == end - begin;
      if (isShuffle)
        exchange(begin, end);
      if (!isShuffle && !isBarrier)
        break;
      std::fill(places.begin() + begin, places.begin() + end, Place::Ready);
    }
    if (count(begin, end, Place::AtShuffle) ||
        count(begin, end, Place::AtWarpBarrier))
      die("lanes of a warp do not all come to a shuffle or warp barrier");
  }

  /// The first turn from `from` on of a lane that can go on, or their number.
  size_t nextReady(size_t from) const {
    while (from < lanes.size() && places[lanes[from]] != Place::Ready)
      ++from;
    return from;
  }

  /// Returns where the lane with the next turn waits; that of the scheduler if
  /// there is none, or if it has no stack yet.
  void **passTurn() {
    size_t next = nextReady(turn + 1);
    if (next == lanes.size() || !fibers[lanes[next]].isStarted)
      return scheduler;
    turn = next;
    self = lanes[next];
    return fibers[self].resumed;
  }

  [[noreturn]] static void enter(Fiber &fiber) {
    fiber.isStarted = true;
    // Not cleared: a thread touches few pages of its stack.
    fiber.stack.reset(new char[kStackBytes]);
    enterStack(fiber.stack.get(), kStackBytes, start);
  }

  /// Returns when a turn cannot be passed on.
  void resume(int lane) {
    self = lane;
    if (__builtin_setjmp(scheduler) != 0)
      return;
    if (fibers[lane].isStarted)
      jump(fibers[lane].resumed);
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
    return int(std::count(places.begin() + begin, places.begin() + end, place));
  }

  [[noreturn]] void die(const char *why) const {
    std::fprintf(stderr, "grid emulator: kernel '%s', block %lld: %s\n",
                 launch.kernel->name, (long long)block, why);
    std::abort();
  }

  Launch launch;
  int threads = 0;
  std::vector<Fiber> fibers = std::vector<Fiber>(kMostThreads);
  std::vector<Place> places = std::vector<Place>(kMostThreads);
  /// Lanes of the running warp, in the order of their turns.
  std::vector<int> lanes;
  size_t turn = 0;
  Jump scheduler;
  Shuffler random;
};

/// Returns the workspace of this host thread; it holds nothing between
/// launches: NaN.
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
    Launch launch{*threads++, at, {}, 1};
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
      {thread, kernel, {parameters, parameters + kernel->buffers + 2}, 1});
}

/// Several launches as one: `thread` is the kernel's form for them. Behind its
/// table lies nothing that may be read.
extern "C" __attribute__((visibility("default"), used)) void
tsr_emulate_batch(void *thread, const tsr_abi_device_kernel *kernel,
                  int64_t launches, void *table) {
  // A kernel of one parameter is called with two.
  BlockRun::current().runGrid({thread, kernel, {table, nullptr}, launches});
}

/// Programs of emulate-grid find it by its name.
extern "C" __attribute__((visibility("default"), used))
const tessera::GridEmulator tsr_grid_emulator{
    run,
    [] { return BlockRun::current().self; },
    [] { return int32_t(BlockRun::current().block); },
    [] { return int32_t(BlockRun::current().member); },
    shuffle,
    [] { BlockRun::current().waitAt(Place::AtBarrier); },
    [] { BlockRun::current().waitAt(Place::AtWarpBarrier); },
    sharedMemory};
