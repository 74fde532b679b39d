//===- BusyProcessTest.cpp - a process that is busy is not gone -----------===//
#include "runtime/session/Session.h"
#include "test/Runtime/fixture/Fixture.h"

#include <gtest/gtest.h>
#include <thread>

using namespace tessera;
using namespace fixture;

namespace {

/// Gathers like a checkpoint: tensors come to the first process, which works on
/// each for longer than the others wait before they ask where it is.
void gatherSlowly(Session &session) {
  const TensorInfo &tensor = session.tensor("parameter", "transformer.w");
  std::vector<char> bytes(tensor.elements() * sizeof(double));
  session.together([&] {
    for (int i = 0; i < 2; ++i) {
      readGlobalBytes(session.ranks(), tensor, bytes.data());
      if (session.isFirst())
        std::this_thread::sleep_for(std::chrono::milliseconds(400));
    }
  });
}

TEST(ProcessSession, ProcessThatIsBusyInsideOfACallIsWaitedFor) {
  TemporaryDirectory directory;
  Artifact artifact = loadArtifact(writeArtifact(directory / "m.tsr", 2, 2));
  SessionOptions options;
  {
    Socket free = std::move(listenOn({"127.0.0.1", 0}).front());
    options.processes.rendezvous = concat("127.0.0.1:", portOf(free));
  }
  options.processes.worldSize = 4;
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < 4; ++rank)
    threads.emplace_back([&artifact, options, rank]() mutable {
      options.processes.rank = rank;
      try {
        Session session(artifact, options);
        session.initialize();
        gatherSlowly(session);
      } catch (const Error &error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.status.message;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
