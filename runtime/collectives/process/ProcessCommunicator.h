//===- ProcessCommunicator.h - ranks that are processes ---------*- C++ -*-===//
// Collectives with the bits of the thread communicator: sums add neighbours
// first, each made by one rank. How bytes move is the world's engine's matter.
// Few bytes among many processes go in rounds, sums of several hosts by hosts.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSCOMMUNICATOR_H
#define TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSCOMMUNICATOR_H

#include "runtime/collectives/WorldCommunicator.h"
#include "runtime/collectives/process/GroupCall.h"

#include <map>

namespace tessera {

class ProcessCommunicator final : public WorldCommunicator<ProcessWorld> {
public:
  ProcessCommunicator(std::shared_ptr<ProcessWorld> world, int threads,
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
    return std::make_unique<ProcessCommunicator>(world, threads, lane);
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
  const CallGroup &groupOf(int64_t axes);
  Status start(const CallGroup &group, const Offer &offer);
  GroupCall callOf(const CallGroup &group, const Offer &offer);
  Status reduceWhole(const CallGroup &group, const Collective &call,
                     void *data);
  Status reduceParts(const CallGroup &group, const Collective &call,
                     void *data);
  Status message(const char *kind, const Message &message, Transfer transfer);

  std::map<int64_t, CallGroup> groups; ///< one for each set of axes
  Scratch scratch;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_COLLECTIVES_PROCESS_PROCESSCOMMUNICATOR_H
