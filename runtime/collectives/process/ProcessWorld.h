//===- ProcessWorld.h - what a process knows of the others ------*- C++ -*-===//
// One rank per process. A thread of its own listens on the control connections:
// it takes the others' failures, notices a process that ends, and answers where
// this rank is, however busy the rank may be.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSWORLD_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSWORLD_H

#include "runtime/artifact/Metadata.h"
#include "runtime/collectives/Diagnosis.h"
#include "runtime/collectives/FirstFailure.h"
#include "runtime/collectives/process/Frames.h"
#include "runtime/collectives/process/ProcessEngine.h"
#include "runtime/collectives/process/ProcessRendezvous.h"

#include <deque>
#include <poll.h>
#include <thread>

namespace tessera {

struct ProcessWorldOptions {
  Mesh mesh;
  int64_t rank = 0;
  std::chrono::milliseconds timeout{60000};
  DescribeOp describeOp;
  /// The longest wait for a peer that works on files, as long as it says so.
  std::chrono::milliseconds saveTimeout{1800000};
};

class ProcessWorld {
public:
  /// `engine`: null is TCP, over the links' data connections.
  ProcessWorld(ProcessLinks links, ProcessWorldOptions options,
               std::unique_ptr<Engine> engine = nullptr);
  ProcessWorld(const ProcessWorld &) = delete;
  ProcessWorld &operator=(const ProcessWorld &) = delete;
  /// Says goodbye and waits for the others' goodbye, but not for long: nothing
  /// on the way is lost, and a launcher ends no process before its last words.
  ~ProcessWorld();

  const ProcessWorldOptions &options() const { return settings; }
  Engine &engine() const { return *mover; }
  /// Returns which host each rank is on, as a number.
  const std::vector<int64_t> &hosts() const { return links.hosts; }

  /// Tells the others, too.
  void abort(const Status &status) noexcept;
  bool failed() const { return first.failed(); }
  Status failure() const { return first.get(); }

  void reached(int64_t op) { own.op.store(op, std::memory_order_relaxed); }
  void entered();
  void left() { own.inside.store(false); }
  /// Says that this rank reads or writes files, or no longer does; others wait
  /// longer for it meanwhile.
  void worksOnFiles(bool works) { own.works.store(works); }
  /// This rank is in a call over `axes` (0: a message) and waits for a peer.
  void waits(Lane lane, int64_t peer, int64_t op, int64_t axes);
  void stopsWaiting(Lane lane) { own.waits[static_cast<int>(lane)].peer = -1; }

  /// This rank sends a call's frame to a peer, with so many bytes in all, or
  /// has one of it.
  void countSent(int64_t peer, Lane lane, int64_t bytes) {
    ++others[peer].sent[static_cast<int>(lane)];
    others[peer].bytesSent += bytes;
  }
  void countReceived(int64_t peer, Lane lane) {
    ++others[peer].received[static_cast<int>(lane)];
  }

  /// Returns the bytes of calls that went to a peer, with their frames.
  int64_t bytesTo(int64_t peer) const { return others[peer].bytesSent.load(); }

  /// Asks where a peer is; the answer comes some time later.
  void ask(int64_t peer);
  /// Returns whether the peer's last answer says that it is out of the program,
  /// and no frame of it is on the way.
  bool hasLeft(int64_t peer, Lane lane);
  /// The process has ended, or closed its session; its last words may still be
  /// on their way to `failure`.
  bool isGone(int64_t peer) const { return others[peer].gone.load(); }
  /// Returns when the peer last said that it works on files; the epoch if
  /// never.
  Deadline workedAt(int64_t peer);
  /// Describes a wait to the end of the chain: "it is in ... over axis 'tp',
  /// where it waits for rank 3, which does not answer". Asks each rank, and
  /// waits a moment for the answer.
  std::string describeWait(int64_t peer, Lane lane);
  /// Asks all other ranks where they are, and describes that.
  std::string describeOthers();

private:
  /// A call in which a rank waits.
  struct Wait {
    std::atomic<int64_t> peer{-1}, op{-1}, axes{0}; ///< peer -1: none
  };
  struct Own {
    std::atomic<bool> inside{true}, works{false};
    std::atomic<int64_t> op{-1}, round{0};
    Wait waits[2]; ///< one per lane
  };
  /// The last answer of a peer.
  struct Answer {
    int64_t number = 0; ///< 0: nothing yet
    RankPlace place;
    int64_t round = -1, sentToUs[2] = {0, 0};         ///< one per lane
    int64_t waitsFor[2] = {-1, -1}, axes[2] = {0, 0}; ///< one per lane
    Deadline workedAt{};
  };
  /// The place of a peer, and the rank that it waits for there; -1: nobody, as
  /// far as known.
  struct Whereabouts {
    std::string text;
    int64_t waitsFor = -1;
  };
  struct Other {
    std::atomic<int64_t> sent[2] = {}, received[2] = {}; ///< one per lane
    std::atomic<int64_t> bytesSent{0};
    std::atomic<bool> gone{false}, goodbye{false};
    std::mutex answering;
    Answer answer;
  };
  Answer answerOf(int64_t peer);
  bool hasAnswered(int64_t peer, Answer *answer);
  Whereabouts whereIs(int64_t peer, Lane lane);
  Whereabouts whereabouts(const Answer &answer, Lane lane) const;
  ControlMessage here(int64_t peer) const;
  void keep(int64_t peer, const ControlMessage &message) noexcept;
  std::string describeOwn() const;
  // The listener's thread and the destructor run these: nothing may leave them.
  void listen(std::vector<pollfd> &entries) noexcept;
  void take(int64_t peer) noexcept;
  void handle(int64_t peer, const ControlMessage &message,
              std::string &text) noexcept;
  void lost(int64_t peer) noexcept;
  void tell(int64_t peer, const ControlMessage &message,
            const std::string &text) noexcept;
  void tellFailure(int64_t peer) noexcept;
  void waitForGoodbyes() const;

  ProcessLinks links;
  std::unique_ptr<Engine> mover;
  ProcessWorldOptions settings;
  FirstFailure first;
  Own own;
  std::deque<Other> others; ///< one per rank
  std::mutex telling;
  std::atomic<bool> stopping{false};
  std::thread listener;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSWORLD_H
