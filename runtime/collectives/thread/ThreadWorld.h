//===- ThreadWorld.h - what the thread ranks of a session share -*- C++ -*-===//
// The groups, the first failure, and where every rank is. Waiting is here:
// spin, then sleep, and on a timeout or an early exit find out who is missing.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_THREAD_THREADWORLD_H
#define TESSERA_RUNTIME_COLLECTIVES_THREAD_THREADWORLD_H

#include "runtime/artifact/Metadata.h"
#include "runtime/collectives/Diagnosis.h"
#include "runtime/collectives/FirstFailure.h"

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

/// A member that waits: the text is only made if the wait fails.
struct Wait {
  GroupBarrier &group;
  int64_t member;
  const Offer &offer;
  /// "over axis 'tp'" or "from rank 0 to rank 1"
  std::string (*where)(const Mesh &, const Wait &);
  /// The background leaves the cores to the programs.
  bool spins = true;
};

class ThreadWorld {
public:
  explicit ThreadWorld(ThreadWorldOptions options);

  const ThreadWorldOptions &options() const { return settings; }
  /// The group of `rank` over a set of axes; made on first use.
  GroupBarrier &group(int64_t rank, int64_t axes, Lane lane = Lane::Program);
  /// Members: the sender, the receiver.
  GroupBarrier &channel(int64_t sender, int64_t receiver);

  /// Arrives and waits for the others.
  Status arrive(const Wait &wait);

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
  bool spin(const GroupBarrier &group, uint64_t round) const;
  bool someoneLeft(const GroupBarrier &group, uint64_t round) const;
  RankPlace placeOf(int64_t rank) const;
  std::string missing(int64_t rank) const;
  std::string describeStragglers() const;
  std::string describe(const Wait &wait, uint64_t round,
                       const std::string &why) const;

  ThreadWorldOptions settings;
  std::deque<Place> places;
  std::mutex groupsMutex;
  using Groups =
      std::map<std::pair<int64_t, int64_t>, std::unique_ptr<GroupBarrier>>;
  Groups groups[2], channels; ///< groups by lane
  FirstFailure first;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_THREAD_THREADWORLD_H
