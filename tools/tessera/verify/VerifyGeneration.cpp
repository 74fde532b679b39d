//===- VerifyGeneration.cpp - steps of rows, run and compared -------------===//

#include "tools/tessera/verify/VerifyGeneration.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/verify/RowSchedule.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace tessera;

namespace {

/// How different logits of a shrunk model may be, relative to the largest of
/// their position. f64 and f32: sums in another order, through the forward pass
/// of 2 layers, 5000 to 10000 rounding units. bf16: as in training.
double toleranceOf(Precision precision) {
  return precision == Precision::F64   ? 1e-12
         : precision == Precision::F32 ? 5e-4
                                       : 1e-1;
}

/// NaN if one of them is.
double largerOf(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

struct Destroy {
  void operator()(tsr_generator *object) const {
    tsr_generator_destroy(object);
  }
};
using Generator = std::unique_ptr<tsr_generator, Destroy>;

bool fail() { return !printError(tsr_last_error()); }

Generator generatorOf(const ArtifactFile &artifact, int64_t timeoutMs) {
  tsr_session_options options = {};
  options.size = sizeof options;
  options.poison = 1;
  options.timeout_ms = timeoutMs;
  options.device = nameOf(artifact.device());
  tsr_generator *created = nullptr;
  if (tsr_generator_create(artifact.get(), &options, nullptr, &created) !=
      TSR_OK)
    fail();
  return Generator(created);
}

class Comparison {
public:
  Comparison(const ForwardResult &forward, NumericCheck &check)
      : forward(forward), check(check) {}

  bool open(const std::string &path, const GenerationRun &run);
  bool run();

private:
  bool readSizes();
  bool writeParameters();
  void compare(const PlacedLogits &placed, const char *program);

  const ForwardResult &forward;
  NumericCheck &check;
  ArtifactFile artifact;
  Generator generator;
  RowSizes sizes;
  double tolerance = 0;
  std::vector<double> logits; ///< Of a step: [lanes, slots, vocabulary].
};

bool Comparison::readSizes() {
  auto metadata = llvm::json::parse(artifact.metadata());
  if (!metadata) {
    llvm::consumeError(metadata.takeError());
    return !printError("the artifact's metadata is not JSON");
  }
  const llvm::json::Object *model = metadata->getAsObject()->getObject("model");
  auto size = [&](const char *name) {
    return model ? model->getInteger(name).value_or(0) : 0;
  };
  sizes = {size("lanes"), size("slots"), size("places"), size("prefill_chunk")};
  if (sizes.places == forward.length)
    return true;
  return !printError(
      llvm::formatv("the programs for generation have {0} places, the forward "
                    "program has {1} positions",
                    sizes.places, forward.length));
}

bool Comparison::writeParameters() {
  for (const auto &[name, values] : forward.parameters)
    if (tsr_generator_write(generator.get(), "parameter", name.c_str(),
                            values.data(), values.size()) != TSR_OK)
      return fail();
  return true;
}

bool Comparison::open(const std::string &path, const GenerationRun &run) {
  if (!artifact.load(path) || !readSizes())
    return false;
  tolerance = toleranceOf(run.precision) * growthOf(artifact);
  generator = generatorOf(artifact, run.timeoutMs);
  if (!generator)
    return false;
  logits.resize(sizes.lanes * sizes.slots * forward.vocabulary);
  return writeParameters();
}

void Comparison::compare(const PlacedLogits &placed, const char *program) {
  const double *wanted = forward.logitsAt(placed.sequence, placed.position);
  const double *found =
      &logits[(placed.lane * sizes.slots + placed.slot) * forward.vocabulary];
  double largest = 0, error = 0;
  for (int64_t k = 0; k < forward.vocabulary; ++k) {
    largest = std::max(largest, std::fabs(wanted[k]));
    error = largerOf(error, std::fabs(found[k] - wanted[k]));
  }
  error /= largest;
  ++check.values;
  check.worst = largerOf(check.worst, error);
  if (!(error <= tolerance) && check.difference.empty())
    check.difference = llvm::formatv(
        "the logits after position {0} of sequence {1}, of @{2} in step {3}, "
        "differ from those of the forward program by {4:e1} of the largest, "
        "{5:e1} is allowed",
        placed.position, placed.sequence, program, check.steps, error,
        tolerance);
}

bool Comparison::run() {
  RowSchedule schedule(sizes, forward.sequences, forward.tokens);
  for (; check.difference.empty() && schedule.next(); ++check.steps) {
    if (tsr_generator_run_rows(generator.get(), schedule.rows().data(),
                               schedule.rows().size(), logits.data(),
                               logits.size()) != TSR_OK) {
      check.worst = INFINITY;
      check.difference =
          llvm::formatv("step {0} of @{1} fails: {2}", check.steps,
                        schedule.program(), tsr_last_error());
      break;
    }
    for (const PlacedLogits &placed : schedule.logits())
      compare(placed, schedule.program());
  }
  return true;
}

} // namespace

bool tessera::storeParameters(const std::string &path,
                              NamedValues &parameters) {
  ArtifactFile artifact;
  if (!artifact.load(path))
    return false;
  Generator generator = generatorOf(artifact, 0);
  for (auto &[name, values] : parameters)
    if (!generator ||
        tsr_generator_write(generator.get(), "parameter", name.c_str(),
                            values.data(), values.size()) != TSR_OK ||
        tsr_generator_read(generator.get(), "parameter", name.c_str(),
                           values.data(), values.size()) != TSR_OK)
      return generator && fail();
  return !!generator;
}

bool tessera::compareGeneration(const std::string &path,
                                const ForwardResult &forward,
                                const GenerationRun &run, NumericCheck &check) {
  Comparison comparison(forward, check);
  return comparison.open(path, run) && comparison.run();
}
