//===- TcpCommunicator.h - ranks that are processes -------------*- C++ -*-===//
// Collectives over sockets, with the bits of the thread communicator: sums add
// neighbours first, each made by one rank. Not for speed between hosts with
// fast networks: it is the CPU's way, and what other libraries bootstrap with.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_TCPCOMMUNICATOR_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_TCPCOMMUNICATOR_H

#include "runtime/collectives/WorldCommunicator.h"
#include "runtime/collectives/process/TcpExchange.h"

#include <map>

namespace tessera {

class TcpCommunicator final : public WorldCommunicator<ProcessWorld> {
public:
  TcpCommunicator(std::shared_ptr<ProcessWorld> world, int threads,
                  Lane lane = Lane::Program);

  Status allReduce(const Collective &call, void *data) override;
  Status allGather(const Collective &call, const void *src, void *dst) override;
  Status reduceScatter(const Collective &call, const void *src,
                       void *dst) override;
  Status allToAll(const Collective &call, const void *src, void *dst) override;
  Status exchangeRows(const RowExchange &exchange, const void *src,
                      void *dst) override;
  Status broadcast(const Collective &call, int64_t root, void *data) override;
  Status barrier(const Collective &call) override;
  Status send(const Message &message, const void *data) override;
  Status receive(const Message &message, void *data) override;

  std::unique_ptr<Communicator> forLane(Lane lane) override {
    return std::make_unique<TcpCommunicator>(world, threads, lane);
  }
  std::string describeOthers() override { return world->describeOthers(); }
  void reached(int64_t op) override {
    if (lane == Lane::Program)
      world->reached(op);
  }
  void entered() override { world->entered(); }
  void left() override { world->left(); }
  void worksOnFiles(bool works) override { world->worksOnFiles(works); }

private:
  struct Group {
    std::vector<int64_t> ranks;
    int64_t member = 0; ///< this rank's place

    int64_t size() const { return static_cast<int64_t>(ranks.size()); }
  };
  const Group &groupOf(int64_t axes);
  Status start(const Group &group, const Offer &offer);
  Status exchangeAs(const Offer &offer, const std::vector<Transfer> &transfers);
  Status reduceWhole(const Group &group, const Collective &call, void *data);
  Status reduceParts(const Group &group, const Collective &call, void *data);
  Status message(const char *kind, const Message &message, Transfer transfer);
  unsigned char *scratch(int64_t bytes);

  std::map<int64_t, Group> groups; ///< one for each set of axes
  std::vector<unsigned char> space;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_TCPCOMMUNICATOR_H
