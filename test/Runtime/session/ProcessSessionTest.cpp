//===- ProcessSessionTest.cpp - a session of several processes ------------===//
// Through the C API, each process's part on a thread of its own. Processes
// proper are started by test/Tools/processes.test.
//===----------------------------------------------------------------------===//
#include "test/Runtime/session/Processes.h"

using namespace fixture;

namespace {

struct MeshCase {
  int dp, tp;
};
class ProcessesOnMesh : public ::testing::TestWithParam<MeshCase> {};

TEST_P(ProcessesOnMesh, TrainToTheBitsOfThreads) {
  Processes run{GetParam().dp, GetParam().tp, {}};
  run.options.poison = 1;
  run.options.seed = 3;
  Training threads(run.dp, run.tp, run.options);
  std::vector<tsr_step_result> results(4);
  for (int64_t i = 0; i < 4; ++i)
    ASSERT_EQ(threads.step(i, &results[i]), TSR_OK);
  onProcesses(run, [&](Training &training, int) {
    for (int64_t i = 0; i < 4; ++i) {
      tsr_step_result result;
      ASSERT_EQ(training.step(i, &result), TSR_OK) << tsr_last_error();
      EXPECT_EQ(result.loss, results[i].loss);
      EXPECT_EQ(result.grad_norm, results[i].grad_norm);
    }
    EXPECT_EQ(training.state(), threads.state());
  });
}
INSTANTIATE_TEST_SUITE_P(Meshes, ProcessesOnMesh,
                         ::testing::Values(MeshCase{2, 2}, MeshCase{1, 4}));

TEST(ProcessSession, CheckpointsAreThoseOfThreads) {
  Training threads(2, 2);
  TemporaryDirectory directory;
  ASSERT_EQ(threads.step(0), TSR_OK);
  ASSERT_EQ(tsr_session_save(threads.session, (directory / "a").c_str()),
            TSR_OK);
  ASSERT_EQ(threads.step(1), TSR_OK);
  ASSERT_EQ(tsr_session_save(threads.session, (directory / "b").c_str()),
            TSR_OK);
  onProcesses({}, [&](Training &training, int) {
    ASSERT_EQ(tsr_session_load(training.session, (directory / "a").c_str()),
              TSR_OK)
        << tsr_last_error();
    EXPECT_EQ(tsr_session_next_step(training.session), 1);
    ASSERT_EQ(training.step(1), TSR_OK);
    ASSERT_EQ(tsr_session_save(training.session, (directory / "c").c_str()),
              TSR_OK)
        << tsr_last_error();
  });
  for (const char *file :
       {"model.safetensors", "optimizer.safetensors", "manifest.json"})
    EXPECT_EQ(readFile(directory / ("b/step-00000002/" + std::string(file))),
              readFile(directory / ("c/step-00000002/" + std::string(file))));
}

TEST(ProcessSession, FailedSaveIsEveryonesAndNobodysEnd) {
  TemporaryDirectory directory;
  writeFile(directory / "file", "");
  onProcesses({}, [&](Training &training, int rank) {
    EXPECT_EQ(
        tsr_session_save(training.session, (directory / "file/x").c_str()),
        TSR_IO);
    EXPECT_CONTAINS(tsr_last_error(), "file");
    if (rank > 0)
      EXPECT_EQ(std::string(tsr_last_error()).rfind("rank 0: ", 0), 0u);
    EXPECT_EQ(training.step(0), TSR_OK) << tsr_last_error();
  });
}

TEST(ProcessSession, CheckpointMissingOnOneIsMissing) {
  Training threads(2, 2);
  TemporaryDirectory directory;
  ASSERT_EQ(tsr_session_save(threads.session, directory.path.c_str()), TSR_OK);
  onProcesses({}, [&](Training &training, int rank) {
    std::string from = rank == 1 ? directory / "none" : directory.path;
    EXPECT_EQ(tsr_session_load(training.session, from.c_str()), TSR_NOT_FOUND);
    EXPECT_CONTAINS(tsr_last_error(), "there is no directory");
  });
}

TEST(ProcessSession, CheckpointsMustBeTheSame) {
  Training threads(2, 2);
  TemporaryDirectory directory;
  for (int64_t i = 0; i < 2; ++i) {
    ASSERT_EQ(threads.step(i), TSR_OK);
    std::string to = directory / std::to_string(i);
    ASSERT_EQ(tsr_session_save(threads.session, to.c_str()), TSR_OK);
  }
  onProcesses({}, [&](Training &training, int rank) {
    std::string from = directory / (rank == 2 ? "1" : "0");
    EXPECT_EQ(tsr_session_load(training.session, from.c_str()), TSR_MISMATCH);
    EXPECT_CONTAINS(tsr_last_error(), "is 1 for rank 0 and 2 for rank 2");
  });
}

TEST(ProcessSession, FailureOfOneIsToldToAll) {
  onProcesses({2, 2, {}, FAULT_GEMM, 3}, [&](Training &training, int) {
    EXPECT_NE(training.step(0), TSR_OK);
    EXPECT_CONTAINS(tsr_last_error(), "on rank 3");
    EXPECT_EQ(training.step(1), TSR_ABORTED);
  });
}

TEST(ProcessSession, RankThatLeavesIsNamed) {
  std::atomic<int> done{0};
  onProcesses({2, 2, {}, FAULT_LEAVE, 2}, [&](Training &training, int rank) {
    tsr_status status = training.step(0);
    ++done;
    while (rank == 2 && done.load() < 4) // its session stays open
      std::this_thread::yield();
    EXPECT_EQ(status == TSR_OK, rank == 2);
    if (rank != 2)
      EXPECT_CONTAINS(tsr_last_error(),
                      "rank 2 is missing, it has left the program");
  });
}

TEST(ProcessSession, StuckRankIsNamedWithItsOp) {
  Processes run{2, 2, {}, FAULT_STALL, 1};
  run.options.timeout_ms = 300;
  onProcesses(run, [&](Training &training, int) {
    EXPECT_EQ(training.step(0), TSR_TIMEOUT);
    EXPECT_CONTAINS(tsr_last_error(), "rank 1 is missing, it is in ");
    EXPECT_CONTAINS(tsr_last_error(), "did not finish within 300 ms");
  });
}

TEST(ProcessSession, ClosedSessionIsNamed) {
  onProcesses({}, [&](Training &training, int rank) {
    if (rank == 1)
      return;
    EXPECT_NE(training.step(0), TSR_OK);
    EXPECT_CONTAINS(tsr_last_error(),
                    "rank 1 is missing, it has closed its session");
  });
}

TEST(ProcessSession, LargestAndLocalParts) {
  onProcesses({}, [&](Training &training, int rank) {
    int32_t largest = -1;
    EXPECT_EQ(tsr_session_largest(training.session, rank * 7, &largest),
              TSR_OK);
    EXPECT_EQ(largest, 21);
    double bias = 0;
    for (int other = 0; other < 4; ++other)
      EXPECT_EQ(tsr_session_read_local(training.session, other, "parameter",
                                       "transformer.bias", &bias, 1),
                other == rank ? TSR_OK : TSR_INVALID_ARGUMENT);
    EXPECT_CONTAINS(tsr_last_error(), "is of another process");
  });
}

TEST(ProcessSession, OptionsAreChecked) {
  TemporaryDirectory directory;
  std::string path = writeArtifact(directory / "model.tsr", 2, 2);
  tsr_artifact *artifact = nullptr;
  ASSERT_EQ(tsr_artifact_load(path.c_str(), &artifact), TSR_OK);
  auto refusal = [&](int32_t size, int32_t rank, const char *rendezvous) {
    tsr_session_options options = {};
    options.size = sizeof options;
    options.world_size = size;
    options.rank = rank;
    options.rendezvous = rendezvous;
    tsr_session *session = nullptr;
    EXPECT_EQ(tsr_session_create(artifact, &options, &session),
              TSR_INVALID_ARGUMENT);
    return std::string(tsr_last_error());
  };
  EXPECT_CONTAINS(refusal(2, 0, "a:1"),
                  "has a mesh of 4 ranks, but there are 2 processes; start one "
                  "process per rank, or one for all ranks");
  EXPECT_CONTAINS(refusal(4, 4, "a:1"), "rank is 4 and world_size is 4");
  EXPECT_CONTAINS(refusal(0, 1, "a:1"), "rank is 1 and world_size is 0");
  EXPECT_CONTAINS(refusal(4, 1, nullptr), "there is no rendezvous");
  EXPECT_CONTAINS(refusal(4, 1, "a"), "expected HOST:PORT");
  tsr_artifact_destroy(artifact);
}

TEST(ProcessSession, CallersOptionsMustBeTheSame) {
  std::string rendezvous = freeRendezvous();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      std::string rate = rank == 1 ? "0.2" : "0.1";
      const char *agreement[] = {"--steps", "9", "--lr", rate.c_str(), nullptr};
      tsr_session_options options = {};
      options.world_size = 4;
      options.rank = rank;
      options.rendezvous = rendezvous.c_str();
      options.agreement = agreement;
      EXPECT_THROW(Training(2, 2, options), std::runtime_error);
      EXPECT_EQ(std::string(tsr_last_error()),
                "rank 1 has --lr \"0.2\", rank 0 has \"0.1\"; start all "
                "processes alike, with the same files");
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(ProcessSession, AgreementIsOfPairs) {
  const char *agreement[] = {"--steps", nullptr};
  tsr_session_options options = {};
  options.agreement = agreement;
  EXPECT_THROW(Training(1, 1, options), std::runtime_error);
  EXPECT_CONTAINS(tsr_last_error(), "a name without a value, '--steps'");
}

TEST(ProcessSession, CommunicatorOfOneProcessIsRefusedByAll) {
  std::string rendezvous = freeRendezvous();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      tsr_session_options options = {};
      options.communicator = "threads";
      options.world_size = 4;
      options.rank = rank;
      options.rendezvous = rendezvous.c_str();
      EXPECT_THROW(Training(2, 2, options), std::runtime_error);
      EXPECT_CONTAINS(tsr_last_error(),
                      "communicator 'threads' does not connect ranks that "
                      "are processes on device 'cpu'; use 'tcp'");
    });
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
