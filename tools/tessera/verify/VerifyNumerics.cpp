//===- VerifyNumerics.cpp - both programs, run and compared ---------------===//

#include "tools/tessera/verify/VerifyNumerics.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/report/PrintError.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

using namespace tessera;
namespace json = llvm::json;

namespace {

constexpr int64_t kSteps = 3;
constexpr double kLearningRate = 1e-4;

/// The largest shrunk model; a program that keeps its size may be larger.
constexpr double kShrunkLayers = 2, kShrunkTokens = 512;

/// How different a value of a shrunk model may be, relative to its largest
/// element. f64: sums in another order, through 2 layers and 3 steps. f32 and
/// bf16: their rounding unit times the longest chain of sums and of exp and
/// rsqrt around them.
double toleranceOf(Precision precision) {
  return precision == Precision::F64   ? 1e-9
         : precision == Precision::F32 ? 2e-3
                                       : 1e-1;
}

/// How much more rounding a program of this size piles up than a shrunk one:
/// the error of a sum grows with the root of its terms (Higham and Mary 2019),
/// the longest are over tokens, and each layer adds its own.
double growthOf(const ArtifactFile &artifact) {
  double tokens = static_cast<double>(tsr_artifact_batch(artifact.get())) *
                  static_cast<double>(tsr_artifact_sequence(artifact.get()));
  double layers = kShrunkLayers;
  if (auto metadata = json::parse(artifact.metadata())) {
    if (const json::Object *model = metadata->getAsObject()->getObject("model"))
      layers = static_cast<double>(
          model->getInteger("layers").value_or(kShrunkLayers));
  } else {
    llvm::consumeError(metadata.takeError());
  }
  return std::max(1.0, std::sqrt(tokens / kShrunkTokens)) *
         std::max(1.0, layers / kShrunkLayers);
}

/// Elements below this share of 1 count as 0: values that are 0 in exact
/// arithmetic (the gradient of attention's key bias) hold only rounding noise.
double floorOf(Precision precision) {
  return precision == Precision::F64 ? 1e-6 : 1e-3;
}

/// AdamW moves a parameter by at most lr / epsilon times an error of its
/// gradient: it divides by sqrt(v) + epsilon, and where the gradient is 0 in
/// exact arithmetic (a query's bias over a single key) v is rounding noise.
constexpr double kUpdateCondition = kLearningRate / OptimizerOptions().epsilon;

struct Tensor {
  std::string role, name;
  int64_t elements = 1, localElements = 1;
  bool replicated = true;
  std::vector<bool> stages; ///< That hold it; empty: there are no stages.

  /// The first of its name, "17:einsum of h.1.mlp": its place in the program.
  int64_t number() const { return std::atoll(name.c_str()); }
  /// What AdamW made: an updated parameter, or the value of the update.
  bool isUpdate() const {
    return role == "parameter" || name.find(":adamw of ") != std::string::npos;
  }
};

struct SessionDeleter {
  void operator()(tsr_session *session) const { tsr_session_destroy(session); }
};

/// One program, loaded and initialised.
class Run {
public:
  bool open(const std::string &path);
  bool step(const std::vector<int32_t> &tokens, double &loss);
  bool read(const Tensor &tensor, std::vector<double> &values);
  bool copiesAgree(const Tensor &tensor, bool &agree);

  ArtifactFile artifact;
  std::vector<Tensor> tensors;
  int64_t messages = 0;
  std::vector<int64_t> stageOfRank; ///< Empty: there are no stages.

private:
  void listTensors();
  void listStages(const json::Object &metadata);
  std::unique_ptr<tsr_session, SessionDeleter> session;
};

bool fail() {
  printError(tsr_last_error());
  return false;
}

bool Run::open(const std::string &path) {
  if (!artifact.load(path))
    return false;
  tsr_session *opened = nullptr;
  tsr_session_options options = {};
  options.size = sizeof(options);
  options.seed = 1;
  options.poison = 1;
  options.device = nameOf(artifact.device());
  if (tsr_session_create(artifact.get(), &options, &opened))
    return fail();
  session.reset(opened);
  tsr_schedule schedule = {};
  schedule.size = sizeof(schedule);
  schedule.lr = schedule.min_lr = kLearningRate;
  if (tsr_session_init(opened) || tsr_session_set_schedule(opened, &schedule))
    return fail();
  listTensors();
  return true;
}

int64_t product(const json::Array *shape) {
  int64_t n = 1;
  for (const json::Value &size : *shape)
    n *= *size.getAsInteger();
  return n;
}

void Run::listTensors() {
  auto metadata = json::parse(artifact.metadata());
  if (!metadata)
    return llvm::consumeError(metadata.takeError());
  for (const json::Value &value :
       *metadata->getAsObject()->getArray("tensors")) {
    const json::Object &object = *value.getAsObject();
    Tensor tensor;
    tensor.role = object.getString("role")->str();
    tensor.name = object.getString("name")->str();
    bool compared = tensor.role == "value" || tensor.role == "gradient" ||
                    tensor.role == "parameter" || tensor.role == "moment1" ||
                    tensor.role == "moment2";
    if (!compared)
      continue;
    tensor.elements = product(object.getArray("shape"));
    tensor.localElements = product(object.getArray("local_shape"));
    const json::Array *sharding = object.getArray("sharding");
    const json::Array *partial = object.getArray("partial");
    tensor.replicated =
        (!sharding || sharding->empty()) && (!partial || partial->empty());
    if (const json::Array *offsets = object.getArray("offsets"))
      for (const json::Value &offset : *offsets)
        tensor.stages.push_back(offset.getAsInteger().value_or(-1) >= 0);
    tensors.push_back(tensor);
  }
  listStages(*metadata->getAsObject());
  // In program order: the first value that differs is where it begins.
  auto order = [](const Tensor &t) {
    return t.role == "value"      ? std::make_pair(0, t.number())
           : t.role == "gradient" ? std::make_pair(1, int64_t(0))
                                  : std::make_pair(2, int64_t(0));
  };
  std::stable_sort(
      tensors.begin(), tensors.end(),
      [&](const Tensor &a, const Tensor &b) { return order(a) < order(b); });
}

/// The last axis of the mesh varies fastest over ranks.
void Run::listStages(const json::Object &metadata) {
  const json::Object *pipeline = metadata.getObject("pipeline");
  if (!pipeline)
    return;
  messages = pipeline->getInteger("messages").value_or(0);
  int64_t inner = 1, stages = 1;
  const json::Array &mesh = *metadata.getArray("mesh");
  for (const json::Value &value : llvm::reverse(mesh)) {
    const json::Object &axis = *value.getAsObject();
    stages = *axis.getInteger("size");
    if (axis.getString("axis") == pipeline->getString("axis"))
      break;
    inner *= stages;
  }
  for (int64_t rank = 0; rank < tsr_artifact_ranks(artifact.get()); ++rank)
    stageOfRank.push_back(rank / inner % stages);
}

bool Run::step(const std::vector<int32_t> &tokens, double &loss) {
  tsr_step_result result;
  if (tsr_session_step(session.get(), tokens.data(), tokens.size(), &result))
    return fail();
  loss = result.loss;
  return true;
}

bool Run::read(const Tensor &tensor, std::vector<double> &values) {
  values.resize(tensor.elements);
  return !tsr_session_read(session.get(), tensor.role.c_str(),
                           tensor.name.c_str(), values.data(), values.size()) ||
         fail();
}

/// Do all ranks that have it hold the same bits of a value that is I or R?
bool Run::copiesAgree(const Tensor &tensor, bool &agree) {
  std::vector<double> first(tensor.localElements), other(first);
  agree = true;
  if (!tensor.replicated)
    return true;
  bool isFirst = true;
  for (int64_t rank = 0; rank < tsr_artifact_ranks(artifact.get()); ++rank) {
    if (!tensor.stages.empty() && !tensor.stages[stageOfRank[rank]])
      continue;
    std::vector<double> &into = isFirst ? first : other;
    if (tsr_session_read_local(session.get(), rank, tensor.role.c_str(),
                               tensor.name.c_str(), into.data(), into.size()))
      return fail();
    agree &= isFirst || first == other;
    isFirst = false;
  }
  return true;
}

/// Compares the state of two runs after a step.
class Comparison {
public:
  Comparison(Run &serial, Run &parallel, Precision precision,
             NumericCheck &check)
      : serial(serial), parallel(parallel), precision(precision), check(check),
        tolerance(toleranceOf(precision) * growthOf(serial.artifact)) {}

  bool run(int64_t step);

private:
  bool compare(const Tensor &tensor, const Tensor &reference, int64_t step);
  void note(const Tensor &tensor, double error, int64_t step);
  bool isNoise(const Tensor &tensor) const;

  Run &serial, &parallel;
  Precision precision;
  NumericCheck &check;
  double tolerance;
};

/// AdamW divides a gradient by its own size: where the exact gradient is 0, as
/// for the key part of attention's bias, it makes steps of rounding noise. The
/// gradient and the moments are compared.
bool Comparison::isNoise(const Tensor &tensor) const {
  if (precision == Precision::F64)
    return false;
  return tensor.name.find(":adamw") != std::string::npos ||
         (tensor.role == "parameter" &&
          (tensor.name.find("c_attn.bias") != std::string::npos ||
           tensor.name.find("self.key.bias") != std::string::npos));
}

void Comparison::note(const Tensor &tensor, double error, int64_t step) {
  ++check.values;
  if (error > check.worst || std::isnan(error)) {
    check.worst = error;
    check.worstName = tensor.role + " " + tensor.name;
  }
  if (!(error <= tolerance) && check.difference.empty())
    check.difference = llvm::formatv(
        "{0} {1} differs after step {2}: by {3:e1} of its largest element, "
        "{4:e1} is allowed",
        tensor.role, tensor.name, step, error, tolerance);
}

bool Comparison::compare(const Tensor &tensor, const Tensor &reference,
                         int64_t step) {
  std::vector<double> found, wanted;
  if (!parallel.read(tensor, found) || !serial.read(reference, wanted))
    return false;
  double largest = floorOf(precision), error = 0;
  if (precision == Precision::F64 && tensor.isUpdate())
    largest *= kUpdateCondition;
  for (size_t k = 0; k < wanted.size(); ++k) {
    largest = std::max(largest, std::fabs(wanted[k]));
    double difference = std::fabs(found[k] - wanted[k]);
    if (!(difference <= error) &&
        !(std::isnan(found[k]) && std::isnan(wanted[k])))
      error = difference;
  }
  note(tensor, error / largest, step);
  bool agree;
  if (!parallel.copiesAgree(tensor, agree))
    return false;
  if (!agree && check.difference.empty())
    check.difference = llvm::formatv("ranks hold different copies of {0} {1} "
                                     "after step {2}",
                                     tensor.role, tensor.name, step);
  return true;
}

bool Comparison::run(int64_t step) {
  std::map<std::pair<std::string, std::string>, const Tensor *> known;
  for (const Tensor &tensor : serial.tensors)
    known[{tensor.role, tensor.name}] = &tensor;
  for (const Tensor &tensor : parallel.tensors) {
    auto it = known.find({tensor.role, tensor.name});
    if (it == known.end() || isNoise(tensor))
      continue;
    if (!compare(tensor, *it->second, step))
      return false;
  }
  return true;
}

std::vector<int32_t> randomTokens(const tsr_artifact *artifact, int64_t step) {
  std::mt19937 generator(static_cast<uint32_t>(step));
  int64_t count = tsr_artifact_batch(artifact) * tsr_artifact_columns(artifact);
  std::vector<int32_t> tokens(count);
  for (int32_t &token : tokens)
    token =
        static_cast<int32_t>(generator() % tsr_artifact_vocabulary(artifact));
  return tokens;
}

} // namespace

bool tessera::compareRuns(const std::string &serialPath,
                          const std::string &parallelPath, Precision precision,
                          NumericCheck &check) {
  Run serial, parallel;
  if (!serial.open(serialPath) || !parallel.open(parallelPath))
    return false;
  check.messages = parallel.messages;
  Comparison comparison(serial, parallel, precision, check);
  for (int64_t step = 0; step < kSteps && check.difference.empty(); ++step) {
    std::vector<int32_t> tokens = randomTokens(serial.artifact.get(), step);
    double wanted, found;
    if (!serial.step(tokens, wanted) || !parallel.step(tokens, found) ||
        !comparison.run(step))
      return false;
    check.steps = step + 1;
  }
  return true;
}
