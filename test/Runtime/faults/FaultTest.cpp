//===- FaultTest.cpp - calls of libc that fail, one after the other -------===//
// A run trains, saves and resumes while the n-th call of a function fails. It
// must end with the right parameters or say why not, and what it saved before
// must resume to the same bits.
//
//   FaultTests            some n of each function, under one process and four
//   FaultTests --whole    every n under one process, more under four:
//                         check.sh --full
//===----------------------------------------------------------------------===//
#include "test/Runtime/faults/Witness.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>

using namespace faults;
using namespace std::chrono_literals;

namespace {

bool isWhole = false;

struct Fault {
  const char *function;
  const char *kind;
  /// True if the caller must get over the fault.
  bool isHarmless = false;
  /// So do all calls that follow.
  bool isLasting = false;

  std::string name() const {
    return std::string(function) + "_" + kind + (isLasting ? "_lasting" : "");
  }
  std::string setting(long number) const {
    return std::string("TESSERA_FAULT=") + function + ":" +
           std::to_string(number) + (isLasting ? "+:" : ":") + kind;
  }
};

/// A sanitizer allocates without libc's malloc.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasOwnMalloc = true;
#else
constexpr bool kHasOwnMalloc = false;
#endif

bool isMalloc(const Fault &fault) {
  return std::strcmp(fault.function, "malloc") == 0;
}

/// Returns how many calls of a function fail, one after the other. A run of
/// several processes takes a second, or three where the others wait for one
/// that has not come; of allocations there are thousands.
long mostNumbers(const Fault &fault, int processes) {
  bool allocates = isMalloc(fault);
  if (processes > 1)
    return !isWhole ? 1 : allocates ? 16 : 8;
  if (!isWhole)
    return allocates ? 8 : 4;
  return std::numeric_limits<long>::max();
}

/// All calls, or some from the first to the last, or the one in the middle.
std::vector<long> numbersUpTo(long calls, long most) {
  if (most == 1)
    return {(calls + 1) / 2};
  most = std::min(calls, most);
  std::set<long> numbers;
  for (long i = 0; i < most; ++i)
    numbers.insert(1 + (calls - 1) * i / std::max(most - 1, 1L));
  return {numbers.begin(), numbers.end()};
}

/// A directory where runs save, and those runs.
class Scene {
public:
  /// Runs processes; only process `chosen` has the setting.
  std::vector<Outcome> runProcesses(int count, int chosen,
                                    const std::string &setting) {
    std::string rendezvous = fixture::freeRendezvous();
    std::vector<std::unique_ptr<DriverProcess>> processes;
    for (int rank = 0; rank < count; ++rank) {
      std::vector<std::string> arguments = witness.files();
      arguments.push_back(checkpoints());
      if (count > 1)
        arguments.insert(arguments.end(), {std::to_string(rank),
                                           std::to_string(count), rendezvous});
      std::vector<std::string> settings;
      if (rank == chosen && !setting.empty())
        settings.push_back(setting);
      processes.push_back(std::make_unique<DriverProcess>(
          arguments, settings, directory / std::to_string(rank)));
    }
    auto deadline = std::chrono::steady_clock::now() + 120s;
    std::vector<Outcome> outcomes;
    for (auto &process : processes)
      outcomes.push_back(process->wait(deadline));
    return outcomes;
  }

  void judge(const std::vector<Outcome> &outcomes) {
    for (const Outcome &outcome : outcomes)
      EXPECT_TRUE(witness.endedProperly(outcome));
    std::string saved = outcomes[0].said("saved");
    EXPECT_TRUE(witness.resumes(checkpoints(), saved.empty() ? 0 : stol(saved)))
        << outcomes[0].describe();
    EXPECT_TRUE(witness.isUsable(checkpoints()));
    std::filesystem::remove_all(directory / "runs");
  }

private:
  std::string checkpoints() const { return directory / "runs/checkpoints"; }

  fixture::TemporaryDirectory directory;
  Witness witness;
};

void failOneByOne(const Fault &fault, int processes, int chosen) {
  Scene scene;
  std::vector<Outcome> clean = scene.runProcesses(processes, chosen, "");
  ASSERT_TRUE(clean[0].succeeded()) << clean[0].describe();
  long calls = clean[chosen].calls[fault.function];
  scene.judge(clean);
  if (isMalloc(fault) && kHasOwnMalloc)
    GTEST_SKIP() << "a sanitizer allocates without libc's malloc";
  ASSERT_GT(calls, 0);
  int fired = 0;
  for (long number : numbersUpTo(calls, mostNumbers(fault, processes))) {
    SCOPED_TRACE(fault.setting(number));
    auto outcomes =
        scene.runProcesses(processes, chosen, fault.setting(number));
    fired += outcomes[chosen].hasFired;
    for (const Outcome &outcome : outcomes)
      EXPECT_TRUE(outcome.succeeded() || !fault.isHarmless)
          << outcome.describe();
    scene.judge(outcomes);
  }
  EXPECT_GT(fired, 0);
  std::printf("%s: %ld calls, %d failed\n", fault.name().c_str(), calls, fired);
}

class OneProcess : public ::testing::TestWithParam<Fault> {};
TEST_P(OneProcess, EndsWellOrSaysWhy) { failOneByOne(GetParam(), 1, 0); }

std::string nameOf(const ::testing::TestParamInfo<Fault> &info) {
  return info.param.name();
}
/// A run of one process makes these calls, too.
const Fault faults[] = {{"write", "ENOSPC"},
                        {"write", "EIO"},
                        {"write", "ENOSPC", false, true},
                        {"write", "short", true},
                        {"write", "EINTR", true},
                        {"pwrite", "ENOSPC"},
                        {"pwrite", "short", true},
                        {"pread", "EIO"},
                        {"pread", "short", true},
                        {"pread", "EINTR", true},
                        {"fsync", "EIO"},
                        {"fsync", "ENOSPC", false, true},
                        {"rename", "EIO"},
                        {"rename", "ENOSPC"},
                        {"open", "EMFILE"},
                        {"open", "EACCES"},
                        {"open", "EMFILE", false, true},
                        {"mkdir", "EACCES"},
                        {"mmap", "ENOMEM"},
                        {"malloc", "ENOMEM"},
                        {"malloc", "ENOMEM", false, true},
                        {"pthread_create", "EAGAIN"}};
INSTANTIATE_TEST_SUITE_P(Faults, OneProcess, ::testing::ValuesIn(faults),
                         nameOf);

struct RankFault {
  Fault fault;
  int rank;
};
class FourProcesses : public ::testing::TestWithParam<RankFault> {};
TEST_P(FourProcesses, EndWellOrSayWhy) {
  failOneByOne(GetParam().fault, 4, GetParam().rank);
}

/// Rank 0 has all, since it saves; other ranks have some.
std::vector<RankFault> rankFaults() {
  std::vector<RankFault> all;
  for (const Fault &fault : faults)
    all.push_back({fault, 0});
  all.insert(all.end(), {{{"pread", "EIO"}, 1},
                         {{"open", "EMFILE"}, 3},
                         {{"mmap", "ENOMEM"}, 2},
                         {{"malloc", "ENOMEM"}, 3},
                         {{"malloc", "ENOMEM", false, true}, 2},
                         {{"pthread_create", "EAGAIN"}, 1},
                         {{"send", "ECONNRESET"}, 0},
                         {{"send", "EPIPE"}, 3},
                         {{"send", "short", true}, 2},
                         {{"send", "EINTR", true}, 1},
                         {{"recv", "ECONNRESET"}, 0},
                         {{"recv", "short", true}, 3},
                         {{"recv", "EINTR", true}, 2}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Faults, FourProcesses,
                         ::testing::ValuesIn(rankFaults()),
                         [](const auto &info) {
                           return info.param.fault.name() + "_rank" +
                                  std::to_string(info.param.rank);
                         });

} // namespace

int main(int argc, char **argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--whole") != 0) {
      std::fprintf(stderr, "unknown argument '%s'\n", argv[i]);
      return 2;
    }
    isWhole = true;
  }
  return RUN_ALL_TESTS();
}
