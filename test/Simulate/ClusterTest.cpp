//===- ClusterTest.cpp - files of clusters --------------------------------===//

#include "tessera/Simulate/Cluster.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::simulate;

namespace {

const std::string whole = R"([nodes]
count = 2
devices = 4
[device]
memory_bytes = 80e9
memory_bandwidth = 2e12
[device.products.bf16]
peak = 3e14
efficiency = 0.5
tiles = [[128, 256], [64, 64]]
[node_link]
bandwidth = 3e11
collective_bandwidth = [[1024, 1e9], [4096, 2e9]]
[network]
bandwidth = 25e9
efficiency = 0.8
[software]
blocking_axes = ["dp"]
overlapped_axes = ["pp"]
zigzag = "in the data"
recomputation = "whole"
element_bytes = { tp = 2 }
result_bytes = 3
gradient_sum_bytes = 8
logit_bytes = 52
update_scale = 2
)";

/// Returns the error of a file with this text, from the line on; "": there is
/// none.
std::string errorOf(const std::string &text, Cluster *read = nullptr) {
  // Tests run at the same time.
  std::string path =
      ::testing::TempDir() +
      ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml";
  std::ofstream(path) << text;
  llvm::Expected<Cluster> cluster = readCluster(path);
  if (!cluster) {
    std::string error = llvm::toString(cluster.takeError());
    EXPECT_EQ(error.substr(0, path.size() + 1), path + ":");
    return error.substr(path.size() + 1);
  }
  if (read)
    *read = *cluster;
  return "";
}

std::string with(const std::string &from, const std::string &to) {
  std::string text = whole;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(ClusterTest, ReadsWhatIsThere) {
  Cluster cluster;
  ASSERT_EQ(errorOf(whole, &cluster), "");
  EXPECT_EQ(cluster.devices(), 8);
  const ProductRate &rate = cluster.device.products.at(Precision::BF16);
  EXPECT_EQ(rate.peak, 3e14);
  EXPECT_EQ(rate.efficiency, 0.5);
  ASSERT_EQ(rate.tiles.size(), 2u);
  EXPECT_EQ(rate.tiles[1].columns, 64);
  EXPECT_EQ(cluster.device.products.count(Precision::F32), 0u);
  EXPECT_EQ(cluster.node.collectives.at(2048), 1.5e9);
  EXPECT_EQ(cluster.node.exchangeEfficiency, 1);
  EXPECT_EQ(cluster.network.bandwidth, 20e9);
  EXPECT_EQ(cluster.software.blockingAxes.count("dp"), 1u);
  EXPECT_EQ(cluster.software.elementBytes.at("tp"), 2);
  EXPECT_EQ(cluster.software.elementBytes.count("pp"), 0u);
  EXPECT_EQ(cluster.software.overlappedAxes.count("pp"), 1u);
  EXPECT_TRUE(cluster.software.hasZigzagData);
  EXPECT_TRUE(cluster.software.recomputesWhole);
  for (const char *key :
       {"tp = 2", "result_bytes = 3", "gradient_sum_bytes = 8",
        "logit_bytes = 52", "update_scale = 2"}) {
    std::string none =
        std::string(key).substr(0, std::string(key).find('=') + 1);
    std::string error = errorOf(with(key, none + " 0"));
    EXPECT_NE(error.find("must be above 0"), std::string::npos) << error;
  }
  EXPECT_EQ(cluster.software.resultBytes, 3);
  EXPECT_EQ(cluster.software.gradientSumBytes, 8);
  EXPECT_EQ(cluster.software.logitBytes, 52);
  EXPECT_EQ(cluster.software.updateScale, 2);
  EXPECT_TRUE(cluster.attention.isFused);
}

TEST(ClusterTest, PowerMayBeUnknown) {
  Cluster cluster;
  ASSERT_EQ(errorOf(whole, &cluster), "");
  EXPECT_EQ(cluster.nodePower, 0);
  ASSERT_EQ(
      errorOf(with("devices = 4", "devices = 4\npower_watts = 6500"), &cluster),
      "");
  EXPECT_EQ(cluster.nodePower, 6500);
  EXPECT_EQ(errorOf(with("devices = 4", "devices = 4\npower_watts = 0")),
            "4:15: 'power_watts' in [nodes] must be above 0");
}

TEST(ClusterTest, SaysWhatSoftwareKeeps) {
  Cluster cluster;
  ASSERT_EQ(errorOf(whole, &cluster), "");
  EXPECT_FALSE(cluster.software.memory);
  const std::string facts = whole + "[software.memory]\nweight_bytes = 2\n"
                                    "gradient_bytes = 4\noptimizer_bytes = 12\n"
                                    "activation_bytes = 2\n";
  ASSERT_EQ(errorOf(facts + "mask_bytes = 1\n", &cluster), "");
  EXPECT_EQ(cluster.software.memory->weight, 2);
  EXPECT_EQ(cluster.software.memory->gradient, 4);
  EXPECT_EQ(cluster.software.memory->optimizer, 12);
  EXPECT_EQ(cluster.software.memory->activation, 2);
  EXPECT_EQ(cluster.software.memory->mask, 1);
  EXPECT_EQ(errorOf(facts), "27:1: 'software.memory.mask_bytes' is missing");
  EXPECT_EQ(errorOf(facts + "mask_bytes = -1\n"),
            "32:14: 'mask_bytes' in [software.memory] must be a number of at "
            "least 0");
  EXPECT_EQ(errorOf(facts + "mask_bytes = 1\nmasks = 1\n"),
            "33:1: unknown key 'masks' in [software.memory]; it may have "
            "'activation_bytes', 'gradient_bytes', 'mask_bytes', "
            "'optimizer_bytes', 'weight_bytes'");
}

TEST(ClusterTest, EveryFileOfTheRepositoryIsRight) {
  int files = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator(CLUSTERS_FOLDER)) {
    ++files;
    llvm::Expected<Cluster> cluster = readCluster(entry.path().string());
    EXPECT_TRUE(!!cluster) << llvm::toString(cluster.takeError());
  }
  EXPECT_GE(files, 5);
}

TEST(ClusterTest, ErrorsNameTheLineAndTheRemedy) {
  EXPECT_EQ(errorOf(with("efficiency = 0.5", "eficiency = 0.5")),
            "9:1: unknown key 'eficiency' in [device.products.bf16]; it may "
            "have 'efficiency', 'peak', 'tiles', 'units'");
  EXPECT_EQ(errorOf(with("efficiency = 0.5", "efficiency = 1.5")),
            "9:14: 'efficiency' in [device.products.bf16] is a share of the "
            "peak; it must be at most 1");
  EXPECT_EQ(errorOf(with("peak = 3e14\n", "")),
            "7:1: 'device.products.bf16.peak' is missing");
  EXPECT_EQ(errorOf(with("peak = 3e14", "peak = \"much\"")),
            "8:8: 'peak' in [device.products.bf16] must be a number of at "
            "least 0");
  EXPECT_EQ(errorOf(with("peak = 3e14", "peak = \xC3\xA9")),
            "8: a character that is not of ASCII; only comments may have "
            "those");
  EXPECT_EQ(errorOf(with("peak = 3e14", "peak = 3e14 # \xC3\xA9")), "");
  EXPECT_EQ(errorOf(with("peak = 3e14", "peak = 3e14 [{")).substr(0, 2), "8:");
  EXPECT_EQ(errorOf(with("peak = 3e14", "peak = nan")),
            "8:8: 'peak' in [device.products.bf16] must be a number of at "
            "least 0");
  EXPECT_EQ(errorOf(with("count = 2", "count = 0")),
            "2:9: 'count' in [nodes] must be a whole number from 1 to 1000000");
  EXPECT_EQ(errorOf(with("count = 2", "count = 1.5")),
            errorOf(with("count = 2", "count = 1e30")));
  EXPECT_EQ(errorOf(with("memory_bandwidth = 2e12", "memory_bandwidth = inf")),
            "6:20: 'memory_bandwidth' in [device] must be a number of at least "
            "0");
  EXPECT_EQ(errorOf(with("bandwidth = 3e11",
                         "bandwidth = 3e11\nexchange_efficiency = 8.1e-05")),
            "13:23: 'exchange_efficiency' in [node_link] must be a number of "
            "at least 0.001");
  EXPECT_EQ(errorOf(with("[4096, 2e9]", "[512, 2e9]")),
            "13:38: 'collective_bandwidth' in [node_link] must be a list of "
            "pairs of numbers above 0, the first of which grow");
  EXPECT_EQ(errorOf(with("[\"dp\"]", "[\"data\"]")),
            "18:17: 'blocking_axes' in [software] must be a list of some of "
            "'cp', 'dp', 'dp_replicate', 'ep', 'pp', 'tp'");
  Cluster sliced;
  EXPECT_EQ(errorOf(with("blocking_axes", "sliced_axes"), &sliced), "");
  EXPECT_EQ(sliced.software.slicedAxes.count("dp"), 1u);
  EXPECT_EQ(
      errorOf(with("[network]\nbandwidth = 25e9\nefficiency = 0.8\n", "")),
      "1:1: 'network' is missing");
  EXPECT_EQ(errorOf(with("[device]", "[device")).substr(0, 2), "4:");
}

TEST(ClusterTest, AMissingFileIsAnError) {
  for (std::string path : {"/nonexistent/a.toml", CLUSTERS_FOLDER}) {
    llvm::Expected<Cluster> cluster = readCluster(path);
    ASSERT_FALSE(!!cluster);
    EXPECT_NE(
        llvm::toString(cluster.takeError()).find("cannot read '" + path + "'"),
        std::string::npos);
  }
}

const std::string cpu = R"(kind = "cpu"
[nodes]
count = 1
cores = 4
memory_bytes = 8e9
[node_link]
bandwidth = 1e10
[[ranks]]
threads = 1
[ranks.f32]
peak = 1e11
products = [[8, 16, 32, 5e10]]
products_transposed_a = [[8, 16, 32, 4e10]]
kernel_bandwidth = [[1024, 1e10]]
update_bandwidth = [[1024, 1e10]]
[[ranks]]
threads = 2
[ranks.f32]
peak = 2e11
kernel_bandwidth = [[1024, 2e10]]
update_bandwidth = [[1024, 1e10]]
)";

std::string cpuWith(const std::string &from, const std::string &to) {
  std::string text = cpu;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(ClusterTest, RanksShareTheCoresOfACpu) {
  Cluster cluster;
  ASSERT_EQ(errorOf(cpu, &cluster), "");
  EXPECT_EQ(cluster.kind, DeviceKind::Cpu);
  auto peakOf = [&](int64_t ranks) {
    return cluster.sharedBy(ranks).device.products.at(Precision::F32).peak;
  };
  EXPECT_EQ(cluster.threadsOf(1), 4);
  // The rate of two threads, the most that were measured.
  EXPECT_EQ(peakOf(1), 2e11);
  EXPECT_EQ(peakOf(2), 2e11);
  EXPECT_EQ(peakOf(3), 1e11);
  EXPECT_EQ(peakOf(8), 1e11);
  EXPECT_EQ(cluster.threadsOf(8), 1);
  EXPECT_EQ(cluster.sharedBy(8).devices(), 8);
  EXPECT_EQ(cluster.sharedBy(8).device.memoryBytes, 1e9);
}

TEST(ClusterTest, WritesWhatItReads) {
  Cluster written, read;
  ASSERT_EQ(errorOf(cpu, &written), "");
  written.name = "mine";
  written.node.exchangeEfficiency = 1.5;
  ASSERT_EQ(errorOf(clusterText(written), &read), "");
  EXPECT_EQ(clusterText(read), clusterText(written));
  EXPECT_EQ(read.coresPerNode, 4);
  EXPECT_EQ(read.node.exchangeEfficiency, 1.5);
  const MeasuredRates &rates = read.byThreads.at(1).measured.at(Precision::F32);
  ASSERT_EQ(rates.products.of(ProductForm::Plain).points.size(), 1u);
  EXPECT_EQ(rates.products.of(ProductForm::Plain).points[0].rate, 5e10);
  EXPECT_EQ(rates.products.of(ProductForm::Plain).points[0].shape[2], 32);
  EXPECT_TRUE(rates.products.of(ProductForm::Plain).trend);
  ASSERT_EQ(rates.products.of(ProductForm::TransposedA).points.size(), 1u);
  EXPECT_EQ(rates.products.of(ProductForm::TransposedA).points[0].rate, 4e10);
  EXPECT_TRUE(rates.products.forms[2].points.empty());
  EXPECT_EQ(rates.kernels.at(1), 1e10);
}

/// Compares every number that a simulation uses of GPUs.
void expectSame(const Cluster &found, const Cluster &wanted) {
  EXPECT_EQ(found.name, wanted.name);
  EXPECT_EQ(found.kind, wanted.kind);
  EXPECT_EQ(found.architecture, wanted.architecture);
  EXPECT_EQ(found.nodes, wanted.nodes);
  EXPECT_EQ(found.devicesPerNode, wanted.devicesPerNode);
  EXPECT_EQ(found.nodePower, wanted.nodePower);
  EXPECT_EQ(found.device.memoryBytes, wanted.device.memoryBytes);
  EXPECT_EQ(found.device.memoryBandwidth, wanted.device.memoryBandwidth);
  EXPECT_EQ(found.device.memoryEfficiency, wanted.device.memoryEfficiency);
  EXPECT_EQ(found.device.launch, wanted.device.launch);
  ASSERT_EQ(found.device.products.size(), wanted.device.products.size());
  for (const auto &[precision, rate] : wanted.device.products) {
    const ProductRate &other = found.device.products.at(precision);
    EXPECT_EQ(other.peak, rate.peak);
    EXPECT_EQ(other.efficiency, rate.efficiency);
    EXPECT_EQ(other.units, rate.units);
    ASSERT_EQ(other.tiles.size(), rate.tiles.size());
    for (size_t i = 0; i < rate.tiles.size(); ++i) {
      EXPECT_EQ(other.tiles[i].rows, rate.tiles[i].rows);
      EXPECT_EQ(other.tiles[i].columns, rate.tiles[i].columns);
    }
  }
  EXPECT_EQ(found.attention.isFused, wanted.attention.isFused);
  EXPECT_EQ(found.attention.efficiency, wanted.attention.efficiency);
  EXPECT_EQ(found.attention.gradientEfficiency,
            wanted.attention.gradientEfficiency);
  EXPECT_EQ(found.attention.forwardBytes, wanted.attention.forwardBytes);
  EXPECT_EQ(found.attention.backwardBytes, wanted.attention.backwardBytes);
}

void expectSame(const Link &found, const Link &wanted) {
  EXPECT_EQ(found.bandwidth, wanted.bandwidth);
  EXPECT_EQ(found.latency, wanted.latency);
  EXPECT_EQ(found.collectives.points, wanted.collectives.points);
  EXPECT_EQ(found.gatherEfficiency, wanted.gatherEfficiency);
  EXPECT_EQ(found.exchangeEfficiency, wanted.exchangeEfficiency);
}

void expectSame(const Software &found, const Software &wanted) {
  EXPECT_EQ(found.hasQueuePerGroup, wanted.hasQueuePerGroup);
  EXPECT_EQ(found.buffersMessages, wanted.buffersMessages);
  EXPECT_EQ(found.blockingAxes, wanted.blockingAxes);
  EXPECT_EQ(found.overlappedAxes, wanted.overlappedAxes);
  EXPECT_EQ(found.deferredAxes, wanted.deferredAxes);
  EXPECT_EQ(found.slicedAxes, wanted.slicedAxes);
  EXPECT_EQ(found.hasZigzagData, wanted.hasZigzagData);
  EXPECT_EQ(found.recomputesWhole, wanted.recomputesWhole);
  EXPECT_EQ(found.hidden, wanted.hidden);
  EXPECT_EQ(found.elementBytes, wanted.elementBytes);
  EXPECT_EQ(found.resultBytes, wanted.resultBytes);
  EXPECT_EQ(found.gradientSumBytes, wanted.gradientSumBytes);
  EXPECT_EQ(found.logitBytes, wanted.logitBytes);
  EXPECT_EQ(found.updateScale, wanted.updateScale);
  EXPECT_EQ(found.scattersMessagesOver, wanted.scattersMessagesOver);
  ASSERT_EQ(found.memory.has_value(), wanted.memory.has_value());
  if (!wanted.memory)
    return;
  EXPECT_EQ(found.memory->weight, wanted.memory->weight);
  EXPECT_EQ(found.memory->gradient, wanted.memory->gradient);
  EXPECT_EQ(found.memory->optimizer, wanted.memory->optimizer);
  EXPECT_EQ(found.memory->activation, wanted.memory->activation);
  EXPECT_EQ(found.memory->mask, wanted.memory->mask);
}

TEST(ClusterTest, WritesGpusAsItReadsThem) {
  for (const auto &entry :
       std::filesystem::directory_iterator(CLUSTERS_FOLDER)) {
    SCOPED_TRACE(entry.path().string());
    llvm::Expected<Cluster> wanted = readCluster(entry.path().string());
    ASSERT_TRUE(!!wanted) << llvm::toString(wanted.takeError());
    Cluster found;
    ASSERT_EQ(errorOf(clusterText(*wanted), &found), "");
    expectSame(found, *wanted);
    expectSame(found.node, wanted->node);
    expectSame(found.network, wanted->network);
    expectSame(found.software, wanted->software);
  }
}

TEST(ClusterTest, OneGpuNeedsNoLinks) {
  Cluster written, read;
  ASSERT_EQ(errorOf(whole, &written), "");
  written.name = "my \"GPU\"";
  written.nodes = written.devicesPerNode = 1;
  written.node = written.network = Link();
  written.device.launch = 1. / 3;
  std::string text = clusterText(written);
  EXPECT_EQ(text.find("link"), std::string::npos) << text;
  ASSERT_EQ(errorOf(text, &read), "");
  EXPECT_EQ(read.devices(), 1);
  expectSame(read, written);
  expectSame(read.software, written.software);
}

TEST(ClusterTest, ErrorsOfCpus) {
  EXPECT_EQ(errorOf(cpuWith("\"cpu\"", "\"tpu\"")),
            "1:8: 'kind' must be one of 'cpu', 'cuda'");
  EXPECT_EQ(errorOf(cpuWith("[8, 16, 32, 5e10]", "[8, 16, 5e10]")),
            "12:12: 'products' in [ranks.f32] must be a list of shapes of "
            "three numbers with a rate, all above 0");
  EXPECT_EQ(errorOf(cpuWith("threads = 2", "threads = 1")),
            "16:1: 'ranks' has two tables with 1 threads");
  EXPECT_EQ(errorOf(cpuWith("cores = 4", "devices = 4")),
            "4:1: unknown key 'devices' in [nodes]; it may have 'cores', "
            "'count', 'memory_bytes', 'power_watts'");
  EXPECT_EQ(errorOf(cpuWith("kernel_bandwidth = [[1024, 1e10]]", "")),
            "10:1: 'ranks.f32.kernel_bandwidth' is missing");
}

} // namespace
