//===- DeviceTest.cpp - the seam between the core and its devices ---------===//
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/support/DType.h"
#include "test/Runtime/device/DetachedDevice.h"
#include "test/Runtime/fixture/Fixture.h"
#include "test/Runtime/fixture/FixtureLayout.h"

#include <atomic>
#include <gtest/gtest.h>

using namespace tessera;
using namespace fixture;

namespace {

struct MeshCase {
  int dp, tp;
};

/// A session of the fixture's program on some device.
class Trained {
public:
  Trained(MeshCase mesh, std::shared_ptr<Device> device, bool poison = false) {
    SessionOptions options;
    options.seed = 5;
    options.poison = poison;
    std::string path = writeArtifact(directory / "model.tsr", mesh.dp, mesh.tp);
    session = std::make_unique<Session>(loadArtifact(path), options,
                                        std::move(device));
    session->initialize();
    write("value", "fault", std::vector<double>(MAX_RANKS, FAULT_NONE));
  }

  tsr_step_result step(int64_t number) {
    std::vector<int32_t> tokens = tokensOf(number);
    return session->step(tokens.data(), tokens.size());
  }
  void write(const char *role, const char *name, std::vector<double> values) {
    session->write(session->tensor(role, name), values.data());
  }
  std::vector<double> read(const char *role, const char *name) {
    const TensorInfo &tensor = session->tensor(role, name);
    std::vector<double> values(tensor.elements());
    session->read(tensor, values.data());
    return values;
  }
  std::vector<double> readLocal(int64_t rank, const char *name) {
    const TensorInfo &tensor = session->tensor("parameter", name);
    std::vector<double> values(tensor.localElements());
    session->readLocal(rank, tensor, values.data());
    return values;
  }
  std::vector<double> state() {
    std::vector<double> all;
    for (const char *role : {"parameter", "moment1", "moment2"})
      for (const char *name : {"transformer.w", "transformer.bias"})
        for (double value : read(role, name))
          all.push_back(value);
    return all;
  }

  TemporaryDirectory directory;
  std::unique_ptr<Session> session;
};

class DetachedOnMesh : public ::testing::TestWithParam<MeshCase> {};

TEST_P(DetachedOnMesh, TrainsToTheBitsOfTheCpu) {
  auto device = std::make_shared<DetachedDevice>();
  Trained detached(GetParam(), device, true), host(GetParam(), makeCpuDevice());
  EXPECT_EQ(detached.state(), host.state());
  for (int64_t i = 0; i < 4; ++i) {
    tsr_step_result a = detached.step(i), b = host.step(i);
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.grad_norm, b.grad_norm);
  }
  EXPECT_EQ(detached.state(), host.state());
  EXPECT_GT(device->traffic.reads, 0);
  EXPECT_GT(device->traffic.writes, 0);
}

TEST_P(DetachedOnMesh, StagedTokensTrainTheSame) {
  auto device = std::make_shared<DetachedDevice>(Reach::Staged);
  Trained staged(GetParam(), device, true), host(GetParam(), makeCpuDevice());
  int64_t before = device->traffic.staged;
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(staged.step(i).loss, host.step(i).loss);
  EXPECT_EQ(staged.state(), host.state());
  int64_t ranks = GetParam().dp * GetParam().tp;
  EXPECT_EQ(device->traffic.staged - before, 3 * ranks * 2); // ids, labels
}

/// One rank gets no tokens: the others must not wait for it.
TEST_P(DetachedOnMesh, RankWithoutInputsEndsTheStep) {
  auto device = std::make_shared<DetachedDevice>();
  Trained trained(GetParam(), device);
  trained.step(0);
  int64_t last = GetParam().dp * GetParam().tp - 1;
  device->onWrite = [=](Rank &rank) {
    if (rank.number == last)
      fail(TSR_INTERNAL, "the link is down");
  };
  for (const char *expected : {"the link is down", "the link is down"})
    try {
      trained.step(1);
      FAIL() << "no error";
    } catch (const Error &error) {
      EXPECT_NE(error.status.message.find(expected), std::string::npos)
          << error.status.message;
    }
}

TEST_P(DetachedOnMesh, WritesPartsAndPadding) {
  Trained detached(GetParam(), std::make_shared<DetachedDevice>(Reach::Staged),
                   true);
  Trained host(GetParam(), makeCpuDevice(), true);
  std::vector<double> values(V);
  for (int i = 0; i < V; ++i)
    values[i] = i - 0.5;
  for (Trained *each : {&detached, &host})
    each->write("parameter", "transformer.w", values);
  EXPECT_EQ(detached.read("parameter", "transformer.w"), values);
  for (int64_t rank = 0; rank < GetParam().dp * GetParam().tp; ++rank)
    EXPECT_EQ(detached.readLocal(rank, "transformer.w"),
              host.readLocal(rank, "transformer.w"));
}

TEST_P(DetachedOnMesh, CheckpointsOfTheCpuLoadAndBack) {
  Trained detached(GetParam(), std::make_shared<DetachedDevice>(), true);
  Trained host({1, 1}, makeCpuDevice());
  host.step(0);
  saveCheckpoint(*host.session, host.directory / "saved");
  loadCheckpoint(*detached.session, host.directory / "saved");
  EXPECT_EQ(detached.state(), host.state());
  EXPECT_EQ(detached.session->nextStep(), 1);
  detached.step(1);
  saveCheckpoint(*detached.session, detached.directory / "saved");
  loadCheckpoint(*host.session, detached.directory / "saved");
  EXPECT_EQ(detached.state(), host.state());
  std::string weights =
      detached.directory / "saved/step-00000002/model.safetensors";
  Trained fresh(GetParam(), std::make_shared<DetachedDevice>());
  loadWeights(*fresh.session, weights);
  EXPECT_EQ(fresh.read("parameter", "transformer.w"),
            host.read("parameter", "transformer.w"));
}

INSTANTIATE_TEST_SUITE_P(Meshes, DetachedOnMesh,
                         ::testing::Values(MeshCase{1, 1}, MeshCase{2, 2},
                                           MeshCase{1, 4}),
                         [](const auto &info) {
                           return "dp" + std::to_string(info.param.dp) + "tp" +
                                  std::to_string(info.param.tp);
                         });

TEST(Device, DescribesItselfAsItIsNow) {
  Trained x({1, 1}, std::make_shared<DetachedDevice>());
  EXPECT_EQ(x.session->deviceText(), "detached, 0 steps");
  x.step(0);
  EXPECT_EQ(x.session->deviceText(), "detached, 1 steps");
}

TEST(Device, AddressableArenasAreNotCopied) {
  auto device = std::make_shared<DetachedDevice>(Reach::Addressable);
  Trained trained({2, 2}, device);
  trained.state();
  trained.write("parameter", "transformer.w", std::vector<double>(V, 1.0));
  EXPECT_EQ(device->traffic.reads, 0);
  EXPECT_EQ(device->traffic.writes, 0);
}

/// Partial tensors: the first addend is the value, the others are zero, and
/// reading adds them up.
TEST(Device, PartialTensorsAreStaged) {
  auto metadata = std::make_shared<Metadata>();
  metadata->mesh.axes = {{"tp", 3}};
  metadata->arenaBytes = 256;
  TensorInfo tensor{};
  tensor.role = Role::Value;
  tensor.name = "sum";
  tensor.dtype = TSR_DTYPE_BF16;
  tensor.shape = tensor.fileShape = tensor.localShape = {5};
  tensor.offset = 64;
  tensor.partial = {0};
  DetachedDevice device;
  Ranks ranks;
  for (int64_t number = 0; number < 3; ++number) {
    auto rank = std::make_unique<Rank>();
    rank->number = number;
    rank->coordinates = {number};
    rank->metadata = metadata;
    rank->device = device.openRank(*rank);
    rank->device->poison();
    writeShard(*rank, tensor, [](int64_t first, int64_t count, double *out) {
      for (int64_t i = 0; i < count; ++i)
        out[i] = static_cast<double>(first + i + 1);
    });
    ranks.push_back(std::move(rank));
  }
  std::vector<double> local(5), global(5);
  readLocal(*ranks[0], tensor, local.data());
  EXPECT_EQ(local, (std::vector<double>{1, 2, 3, 4, 5}));
  readLocal(*ranks[2], tensor, local.data());
  EXPECT_EQ(local, std::vector<double>(5, 0.0));
  writeScalar(*ranks[1], tensor, 7);
  EXPECT_EQ(readScalar(*ranks[1], tensor), 7);
  readGlobal(ranks, tensor, global.data());
  EXPECT_EQ(global, (std::vector<double>{8, 2, 3, 4, 5}));
  std::vector<float> rounded(5);
  readGlobal(ranks, tensor, rounded.data());
  EXPECT_EQ(rounded, (std::vector<float>{8, 2, 3, 4, 5}));
}

/// A parameter of bf16 and its master, of a rank of two, that take more than
/// one piece. The second rank's rows of a cut parameter end in padding.
class WithMaster {
public:
  WithMaster(int64_t number, std::vector<Split> parameterCuts,
             std::vector<Split> masterCuts) {
    auto metadata = std::make_shared<Metadata>();
    metadata->mesh.axes = {{"tp", 2}};
    for (TensorInfo *tensor : {&parameter, &master})
      tensor->shape = tensor->fileShape = {6000, 1501};
    parameter.role = Role::Parameter;
    parameter.dtype = TSR_DTYPE_BF16;
    parameter.sharding = std::move(parameterCuts);
    master.role = Role::Master;
    master.dtype = TSR_DTYPE_F32;
    master.sharding = std::move(masterCuts);
    for (TensorInfo *tensor : {&parameter, &master}) {
      tensor->localShape = {6000, tensor->sharding.empty() ? 1501 : 751};
      tensor->offset = metadata->arenaBytes;
      metadata->arenaBytes += (tensor->localBytes() + 63) / 64 * 64;
    }
    rank.number = number;
    rank.coordinates = {number};
    rank.metadata = metadata;
  }

  /// The values as the rank has them, parameter first.
  std::vector<double> written(Reach reach, int threads) {
    DetachedDevice device(reach);
    rank.device = device.openRank(rank);
    rank.device->poison();
    rank.threads = threads;
    given = 0;
    writeWithMaster(rank, parameter, master,
                    [&](int64_t first, int64_t count, double *out) {
                      given += count;
                      for (int64_t i = 0; i < count; ++i)
                        out[i] = 1 / (static_cast<double>(first + i) + 3);
                    });
    std::vector<double> values(parameter.localElements() +
                               master.localElements());
    readLocal(rank, parameter, values.data());
    readLocal(rank, master, values.data() + parameter.localElements());
    rank.device.reset();
    return values;
  }

  TensorInfo parameter{}, master{};
  Rank rank;
  std::atomic<int64_t> given{0}; ///< elements by the source
};

TEST(Device, ParameterAndMasterAreTheSameHoweverTheyAreWritten) {
  const std::vector<Split> columns{{0, 1}}, none;
  for (int64_t number : {0, 1})
    for (const auto &masterCuts : {columns, none}) {
      WithMaster tensors(number, columns, masterCuts);
      const std::vector<double> expected =
          tensors.written(Reach::Addressable, 1);
      const int64_t columnsHere = number == 0 ? 751 : 750, rows = 6000;
      const bool alike = !masterCuts.empty();
      EXPECT_EQ(tensors.given, rows * columnsHere + (alike ? 0 : rows * 1501));
      const double *parameter = expected.data(),
                   *master = parameter + tensors.parameter.localElements();
      for (int64_t row = 0; row < rows; row += 599)
        for (int64_t column = 0; column < 751; ++column) {
          const int64_t index = row * 1501 + number * 751 + column;
          const double exact = 1 / (static_cast<double>(index) + 3);
          const bool isPadding = column >= columnsHere;
          const auto rounded = static_cast<float>(isPadding ? 0 : exact);
          EXPECT_EQ(parameter[row * 751 + column],
                    bf16ToFloat(floatToBf16(rounded)));
          if (alike)
            EXPECT_EQ(master[row * 751 + column], rounded);
          else if (!isPadding)
            EXPECT_EQ(master[index], rounded);
        }
      for (Reach reach : {Reach::Addressable, Reach::Detached, Reach::Staged})
        EXPECT_TRUE(tensors.written(reach, 3) == expected)
            << "rank " << number << " reach " << static_cast<int>(reach);
    }
}

TEST(Device, RefusalIsTheSessionsError) {
  auto device = std::make_shared<DetachedDevice>();
  device->onCheck = [](const DeviceRequest &request) {
    EXPECT_EQ(request.communicator, "threads");
    fail(TSR_OUT_OF_MEMORY, "too much");
  };
  try {
    Trained trained({1, 1}, device);
    FAIL() << "no error";
  } catch (const Error &error) {
    EXPECT_EQ(error.status.code, TSR_OUT_OF_MEMORY);
  }
}

/// Ranks that meet while they open must not wait for one that failed.
TEST(Device, RankThatFailsToOpenReleasesTheOthers) {
  auto device = std::make_shared<DetachedDevice>();
  device->onOpen = [](Rank &rank) {
    if (rank.number == 1)
      fail(TSR_OUT_OF_MEMORY, "rank 1 has no memory");
    Collective all;
    all.axes = 3;
    if (Status status = rank.communicator->barrier(all); !status.ok())
      throw Error(status);
  };
  try {
    Trained trained({2, 2}, device);
    FAIL() << "no error";
  } catch (const Error &error) {
    EXPECT_EQ(error.status.message, "rank 1 has no memory");
  }
}

} // namespace
