//===- WriteCluster.cpp - a measured machine as a file of TOML ------------===//
// Writes the file of tessera calibrate; ReadCluster.cpp reads the same keys.
//===----------------------------------------------------------------------===//

#include "tessera/Simulate/Cluster.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstdlib>

using namespace tessera;
using namespace tessera::simulate;

/// Writes at least four digits, and as many as it takes to read the same
/// number.
static std::string exact(double value) {
  std::string text;
  for (int digits = 4; digits <= 17; ++digits) {
    text = llvm::formatv("{0}", llvm::format("%.*g", digits, value));
    if (std::strtod(text.c_str(), nullptr) == value)
      break;
  }
  return text;
}

/// Writes "4096" or "1.25e+09": measured rates are not known more exactly.
static std::string number(double value) {
  return llvm::formatv("{0}", llvm::format("%.4g", value));
}

using NumberText = std::string (*)(double);

static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text)
    result +=
        (c == '"' || c == '\\') ? std::string("\\") + c : std::string(1, c);
  return result + "\"";
}

/// Writes a line for each point; nothing without points.
static std::string lines(const char *key, const SizeCurve &curve,
                         NumberText number = ::number) {
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

static std::string line(const char *key, double value,
                        NumberText number = ::number) {
  return std::string(key) + " = " + number(value) + "\n";
}

/// Writes a line unless its value is the one that the reader assumes anyway.
static std::string lineUnless(double otherwise, const char *key, double value) {
  return value == otherwise ? "" : line(key, value, exact);
}

static std::string linkText(const Link &link, NumberText number) {
  return line("bandwidth", link.bandwidth, number) +
         line("latency_seconds", link.latency, number) +
         line("gather_efficiency", link.gatherEfficiency, number) +
         line("exchange_efficiency", link.exchangeEfficiency, number) +
         lines("collective_bandwidth", link.collectives, number);
}

static std::string nodesText(const Cluster &cluster) {
  return "\n[nodes]\ncount = " + std::to_string(cluster.nodes) + "\n" +
         lineUnless(0, "power_watts", cluster.nodePower);
}

//===----------------------------------------------------------------------===//
// CPUs
//===----------------------------------------------------------------------===//

static std::string ratesText(const MeasuredRates &rates) {
  std::string products;
  for (size_t i = 0; i < kProductForms; ++i)
    products += lines(ProductRates::keyOf(static_cast<ProductForm>(i)),
                      rates.products.forms[i]);
  return products + lines("attention", rates.attention) +
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

static std::string cpuText(const Cluster &cluster) {
  std::string text = nodesText(cluster) +
                     "cores = " + std::to_string(cluster.coresPerNode) + "\n" +
                     line("memory_bytes", cluster.nodeMemoryBytes) +
                     "\n[node_link]\n" + linkText(cluster.node, number);
  if (cluster.network.bandwidth > 0)
    text += "\n[network]\n" + linkText(cluster.network, number);
  for (const auto &[threads, device] : cluster.byThreads)
    text += ranksText(threads, device);
  return text;
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

static std::string productsText(Precision precision, const ProductRate &rate) {
  std::string tiles;
  for (const Tile &tile : rate.tiles)
    tiles += (tiles.empty() ? "[" : ", [") + exact(tile.rows) + ", " +
             exact(tile.columns) + "]";
  return std::string("\n[device.products.") + nameOf(precision) + "]\n" +
         line("peak", rate.peak, exact) +
         line("efficiency", rate.efficiency, exact) +
         line("units", rate.units, exact) + "tiles = [" + tiles + "]\n";
}

static std::string deviceText(const Device &device) {
  std::string text = "\n[device]\n" +
                     line("memory_bytes", device.memoryBytes, exact) +
                     line("memory_bandwidth", device.memoryBandwidth, exact) +
                     line("memory_efficiency", device.memoryEfficiency, exact) +
                     line("launch_seconds", device.launch, exact);
  for (const auto &[precision, rate] : device.products)
    text += productsText(precision, rate);
  return text;
}

static std::string attentionText(const AttentionModel &model) {
  return std::string("\n[attention]\nscores = ") +
         (model.isFused ? "\"fused\"\n" : "\"stored\"\n") +
         line("efficiency", model.efficiency, exact) +
         lineUnless(model.efficiency, "gradient_efficiency",
                    model.gradientEfficiency) +
         lineUnless(0, "forward_bytes_per_score", model.forwardBytes) +
         lineUnless(0, "backward_bytes_per_score", model.backwardBytes);
}

static std::string axesLine(const char *key,
                            const std::set<std::string> &axes) {
  std::string list;
  for (const std::string &axis : axes)
    list += (list.empty() ? "" : ", ") + quoted(axis);
  return list.empty() ? "" : std::string(key) + " = [" + list + "]\n";
}

static std::string memoryText(const KeptBytes &bytes) {
  return "\n[software.memory]\n" + line("weight_bytes", bytes.weight, exact) +
         line("gradient_bytes", bytes.gradient, exact) +
         line("optimizer_bytes", bytes.optimizer, exact) +
         line("activation_bytes", bytes.activation, exact) +
         line("mask_bytes", bytes.mask, exact);
}

/// Describes the software; writes nothing for Tessera itself.
static std::string softwareText(const Software &software) {
  std::string text =
      std::string(software.hasQueuePerGroup
                      ? "communication = \"queue per group\"\n"
                      : "") +
      (software.buffersMessages ? "messages = \"buffered\"\n" : "") +
      (software.recomputesWhole ? "recomputation = \"whole\"\n" : "") +
      (software.hasZigzagData ? "zigzag = \"in the data\"\n" : "") +
      (software.scattersMessagesOver.empty()
           ? ""
           : "scatter_messages_over = " +
                 quoted(software.scattersMessagesOver) + "\n") +
      axesLine("blocking_axes", software.blockingAxes) +
      axesLine("overlapped_axes", software.overlappedAxes) +
      axesLine("deferred_axes", software.deferredAxes) +
      axesLine("sliced_axes", software.slicedAxes) +
      lineUnless(1, "hidden", software.hidden) +
      lineUnless(0, "result_bytes", software.resultBytes) +
      lineUnless(0, "gradient_sum_bytes", software.gradientSumBytes) +
      lineUnless(0, "logit_bytes", software.logitBytes) +
      lineUnless(1, "update_scale", software.updateScale);
  std::string bytes;
  for (const auto &[axis, given] : software.elementBytes)
    bytes += lineUnless(0, axis.c_str(), given);
  return (text.empty() ? "" : "\n[software]\n" + text) +
         (bytes.empty() ? "" : "\n[software.element_bytes]\n" + bytes) +
         (software.memory ? memoryText(*software.memory) : "");
}

static std::string cudaText(const Cluster &cluster) {
  std::string text =
      (cluster.architecture.empty()
           ? ""
           : "architecture = " + quoted(cluster.architecture) + "\n") +
      nodesText(cluster) +
      "devices = " + std::to_string(cluster.devicesPerNode) + "\n" +
      deviceText(cluster.device) + attentionText(cluster.attention);
  // One device has no links.
  if (cluster.node.bandwidth > 0)
    text += "\n[node_link]\n" + linkText(cluster.node, exact);
  if (cluster.network.bandwidth > 0)
    text += "\n[network]\n" + linkText(cluster.network, exact);
  return text + softwareText(cluster.software);
}

std::string tessera::simulate::clusterText(const Cluster &cluster) {
  bool isCpu = cluster.kind == DeviceKind::Cpu;
  return "name = " + quoted(cluster.name) + "\nkind = \"" +
         nameOf(cluster.kind) + "\"\n" +
         (isCpu ? cpuText(cluster) : cudaText(cluster));
}
