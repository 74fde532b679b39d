//===- CompareEncoding.cpp - encoded texts, run and compared --------------===//

#include "lib/Verify/CompareEncoding.h"
#include "lib/Verify/Difference.h"
#include "lib/Verify/ProgramRun.h"
#include "tessera/Artifact/ArtifactFile.h"
#include "tessera/Artifact/RuntimeError.h"
#include "tessera/encoder.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <random>

using namespace tessera;

namespace {

struct Destroy {
  void operator()(tsr_encoder *object) const { tsr_encoder_destroy(object); }
};

using Encoder = std::unique_ptr<tsr_encoder, Destroy>;

llvm::Expected<Encoder> encoderOf(const ArtifactFile &artifact) {
  tsr_session_options options = {};
  options.size = sizeof options;
  options.poison = 1;
  options.device = nameOf(artifact.device());
  tsr_encoder *created = nullptr;
  if (tsr_encoder_create(artifact.get(), &options, nullptr, &created) != TSR_OK)
    return runtimeError();
  return Encoder(created);
}

/// Returns the names of its parameters: an encoder alone has not all of the
/// model's.
llvm::Expected<std::vector<std::string>>
findParameters(const ArtifactFile &artifact) {
  llvm::Expected<program::Program> read = readMetadata(artifact);
  if (!read)
    return read.takeError();
  std::vector<std::string> names;
  for (const program::Tensor &tensor : read->tensors)
    if (tensor.role == "parameter")
      names.push_back(tensor.name);
  return names;
}

class Comparison {
public:
  Comparison(const ForwardResult &forward, NumericCheck &check)
      : forward(forward), check(check) {}

  llvm::Error open(const std::string &path, Precision precision);
  void run();

private:
  /// Sequences [first, first + count) of `forward`, in one step.
  struct Part {
    int64_t first, count;
    /// The positions of each sequence whose logits are asked for.
    std::vector<std::vector<int32_t>> positions;
  };
  llvm::Error writeParameters();
  bool runAll(int64_t first, int64_t count);
  bool runPart(const Part &part);
  void compareResults(const Part &part);
  void compare(const double *found, const double *wanted, int64_t count,
               const std::string &what);

  const ForwardResult &forward;
  NumericCheck &check;
  ArtifactFile artifact;
  Encoder encoder;
  double tolerance = 0;
  std::mt19937 random{5};
};

llvm::Error Comparison::writeParameters() {
  llvm::Expected<std::vector<std::string>> names = findParameters(artifact);
  if (!names)
    return names.takeError();
  for (const std::string &name : *names) {
    const std::vector<double> &values = forward.parameters.at(name);
    if (tsr_encoder_write(encoder.get(), "parameter", name.c_str(),
                          values.data(), values.size()) != TSR_OK)
      return runtimeError();
  }
  return llvm::Error::success();
}

llvm::Error Comparison::open(const std::string &path, Precision precision) {
  if (llvm::Error error = artifact.load(path))
    return error;
  tolerance = forwardTolerance(precision) * growthOf(artifact);
  if (llvm::Error error = encoderOf(artifact).moveInto(encoder))
    return error;
  return writeParameters();
}

void Comparison::compare(const double *found, const double *wanted,
                         int64_t count, const std::string &what) {
  double largest = 0, error = 0;
  for (int64_t k = 0; k < count; ++k) {
    largest = std::max(largest, std::fabs(wanted[k]));
    error = largerOf(error, std::fabs(found[k] - wanted[k]));
  }
  error /= largest;
  check.worst = largerOf(check.worst, error);
  if (!(error <= tolerance) && check.difference.empty())
    check.difference = llvm::formatv(
        "{0}, of step {1}, differs from the forward program's by {2:e1} of the "
        "largest, {3:e1} is allowed",
        what, check.steps, error, tolerance);
}

/// Reads what the program returned, rather than what the runtime makes of it.
void Comparison::compareResults(const Part &part) {
  const int64_t width = forward.hiddenSize, size = forward.vocabulary;
  const int64_t batch = tsr_artifact_batch(artifact.get());
  const int64_t most = tsr_encoder_max_predictions(encoder.get());
  std::vector<double> hidden(batch * forward.length * width);
  std::vector<double> logits(batch * most * size);
  if (tsr_encoder_read(encoder.get(), "output", "encode_hidden", hidden.data(),
                       hidden.size()) != TSR_OK ||
      (most && tsr_encoder_read(encoder.get(), "output", "encode_logits",
                                logits.data(), logits.size()) != TSR_OK)) {
    check.worst = INFINITY;
    check.difference = tsr_last_error();
    return;
  }
  auto where = [](const char *what, int64_t position, int64_t sequence) {
    return llvm::formatv("the {0} of position {1} of sequence {2}", what,
                         position, sequence)
        .str();
  };
  for (int64_t k = 0; k < part.count; ++k) {
    const int64_t sequence = part.first + k;
    check.values += most ? 0 : forward.lengths[sequence];
    for (int64_t i = 0; i < forward.lengths[sequence]; ++i)
      compare(&hidden[(k * forward.length + i) * width],
              &forward.hidden[(sequence * forward.length + i) * width], width,
              where("hidden state", i, sequence));
    const std::vector<int32_t> &positions = part.positions[k];
    for (size_t i = 0; i < positions.size(); ++i, ++check.values)
      compare(&logits[(k * most + static_cast<int64_t>(i)) * size],
              forward.logitsAt(sequence, positions[i]), size,
              where("logits", positions[i], sequence));
  }
}

bool Comparison::runPart(const Part &part) {
  std::vector<tsr_encoder_text> texts;
  for (int64_t k = 0; k < part.count; ++k) {
    const int64_t sequence = part.first + k;
    const int64_t begin = sequence * forward.length;
    texts.push_back({&forward.tokens[begin], &forward.tokenTypes[begin],
                     static_cast<size_t>(forward.lengths[sequence]),
                     part.positions[k].data(), part.positions[k].size()});
  }
  if (tsr_encoder_run(encoder.get(), texts.data(), texts.size()) == TSR_OK) {
    compareResults(part);
  } else {
    check.worst = INFINITY;
    check.difference = llvm::formatv("step {0} of @encode fails: {1}",
                                     check.steps, tsr_last_error());
  }
  ++check.steps;
  return check.difference.empty();
}

/// Positions come in a random order, so many in each step; without a head there
/// is one step.
bool Comparison::runAll(int64_t first, int64_t count) {
  const auto most =
      static_cast<size_t>(tsr_encoder_max_predictions(encoder.get()));
  std::vector<std::vector<int32_t>> left(count);
  for (int64_t k = 0; k < count; ++k) {
    for (int64_t i = 0; most && i < forward.lengths[first + k]; ++i)
      left[k].push_back(static_cast<int32_t>(i));
    std::shuffle(left[k].begin(), left[k].end(), random);
  }
  auto isLeft = [](const auto &positions) { return !positions.empty(); };
  do {
    Part part{first, count, {}};
    for (std::vector<int32_t> &positions : left) {
      auto cut = positions.end() - std::min(most, positions.size());
      part.positions.emplace_back(cut, positions.end());
      positions.erase(cut, positions.end());
    }
    if (!runPart(part))
      return false;
  } while (std::any_of(left.begin(), left.end(), isLeft));
  return true;
}

void Comparison::run() {
  const int64_t batch = tsr_artifact_batch(artifact.get());
  for (int64_t first = 0; first < forward.sequences; first += batch)
    if (!runAll(first, std::min(batch, forward.sequences - first)))
      break;
}

} // namespace

llvm::Error tessera::storeEncoderParameters(const std::string &path,
                                            NamedValues &parameters) {
  ArtifactFile artifact;
  if (llvm::Error error = artifact.load(path))
    return error;
  llvm::Expected<std::vector<std::string>> names = findParameters(artifact);
  if (!names)
    return names.takeError();
  llvm::Expected<Encoder> encoder = encoderOf(artifact);
  if (!encoder)
    return encoder.takeError();
  for (const std::string &name : *names) {
    std::vector<double> &values = parameters.at(name);
    if (tsr_encoder_write(encoder->get(), "parameter", name.c_str(),
                          values.data(), values.size()) != TSR_OK ||
        tsr_encoder_read(encoder->get(), "parameter", name.c_str(),
                         values.data(), values.size()) != TSR_OK)
      return runtimeError();
  }
  return llvm::Error::success();
}

llvm::Expected<NumericCheck>
tessera::compareEncoding(const std::string &path, const ForwardResult &forward,
                         Precision precision) {
  NumericCheck check;
  check.difference = forward.refusal();
  if (!check.difference.empty())
    return check;
  Comparison comparison(forward, check);
  if (llvm::Error error = comparison.open(path, precision))
    return error;
  comparison.run();
  return check;
}
