//===- ReadCluster.cpp - clusters as files of TOML ------------------------===//
// docs/Simulation.md describes the keys. Every key must be known and have the
// right kind of value: a mistyped constant must not be a silent default.
//===----------------------------------------------------------------------===//

#include "tessera/Json/ParseToml.h"
#include "tessera/Options/MeshAxis.h"
#include "tessera/Simulate/Cluster.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <set>

using namespace tessera;
using namespace tessera::simulate;
using llvm::Error;
using llvm::Expected;

namespace {

/// The first error of a file, but any other rather than a missing key: the one
/// that stands there instead says more.
struct Problem {
  std::string path, text;
  bool isMissing = false;

  void note(const toml::source_region &where, const std::string &what) {
    if (text.empty() || isMissing)
      text = llvm::formatv("{0}:{1}:{2}: {3}", path, where.begin.line,
                           where.begin.column, what);
    isMissing = false;
  }
  void noteMissing(const toml::source_region &where, const std::string &key) {
    if (!text.empty())
      return;
    note(where, "'" + key + "' is missing");
    isMissing = true;
  }
};

/// A table whose keys are read once each; those that nobody reads are unknown.
class TableReader {
public:
  TableReader(const toml::table *table, std::string name, Problem &problem)
      : table(table), name(std::move(name)), problem(problem) {}

  ~TableReader() {
    if (!table)
      return;
    for (const auto &[key, value] : *table)
      if (!known.count(std::string(key.str())))
        problem.note(key.source(), "unknown key '" + std::string(key.str()) +
                                       "'" + in() + "; it may have " + list());
  }

  bool exists() const { return table != nullptr; }

  TableReader sub(const std::string &key, bool isRequired) {
    const toml::node *node = find(key, isRequired);
    if (node && !node->is_table())
      problem.note(node->source(), "'" + key + "'" + in() +
                                       " must be a table, [" + path(key) + "]");
    return {node ? node->as_table() : nullptr, path(key), problem};
  }

  /// Reads a number of at least `least`.
  double number(const std::string &key, double otherwise, double least,
                bool isRequired = false) {
    const toml::node *node = find(key, isRequired);
    if (!node)
      return otherwise;
    std::optional<double> value = node->value<double>();
    if (!value || !(*value >= least) || std::isinf(*value) ||
        node->is_boolean()) {
      problem.note(node->source(),
                   llvm::formatv("'{0}'{1} must be a number of at least {2}",
                                 key, in(), llvm::format("%g", least)));
      return otherwise;
    }
    return *value;
  }
  /// Returns a whole number from 1 to a million.
  int64_t count(const std::string &key) {
    const toml::node *node = find(key, true);
    std::optional<int64_t> value =
        node ? node->value_exact<int64_t>() : std::nullopt;
    if (value && *value >= 1 && *value <= 1000000)
      return *value;
    if (node)
      problem.note(node->source(),
                   "'" + key + "'" + in() +
                       " must be a whole number from 1 to 1000000");
    return 1;
  }
  /// Reads a number above 0.
  double positive(const std::string &key, bool isRequired = true) {
    double value = number(key, 1, 0, isRequired);
    if (value <= 0 && table)
      problem.note(table->get(key)->source(),
                   "'" + key + "'" + in() + " must be above 0");
    return value;
  }
  /// Reads a number above 0; 0 if the key is missing.
  double positiveOrNone(const std::string &key) {
    return find(key, false) ? positive(key) : 0;
  }
  /// Reads a number above 0 and at most 1.
  double share(const std::string &key, double otherwise = 1) {
    bool isGiven = find(key, false) != nullptr;
    double value = isGiven ? positive(key) : otherwise;
    if (isGiven && value > 1)
      problem.note(table->get(key)->source(),
                   "'" + key + "'" + in() +
                       " is a share of the peak; it must be at most 1");
    return value;
  }
  std::string word(const std::string &key, const std::string &otherwise,
                   const std::set<std::string> &allowed = {}) {
    const toml::node *node = find(key, false);
    if (!node)
      return otherwise;
    std::optional<std::string> value = node->value<std::string>();
    if (!value || (!allowed.empty() && !allowed.count(*value)))
      problem.note(
          node->source(),
          "'" + key + "'" + in() + " must be " +
              (allowed.empty() ? "a text" : "one of " + quoted(allowed)));
    return value.value_or(otherwise);
  }
  std::vector<std::string> words(const std::string &key,
                                 const std::set<std::string> &allowed);
  SizeCurve curve(const std::string &key, bool isRequired = false) {
    find(key, isRequired);
    return {pairs(key, true)};
  }
  /// Reads [[number, number, number, number], ...], all above 0; none if the
  /// key is missing.
  ShapeRates shapes(const std::string &key);
  /// The tables of [[key]], of which there must be one.
  std::vector<const toml::table *> tables(const std::string &key);
  /// Reads [[number, number], ...], all above 0; none if the key is missing.
  std::vector<std::pair<double, double>> pairs(const std::string &key,
                                               bool grows);

private:
  const toml::node *find(const std::string &key, bool isRequired) {
    known.insert(key);
    const toml::node *node = table ? table->get(key) : nullptr;
    if (!node && table && isRequired)
      problem.noteMissing(table->source(), path(key));
    return node;
  }
  std::string path(const std::string &key) const {
    return name.empty() ? key : name + "." + key;
  }
  std::string in() const { return name.empty() ? "" : " in [" + name + "]"; }
  static std::string quoted(const std::set<std::string> &words) {
    std::string text;
    for (const std::string &word : words)
      text += (text.empty() ? "'" : ", '") + word + "'";
    return text;
  }
  std::string list() const { return quoted(known); }

  const toml::table *table;
  std::string name;
  Problem &problem;
  std::set<std::string> known;
};

} // namespace

std::vector<std::pair<double, double>>
TableReader::pairs(const std::string &key, bool grows) {
  std::vector<std::pair<double, double>> result;
  const toml::node *node = find(key, false);
  if (!node)
    return result;
  auto refuse = [&](const toml::node &where) {
    problem.note(where.source(),
                 "'" + key + "'" + in() +
                     " must be a list of pairs of numbers above 0" +
                     (grows ? ", the first of which grow" : ""));
    return std::vector<std::pair<double, double>>();
  };
  const toml::array *list = node->as_array();
  if (!list || list->empty())
    return refuse(*node);
  for (const toml::node &entry : *list) {
    const toml::array *pair = entry.as_array();
    if (!pair || pair->size() != 2)
      return refuse(entry);
    double first = (*pair)[0].value<double>().value_or(0);
    double second = (*pair)[1].value<double>().value_or(0);
    double last = grows && !result.empty() ? result.back().first : 0;
    if (!(first > last) || !(second > 0))
      return refuse(entry);
    result.push_back({first, second});
  }
  return result;
}

ShapeRates TableReader::shapes(const std::string &key) {
  ShapeRates rates;
  const toml::node *node = find(key, false);
  const toml::array *list = node ? node->as_array() : nullptr;
  bool isValid = !node || (list && !list->empty());
  for (size_t i = 0; list && i < list->size(); ++i) {
    const toml::array *entry = (*list)[i].as_array();
    std::array<double, 4> values = {};
    if (entry && entry->size() == values.size())
      for (size_t k = 0; k < values.size(); ++k)
        values[k] = (*entry)[k].value<double>().value_or(0);
    isValid &= llvm::all_of(values, [](double value) { return value > 0; });
    rates.points.push_back({{values[0], values[1], values[2]}, values[3]});
  }
  if (!isValid)
    problem.note(node->source(), "'" + key + "'" + in() +
                                     " must be a list of shapes of three "
                                     "numbers with a rate, all above 0");
  return rates;
}

std::vector<const toml::table *> TableReader::tables(const std::string &key) {
  std::vector<const toml::table *> result;
  const toml::node *node = find(key, true);
  const toml::array *list = node ? node->as_array() : nullptr;
  for (size_t i = 0; list && i < list->size(); ++i)
    if (const toml::table *entry = (*list)[i].as_table())
      result.push_back(entry);
  if (node && (!list || result.empty() || result.size() < list->size()))
    problem.note(node->source(),
                 "'" + key + "' must be tables, [[" + path(key) + "]]");
  return result;
}

std::vector<std::string>
TableReader::words(const std::string &key,
                   const std::set<std::string> &allowed) {
  std::vector<std::string> result;
  const toml::node *node = find(key, false);
  if (!node)
    return result;
  const toml::array *list = node->as_array();
  for (size_t i = 0; list && i < list->size(); ++i)
    result.push_back((*list)[i].value<std::string>().value_or(""));
  for (const std::string &word : result)
    if (!allowed.count(word))
      list = nullptr;
  if (!list)
    problem.note(node->source(), "'" + key + "'" + in() +
                                     " must be a list of some of " +
                                     quoted(allowed));
  return result;
}

static ProductRate readProducts(TableReader &table) {
  ProductRate rate;
  rate.peak = table.positive("peak");
  rate.efficiency = table.share("efficiency");
  rate.units = table.number("units", 1, 1);
  std::vector<std::pair<double, double>> tiles = table.pairs("tiles", false);
  if (!tiles.empty())
    rate.tiles.clear();
  for (auto [rows, columns] : tiles)
    rate.tiles.push_back({rows, columns});
  return rate;
}

static void readDevice(TableReader &root, Device &device) {
  TableReader table = root.sub("device", true);
  device.memoryBytes = table.positive("memory_bytes");
  device.memoryBandwidth = table.positive("memory_bandwidth");
  device.memoryEfficiency = table.share("memory_efficiency");
  device.launch = table.number("launch_seconds", 0, 0);
  TableReader products = table.sub("products", true);
  for (Precision precision :
       {Precision::F32, Precision::BF16, Precision::F64}) {
    TableReader rate = products.sub(nameOf(precision), false);
    if (rate.exists())
      device.products[precision] = readProducts(rate);
  }
}

static Link readLink(TableReader &root, const char *name, bool isRequired) {
  TableReader table = root.sub(name, isRequired);
  Link link;
  if (!table.exists())
    return link;
  link.bandwidth = table.positive("bandwidth") * table.share("efficiency");
  link.latency = table.number("latency_seconds", 0, 0);
  link.collectives = table.curve("collective_bandwidth");
  link.gatherEfficiency = table.share("gather_efficiency");
  link.exchangeEfficiency =
      table.number("exchange_efficiency", 1, Link::kLeastExchangeEfficiency);
  return link;
}

static MeasuredRates readRates(TableReader &table) {
  MeasuredRates rates;
  for (size_t i = 0; i < kProductForms; ++i) {
    auto form = static_cast<ProductForm>(i);
    ShapeRates &products = rates.products[form];
    products = table.shapes(ProductRates::keyOf(form));
    if (!products.points.empty())
      products.fitTrend();
  }
  rates.attention = table.shapes("attention");
  rates.attentionGradient = table.shapes("attention_gradient");
  rates.hiddenKeys = table.number("hidden_keys", 0, 0);
  rates.expertProducts = table.shapes("expert_products");
  rates.routing = table.curve("routing_bandwidth");
  rates.kernels = table.curve("kernel_bandwidth", true);
  rates.updates = table.curve("update_bandwidth", true);
  rates.function = table.number("function_seconds", 0, 0);
  return rates;
}

static Device readRanks(TableReader &table) {
  Device device;
  device.launch = table.number("launch_seconds", 0, 0);
  for (Precision precision :
       {Precision::F32, Precision::BF16, Precision::F64}) {
    TableReader rates = table.sub(nameOf(precision), false);
    if (!rates.exists())
      continue;
    device.products[precision].peak = rates.positive("peak");
    device.measured[precision] = readRates(rates);
  }
  return device;
}

static void readCpu(TableReader &root, Cluster &cluster, Problem &problem) {
  {
    TableReader nodes = root.sub("nodes", true);
    cluster.nodes = nodes.count("count");
    cluster.coresPerNode = nodes.count("cores");
    cluster.nodeMemoryBytes = nodes.positive("memory_bytes");
    cluster.nodePower = nodes.positiveOrNone("power_watts");
  }
  for (const toml::table *entry : root.tables("ranks")) {
    TableReader table(entry, "ranks", problem);
    int64_t threads = table.count("threads");
    bool isNew =
        cluster.byThreads.try_emplace(threads, readRanks(table)).second;
    if (!isNew)
      problem.note(entry->source(), "'ranks' has two tables with " +
                                        std::to_string(threads) + " threads");
  }
  cluster.node = readLink(root, "node_link", true);
  cluster.network = readLink(root, "network", cluster.nodes > 1);
  // Communication beside computing takes its cores.
  cluster.software.hidden = 0;
}

static AttentionModel readAttention(TableReader &root) {
  AttentionModel model;
  TableReader table = root.sub("attention", false);
  model.isFused = table.word("scores", "fused", {"fused", "stored"}) == "fused";
  model.efficiency = table.share("efficiency");
  model.gradientEfficiency =
      table.share("gradient_efficiency", model.efficiency);
  model.forwardBytes = table.number("forward_bytes_per_score", 0, 0);
  model.backwardBytes = table.number("backward_bytes_per_score", 0, 0);
  return model;
}

static std::optional<KeptBytes> readKeptBytes(TableReader &software) {
  TableReader table = software.sub("memory", false);
  if (!table.exists())
    return std::nullopt;
  return KeptBytes{
      table.positive("weight_bytes"), table.positive("gradient_bytes"),
      table.positive("optimizer_bytes"), table.positive("activation_bytes"),
      table.number("mask_bytes", 0, 0, true)};
}

static Software readSoftware(TableReader &root) {
  Software software;
  TableReader table = root.sub("software", false);
  software.hasQueuePerGroup =
      table.word("communication", "one queue",
                 {"one queue", "queue per group"}) == "queue per group";
  software.buffersMessages =
      table.word("messages", "when both are ready",
                 {"when both are ready", "buffered"}) == "buffered";
  std::set<std::string> axes;
  for (const Name<MeshAxis> &axis : Names<MeshAxis>::table)
    axes.insert(axis.name);
  software.scattersMessagesOver = table.word("scatter_messages_over", "", axes);
  for (const std::string &axis : table.words("blocking_axes", axes))
    software.blockingAxes.insert(axis);
  for (const std::string &axis : table.words("overlapped_axes", axes))
    software.overlappedAxes.insert(axis);
  for (const std::string &axis : table.words("deferred_axes", axes))
    software.deferredAxes.insert(axis);
  for (const std::string &axis : table.words("sliced_axes", axes))
    software.slicedAxes.insert(axis);
  software.recomputesWhole = table.word("recomputation", "as needed",
                                        {"as needed", "whole"}) == "whole";
  software.hasZigzagData =
      table.word("zigzag", "exchanged", {"exchanged", "in the data"}) ==
      "in the data";
  software.hidden = table.share("hidden");
  TableReader bytes = table.sub("element_bytes", false);
  for (const std::string &axis : axes)
    if (double given = bytes.positiveOrNone(axis); given > 0)
      software.elementBytes[axis] = given;
  software.resultBytes = table.positiveOrNone("result_bytes");
  software.gradientSumBytes = table.positiveOrNone("gradient_sum_bytes");
  software.logitBytes = table.positiveOrNone("logit_bytes");
  software.updateScale = table.positive("update_scale", false);
  software.memory = readKeptBytes(table);
  return software;
}

static Cluster readTables(const toml::table &file, Problem &problem) {
  Cluster cluster;
  TableReader root(&file, "", problem);
  cluster.name = root.word("name", problem.path);
  std::set<std::string> kinds;
  for (const Name<DeviceKind> &kind : Names<DeviceKind>::table)
    kinds.insert(kind.name);
  cluster.kind = fromName<DeviceKind>(root.word("kind", "cuda", kinds))
                     .value_or(DeviceKind::Cuda);
  if (cluster.kind == DeviceKind::Cpu) {
    readCpu(root, cluster, problem);
    return cluster;
  }
  {
    TableReader nodes = root.sub("nodes", true);
    cluster.nodes = nodes.count("count");
    cluster.devicesPerNode = nodes.count("devices");
    cluster.nodePower = nodes.positiveOrNone("power_watts");
  }
  cluster.architecture = root.word("architecture", "");
  readDevice(root, cluster.device);
  cluster.attention = readAttention(root);
  cluster.node = readLink(root, "node_link", cluster.devicesPerNode > 1);
  cluster.network = readLink(root, "network", cluster.nodes > 1);
  cluster.software = readSoftware(root);
  return cluster;
}

Expected<Cluster> tessera::simulate::readCluster(const std::string &path) {
  Expected<toml::table> file = readToml(path);
  if (!file)
    return file.takeError();
  Problem problem{path, ""};
  Cluster cluster = readTables(*file, problem);
  if (!problem.text.empty())
    return llvm::createStringError(problem.text);
  return cluster;
}
