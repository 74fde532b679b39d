//===- ThreadTeam.h - The threads of a rank ---------------------*- C++ -*-===//
// A rank's work is a sequence of short parallel regions. Between two of them a
// worker spins for some microseconds and then sleeps: OpenMP's default spins
// for milliseconds, which on a shared machine takes the very core that the
// others wait for.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_SUPPORT_THREADTEAM_H
#define TESSERA_RUNTIME_SUPPORT_THREADTEAM_H

#include <memory>
#include <vector>

namespace tessera {

class ThreadTeam {
public:
  using Task = void (*)(const void *context, int part);

  /// Returns the calling thread's own team. Its workers start at the first use,
  /// inherit the caller's cores, take no signals, and end with the caller.
  static ThreadTeam &ofThisThread();

  ThreadTeam();
  ~ThreadTeam();

  /// Runs task(context, part) for every part in [0, parts), each on its own
  /// thread, part 0 on the caller's. Parts for which the system gives no thread
  /// run on the caller's too. What a part throws reaches the caller once all
  /// have ended.
  void run(int parts, Task task, const void *context);
  /// Ends workers beyond the first `kept`.
  void shrink(int kept);

private:
  class Worker;
  std::vector<std::unique_ptr<Worker>> workers;
  int startWorkers(int wanted);
};

/// body(part) for every part in [0, parts), at the same time.
template <class Body> void inParallel(int parts, const Body &body) {
  if (parts == 1)
    return body(0);
  if (parts > 1)
    ThreadTeam::ofThisThread().run(
        parts,
        [](const void *context, int part) {
          (*static_cast<const Body *>(context))(part);
        },
        &body);
}

} // namespace tessera

#endif // TESSERA_RUNTIME_SUPPORT_THREADTEAM_H
