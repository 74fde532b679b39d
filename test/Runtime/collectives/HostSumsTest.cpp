//===- HostSumsTest.cpp - collectives of ranks on several hosts -----------===//
// Processes have the bits of threads wherever they are, and no host sends what
// it could have added itself. Values are random, so each order of sums shows.
//===----------------------------------------------------------------------===//
#include "runtime/collectives/HostTree.h"
#include "runtime/support/DType.h"
#include "test/Runtime/collectives/CommunicatorWorld.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace tessera;
using namespace fixture;

namespace {

using Hosts = std::vector<int64_t>;

const std::vector<Hosts> layouts = {
    {0, 0},
    {0, 1},
    {0, 0, 1},
    {0, 1, 0},
    {0, 0, 1, 1},
    {0, 1, 0, 1},
    {0, 0, 0, 1},
    {0, 1, 1, 1, 2, 2},
    {0, 0, 1, 1, 2, 2},
    {0, 0, 0, 1, 1, 1},
    {0, 0, 0, 0, 0, 0, 0, 0},
    {0, 0, 0, 0, 1, 1, 1, 1},
    {0, 1, 2, 3, 3, 2, 1, 0},
    {0, 0, 0, 0, 0, 1, 1, 1},
    {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2},
};

/// Returns `bytes` of elements whose sums depend on their order.
std::vector<unsigned char> valuesOf(int64_t rank, int64_t count, int dtype) {
  std::minstd_rand random(static_cast<unsigned>(1000 * rank + dtype + 1));
  std::vector<unsigned char> bytes(count * dtypeBytes(dtype));
  for (int64_t i = 0; i < count; ++i) {
    // Signs and sizes differ.
    double wide = (random() / 1e9 - 1.07) * (1 << random() % 8);
    auto narrow = static_cast<float>(wide);
    uint16_t bf16 = floatToBf16(narrow);
    auto whole = static_cast<int32_t>(random());
    const void *value = dtype == TSR_DTYPE_F64    ? (const void *)&wide
                        : dtype == TSR_DTYPE_F32  ? (const void *)&narrow
                        : dtype == TSR_DTYPE_BF16 ? (const void *)&bf16
                                                  : (const void *)&whole;
    std::memcpy(bytes.data() + i * dtypeBytes(dtype), value, dtypeBytes(dtype));
  }
  return bytes;
}

/// A call of more elements is an all-reduce alone.
constexpr int64_t mostOfAll = 10'000;

/// The results of all collectives of one rank, one after the other.
std::vector<unsigned char> resultsOf(const World &world, int64_t rank,
                                     const Collective &what) {
  Communicator &own = *world.ranks[rank];
  const int64_t size = world.mesh.ranks();
  const int64_t bytes = what.outer * what.count * dtypeBytes(what.dtype);
  auto all = valuesOf(rank,
                      what.count > mostOfAll ? what.count
                                             : what.outer * what.count * size,
                      what.dtype);
  std::vector<unsigned char> scattered(bytes), gathered(bytes * size), sent;
  if (what.count > mostOfAll) {
    EXPECT_EQ(own.allReduce(what, all.data()).message, "");
    return all;
  }
  EXPECT_EQ(own.reduceScatter(what, all.data(), scattered.data()).message, "");
  EXPECT_EQ(own.allGather(what, all.data(), gathered.data()).message, "");
  Collective flat = what;
  flat.count *= what.outer;
  flat.outer = 1;
  sent.assign(all.begin(), all.begin() + bytes);
  EXPECT_EQ(own.allReduce(flat, all.data()).message, "");
  EXPECT_EQ(own.broadcast(flat, size - 1, sent.data()).message, "");
  EXPECT_EQ(own.barrier(call(1, 0)).message, "");
  for (const auto *part : {&scattered, &gathered, &sent})
    all.insert(all.end(), part->begin(), part->end());
  return all;
}

std::vector<Collective> callsOf(int64_t size) {
  std::vector<Collective> calls;
  for (int dtype :
       {TSR_DTYPE_F32, TSR_DTYPE_BF16, TSR_DTYPE_F64, TSR_DTYPE_I32})
    for (int64_t count :
         {int64_t(1), int64_t(7), int64_t(1025), 64 * size + 1, int64_t(9'011)})
      for (int reduction : {TSR_REDUCE_SUM, TSR_REDUCE_MAX}) {
        if (reduction == TSR_REDUCE_MAX && count != 1025)
          continue;
        Collective what = call(1, count, dtype);
        what.reduction = reduction;
        what.outer = count == 7 ? 3 : 1;
        calls.push_back(what);
      }
  // Several pieces, the last one shorter.
  calls.push_back(call(1, 210'001, TSR_DTYPE_F32));
  calls.push_back(call(1, 300'001, TSR_DTYPE_BF16));
  return calls;
}

class Layouts : public ::testing::TestWithParam<Hosts> {};

TEST_P(Layouts, GiveTheBitsOfThreads) {
  WorldSettings settings{{{"tp", static_cast<int>(GetParam().size())}}};
  World threads(Kind::Threads, settings);
  settings.hosts = GetParam();
  World processes(everyKind().back(), settings);
  const std::vector<Collective> calls = callsOf(processes.mesh.ranks());
  std::vector<std::vector<std::vector<unsigned char>>> expected(
      processes.ranks.size());
  onRanks(threads, [&](int64_t rank) {
    for (const Collective &what : calls)
      expected[rank].push_back(resultsOf(threads, rank, what));
  });
  onRanks(processes, [&](int64_t rank) {
    for (size_t i = 0; i < calls.size(); ++i)
      ASSERT_TRUE(resultsOf(processes, rank, calls[i]) == expected[rank][i])
          << "rank " << rank << ": " << calls[i].count << " "
          << dtypeName(calls[i].dtype) << ", reduction " << calls[i].reduction;
  });
}

INSTANTIATE_TEST_SUITE_P(HostSums, Layouts, ::testing::ValuesIn(layouts));

/// Returns the bytes of calls that left the hosts so far.
int64_t bytesBetweenHosts(const World &world, const Hosts &hosts) {
  int64_t bytes = 0;
  for (size_t from = 0; from < hosts.size(); ++from)
    for (size_t to = 0; to < hosts.size(); ++to)
      if (hosts[from] != hosts[to])
        bytes += world.processes[from]->bytesTo(static_cast<int64_t>(to));
  return bytes;
}

/// A part of the network's cost that is not data.
constexpr double frames = 1.05;

struct Traffic {
  Hosts hosts;
  int dtype;
  /// Times the data of a rank, all hosts together: what an all-reduce sends.
  double times;
};

/// H hosts of two ranks: 2 (H - 1) times the data, in bf16 partial sums are
/// twice as long.
TEST(HostSums, EachHostSendsItsSumsOnce) {
  for (const Traffic &traffic :
       {Traffic{{0, 0, 1, 1}, TSR_DTYPE_F32, 2.0},
        {{0, 0, 1, 1}, TSR_DTYPE_BF16, 3.0},
        {{0, 0, 1, 1, 2, 2}, TSR_DTYPE_F32, 4.0},
        {{0, 0, 0, 0, 1, 1, 1, 1}, TSR_DTYPE_F64, 2.0},
        // Three ranks of a host are a pair and one: two sums.
        {{0, 0, 0, 1, 1, 1}, TSR_DTYPE_F32, 3.0},
        {{0, 1}, TSR_DTYPE_BF16, 2.0}}) {
    WorldSettings settings{{{"tp", static_cast<int>(traffic.hosts.size())}}};
    settings.hosts = traffic.hosts;
    World world(Kind::Tcp, settings);
    const int64_t count = 64 * 3 * 1000;
    const int64_t bytes = count * dtypeBytes(traffic.dtype);
    onRanks(world, [&](int64_t rank) {
      std::vector<unsigned char> data(bytes);
      EXPECT_EQ(world.ranks[rank]
                    ->allReduce(call(1, count, traffic.dtype), data.data())
                    .message,
                "");
    });
    const double sent =
        static_cast<double>(bytesBetweenHosts(world, traffic.hosts)) / bytes;
    EXPECT_LE(sent, frames * traffic.times);
    EXPECT_GE(sent, traffic.times);
  }
}

TEST(HostSums, GathersAndBroadcastsReachAHostOnce) {
  const Hosts hosts = {0, 0, 1, 1, 2, 2};
  WorldSettings settings{{{"tp", 6}}};
  settings.hosts = hosts;
  World world(Kind::Tcp, settings);
  const int64_t count = 10'000;
  auto sent = [&](const std::function<Status(Communicator &, float *)> &make) {
    const int64_t before = bytesBetweenHosts(world, hosts);
    onRanks(world, [&](int64_t rank) {
      std::vector<float> data(7 * count);
      EXPECT_EQ(make(*world.ranks[rank], data.data()).message, "");
    });
    return static_cast<double>(bytesBetweenHosts(world, hosts) - before) /
           (count * sizeof(float));
  };
  const double gathered = sent([&](Communicator &own, float *data) {
    return own.allGather(call(1, count), data, data + count);
  });
  EXPECT_GE(gathered, 6 * 2);
  EXPECT_LE(gathered, frames * 6 * 2);
  const double spread = sent([&](Communicator &own, float *data) {
    return own.broadcast(call(1, count), 3, data);
  });
  EXPECT_GE(spread, 2);
  EXPECT_LE(spread, frames * 2);
  const double scattered = sent([&](Communicator &own, float *data) {
    return own.reduceScatter(call(1, count), data, data + 6 * count);
  });
  EXPECT_GE(scattered, 6 * 2);
  EXPECT_LE(scattered, frames * 6 * 2);
}

/// Few bytes among n ranks: n log n messages in place of n (n - 1).
TEST(HostSums, FewBytesGoInRounds) {
  WorldSettings settings{{{"tp", 16}}};
  World world(Kind::Tcp, settings);
  onRanks(world, [&](int64_t rank) {
    float value = 1;
    EXPECT_EQ(world.ranks[rank]->allReduce(call(1, 1), &value).message, "");
    EXPECT_EQ(value, 16);
  });
  const int64_t frame = sizeof(CallFrame), value = sizeof(float);
  for (int64_t rank = 0; rank < 16; ++rank) {
    int64_t bytes = 0;
    for (int64_t peer = 0; peer < 16; ++peer)
      bytes += peer == rank ? 0 : world.processes[rank]->bytesTo(peer);
    EXPECT_EQ(bytes, 4 * frame + 15 * value);
  }
}

/// Some member of the group notices, whatever the two calls' algorithms. One
/// that has all that it needs may be told in its next call.
TEST(HostSums, CallsThatDifferAreNoticed) {
  const std::vector<std::function<Status(Communicator &, float *)>> makers = {
      [](Communicator &own, float *data) {
        return own.allReduce(call(1, 1), data);
      },
      [](Communicator &own, float *data) {
        return own.allReduce(call(1, 5000), data);
      },
      [](Communicator &own, float *data) {
        return own.broadcast(call(1, 5000), 1, data);
      },
      [](Communicator &own, float *data) {
        return own.allGather(call(1, 5000), data, data + 5000);
      },
      [](Communicator &own, float *) { return own.barrier(call(1, 0)); }};
  const Hosts hosts = {0, 0, 0, 0, 1, 1, 1, 1};
  // They outlive the calls, whose peers may still send.
  std::vector<std::vector<float>> buffers(8, std::vector<float>(9 * 5000));
  for (size_t first = 0; first < makers.size(); ++first)
    for (size_t second = first + 1; second < makers.size(); ++second) {
      WorldSettings settings{{{"tp", 8}}};
      settings.hosts = hosts;
      World world(Kind::Tcp, settings);
      onRanks(world, [&](int64_t rank) {
        const auto &make = makers[rank == 5 ? second : first];
        Status status = make(*world.ranks[rank], buffers[rank].data());
        if (status.ok())
          status = world.ranks[rank]->barrier(call(1, 0));
        EXPECT_EQ(status.code, TSR_INTERNAL) << first << " " << second;
        EXPECT_NE(status.message.find("ranks disagree over axis 'tp'"),
                  std::string::npos)
            << status.message;
      });
    }
}

TEST(HostTree, HasTheLargestSubtreesOfEachHost) {
  const HostTree tree({0, 0, 0, 1, 1, 1, 1});
  ASSERT_EQ(tree.hosts(), 2);
  auto sizes = [&](int64_t host) {
    std::vector<std::pair<int64_t, int64_t>> found;
    for (const TreeNode &node : tree.nodesOf(host))
      found.emplace_back(node.begin, node.size);
    return found;
  };
  using Nodes = std::vector<std::pair<int64_t, int64_t>>;
  EXPECT_EQ(sizes(0), (Nodes{{0, 2}, {2, 1}}));
  EXPECT_EQ(sizes(1), (Nodes{{3, 1}, {4, 3}}));
  // The members of the other host take turns.
  EXPECT_EQ(tree.deputyOf(0, 3), 0);
  EXPECT_EQ(tree.deputyOf(0, 4), 1);
  EXPECT_EQ(tree.deputyOf(0, 6), 0);
  EXPECT_TRUE(tree.savesTraffic());
  EXPECT_FALSE(HostTree({0, 1, 2}).savesTraffic());
  EXPECT_FALSE(HostTree({4, 4, 4}).savesTraffic());
}

} // namespace
