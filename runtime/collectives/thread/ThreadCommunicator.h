//===- ThreadCommunicator.h - ranks that are threads of one process -------===//
// Reads and writes the peers' buffers directly. A reduction is cut over the
// group: each rank reduces one part of all buffers, so a collective needs an
// entry and an exit barrier and no copy. Sums add neighbours first, in the same
// order for all, so all ranks get equal bits.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_THREAD_THREADCOMMUNICATOR_H
#define TESSERA_RUNTIME_COLLECTIVES_THREAD_THREADCOMMUNICATOR_H

#include "runtime/collectives/RowExchange.h"
#include "runtime/collectives/WorldCommunicator.h"
#include "runtime/collectives/thread/RankBarriers.h"
#include "runtime/collectives/thread/RankMessages.h"

namespace tessera {

class ThreadCommunicator final : public WorldCommunicator<ThreadWorld> {
public:
  ThreadCommunicator(const std::shared_ptr<ThreadWorld> &world, int64_t rank,
                     Lane lane = Lane::Program);

  Status allReduce(const Collective &call, void *data) override;
  Status allGather(const Collective &call, const void *src, void *dst) override;
  Status reduceScatter(const Collective &call, const void *src,
                       void *dst) override;
  Status allGatherCoalesced(const Coalesced &what) override;
  Status reduceScatterCoalesced(const Coalesced &what) override;
  Status zigzag(const Zigzag &call, const ZigzagBuffers &buffers) override;
  /// Runs on the communicator's own lane, unlike messages.
  Status shift(const Shift &call, const void *src, void *dst) override;
  Status allToAll(const Collective &call, const void *src, void *dst) override;
  Status exchangeRows(const RowExchange &exchange, const void *src,
                      void *dst) override;
  Status broadcast(const Collective &call, int64_t root, void *data) override;
  Status barrier(const Collective &call) override;
  Status send(const Message &message, const void *data) override;
  Status receive(const Message &message, void *data) override;
  std::shared_ptr<StartedMessage> startSend(const Message &message,
                                            const void *data) override;
  std::shared_ptr<StartedMessage> startReceive(const Message &message,
                                               void *data) override;
  Status finish(StartedMessage &message) override;

  std::unique_ptr<Communicator> forLane(Lane lane) override {
    return std::make_unique<ThreadCommunicator>(world, rank, lane);
  }
  std::string describeOthers() override { return world->describeOthers(rank); }
  void reached(int64_t op) override {
    if (lane == Lane::Program)
      world->reached(rank, op);
  }
  void entered() override { world->setInside(rank, true); }
  void left() override { world->setInside(rank, false); }

private:
  /// The rows that a member of an exchange offers to the others. Outlives the
  /// call: where one fails, others may still be reading.
  struct OfferedRows {
    std::vector<RowRanges> sent;
    const char *rows = nullptr;
  };

  void gather(const Collective &call, const std::vector<const void *> &sources,
              void *dst) const;
  void scatter(const Collective &call, int64_t member,
               const std::vector<const void *> &sources, void *dst) const;

  OfferedRows offered;
  int64_t rank;
  RankBarriers barriers;
  RankMessages messages;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_THREAD_THREADCOMMUNICATOR_H
