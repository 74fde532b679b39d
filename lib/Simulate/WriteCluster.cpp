//===- WriteCluster.cpp - a measured CPU as a file of TOML ----------------===//
// What tessera calibrate writes; ReadCluster.cpp reads the same keys.
//===----------------------------------------------------------------------===//

#include "tessera/Simulate/Cluster.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tessera;
using namespace tessera::simulate;

/// "4096", "1.25e+09".
static std::string number(double value) {
  return llvm::formatv("{0}", llvm::format("%.4g", value));
}

/// Nothing without points.
static std::string lines(const char *key, const SizeCurve &curve) {
  std::string text;
  for (auto [bytes, value] : curve.points)
    text += "  [" + llvm::formatv("{0:f0}", bytes).str() + ", " +
            number(value) + "],\n";
  return text.empty() ? "" : std::string(key) + " = [\n" + text + "]\n";
}

static std::string lines(const char *key, const ShapeRates &rates) {
  std::string text;
  for (const ShapeRates::Point &point : rates.points)
    text += llvm::formatv("  [{0:f0}, {1:f0}, {2:f0}, {3}],\n", point.shape[0],
                          point.shape[1], point.shape[2], number(point.rate));
  return text.empty() ? "" : std::string(key) + " = [\n" + text + "]\n";
}

static std::string line(const char *key, double value) {
  return std::string(key) + " = " + number(value) + "\n";
}

static std::string ratesText(const MeasuredRates &rates) {
  return lines("products", rates.products) +
         lines("attention", rates.attention) +
         lines("attention_gradient", rates.attentionGradient) +
         line("hidden_keys", rates.hiddenKeys) +
         lines("expert_products", rates.expertProducts) +
         lines("routing_bandwidth", rates.routing) +
         lines("kernel_bandwidth", rates.kernels) +
         lines("update_bandwidth", rates.updates) +
         line("function_seconds", rates.function);
}

static std::string ranksText(int64_t threads, const Device &device) {
  std::string text = "\n[[ranks]]\nthreads = " + std::to_string(threads) +
                     "\n" + line("launch_seconds", device.launch);
  for (const auto &[precision, rates] : device.measured)
    text += std::string("\n[ranks.") + nameOf(precision) + "]\n" +
            line("peak", device.products.at(precision).peak) + ratesText(rates);
  return text;
}

std::string tessera::simulate::clusterText(const Cluster &cluster) {
  std::string text =
      "name = \"" + cluster.name + "\"\nkind = \"" + nameOf(cluster.kind) +
      "\"\n\n[nodes]\ncount = " + std::to_string(cluster.nodes) +
      "\ncores = " + std::to_string(cluster.coresPerNode) + "\n" +
      line("memory_bytes", cluster.nodeMemoryBytes) + "\n[node_link]\n" +
      line("bandwidth", cluster.node.bandwidth) +
      line("latency_seconds", cluster.node.latency) +
      line("gather_efficiency", cluster.node.gatherEfficiency) +
      line("exchange_efficiency", cluster.node.exchangeEfficiency) +
      lines("collective_bandwidth", cluster.node.collectives);
  for (const auto &[threads, device] : cluster.byThreads)
    text += ranksText(threads, device);
  return text;
}
