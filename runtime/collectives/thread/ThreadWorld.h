//===- ThreadWorld.h - what the thread ranks of a session share -*- C++ -*-===//
// The groups, the first failure, and where every rank is. Waiting is here:
// spin, then sleep, and on a timeout or an early exit find out who is missing.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_THREAD_THREADWORLD_H
#define TESSERA_RUNTIME_COLLECTIVES_THREAD_THREADWORLD_H

#include "runtime/artifact/Metadata.h"
#include "runtime/collectives/Diagnosis.h"
#include "runtime/collectives/FirstFailure.h"
#include "runtime/collectives/thread/MessageChannel.h"

#include <map>
#include <memory>

namespace tessera {

struct ThreadWorldOptions {
  Mesh mesh;
  std::chrono::milliseconds timeout{60000};
  int threadsPerRank = 1;
  /// Polls before a waiting rank sleeps; 0 where ranks outnumber cores.
  int spins = 0;
  /// Names an op for diagnostics.
  DescribeOp describeOp;
};

/// The object that a member of a group waits for.
class Awaited {
public:
  virtual ~Awaited() = default;
  /// Global ranks of the members.
  virtual const std::vector<int64_t> &ranks() const = 0;
  virtual bool isComplete() const = 0;
  virtual bool hasArrived(size_t member) const = 0;
  /// Sleeps until it is complete, or the time is over.
  virtual void sleep(std::chrono::milliseconds time) const = 0;
  /// Returns "all_reduce 'h.3.mlp' of layer 3 (op 12) over axis 'tp'".
  virtual std::string describe(const ThreadWorldOptions &options) const = 0;
};

class ThreadWorld {
public:
  explicit ThreadWorld(ThreadWorldOptions options);

  const ThreadWorldOptions &options() const { return settings; }
  /// Returns the group of `rank` over a set of axes; made on first use.
  GroupBarrier &group(int64_t rank, int64_t axes, Lane lane = Lane::Program);
  MessageChannel &channel(int64_t sender, int64_t receiver);
  /// Returns the barrier of the same ranks, as its members 0 and 1.
  GroupBarrier &channelBarrier(int64_t sender, int64_t receiver);

  /// Aborts if the rank can exchange no such message.
  Status check(int64_t rank, const Message &message);
  /// Waits. `spins` is false in the background, which leaves the cores to the
  /// programs.
  Status waitFor(const Awaited &what, bool spins);

  void abort(const Status &status) { first.record(status); }
  bool failed() const { return first.failed(); }
  Status failure() const { return first.get(); }

  /// Describes where all ranks but one are.
  std::string describeOthers(int64_t rank) const;

  void reached(int64_t rank, int64_t op);
  void setInside(int64_t rank, bool inside);
  /// Aborts because of the ranks that are still in the program.
  void abortStragglers() noexcept;

private:
  struct alignas(64) Place {
    std::atomic<int64_t> op{-1};
    std::atomic<bool> inside{true};
  };
  bool spin(const Awaited &what) const;
  bool someoneLeft(const Awaited &what) const;
  RankPlace placeOf(int64_t rank) const;
  std::string missing(int64_t rank) const;
  std::string describeStragglers() const;
  std::string describe(const Awaited &what, const std::string &why) const;

  ThreadWorldOptions settings;
  std::deque<Place> places;
  std::mutex groupsMutex;
  template <class T>
  using Pairs = std::map<std::pair<int64_t, int64_t>, std::unique_ptr<T>>;
  /// One per lane; each is for axes and the first rank.
  Pairs<GroupBarrier> groups[2];
  Pairs<GroupBarrier> channelBarriers;
  Pairs<MessageChannel> channels;
  FirstFailure first;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_THREAD_THREADWORLD_H
