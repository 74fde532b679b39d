//===- ProgramRun.cpp - a program of verify, all ranks in this process ----===//

#include "lib/Verify/ProgramRun.h"
#include "tessera/Artifact/RuntimeError.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <random>

using namespace tessera;
namespace json = llvm::json;

llvm::Expected<program::Program>
tessera::readMetadata(const ArtifactFile &artifact) {
  llvm::Expected<program::Program> read = artifact.readProgram();
  if (read)
    return read;
  return llvm::createStringError("the artifact's metadata is malformed: " +
                                 llvm::toString(read.takeError()));
}

llvm::Error ProgramRun::open(const std::string &path, uint64_t seed) {
  if (llvm::Error error = artifact.load(path))
    return error;
  tsr_session *opened = nullptr;
  tsr_session_options options = {};
  options.size = sizeof(options);
  options.seed = seed;
  options.poison = 1;
  options.device = nameOf(artifact.device());
  if (tsr_session_create(artifact.get(), &options, &opened))
    return runtimeError();
  session.reset(opened);
  tsr_schedule schedule = {};
  schedule.size = sizeof(schedule);
  schedule.lr = schedule.min_lr = kVerifyLearningRate;
  if (tsr_session_init(opened) || tsr_session_set_schedule(opened, &schedule))
    return runtimeError();
  return listTensors();
}

static KeptTensor keptTensor(const program::Tensor &tensor) {
  KeptTensor kept;
  kept.role = tensor.role;
  kept.name = tensor.name;
  kept.elements = tensor.elements();
  kept.localElements = tensor.elementsOfRank();
  kept.replicated = tensor.sharding.empty() && tensor.partial.empty();
  for (int64_t offset : tensor.offsets)
    kept.stages.push_back(offset >= 0);
  if (tensor.kink) {
    kept.gradient = tensor.kink->gradient;
    kept.input = tensor.kink->input;
  }
  kept.logits = tensor.choice;
  if (!tensor.shape.empty())
    kept.columns = tensor.shape.back();
  return kept;
}

llvm::Error ProgramRun::listTensors() {
  llvm::Expected<program::Program> read = readMetadata(artifact);
  if (!read)
    return read.takeError();
  for (const program::Tensor &tensor : read->tensors)
    if (llvm::is_contained(
            {"value", "gradient", "parameter", "moment1", "moment2"},
            llvm::StringRef(tensor.role)))
      tensors.push_back(keptTensor(tensor));
  const program::Model &model = read->model;
  microBatches = model.microBatches;
  ignoresLabels = model.ignoresLabels == 1;
  separator = model.separator;
  padding = model.padding;
  ignored = model.padToken;
  start = model.startToken;
  tokenTypes = static_cast<int32_t>(model.tokenTypes);
  hasEvaluation = read->evaluation.has_value();
  listStages(*read);
  // In program order: the first value that differs is where it begins.
  auto order = [](const KeptTensor &t) {
    return t.role == "value"      ? std::make_pair(0, t.number())
           : t.role == "gradient" ? std::make_pair(1, int64_t(0))
                                  : std::make_pair(2, int64_t(0));
  };
  std::stable_sort(tensors.begin(), tensors.end(),
                   [&](const KeptTensor &a, const KeptTensor &b) {
                     return order(a) < order(b);
                   });
  for (size_t k = 0; k < tensors.size(); ++k)
    known[{tensors[k].role, tensors[k].name}] = k;
  return llvm::Error::success();
}

/// The last axis of the mesh varies fastest over ranks.
void ProgramRun::listStages(const program::Program &program) {
  if (!program.pipeline)
    return;
  messages = program.pipeline->messages;
  int64_t inner = 1;
  for (const program::Axis &axis : llvm::reverse(program.mesh)) {
    if (axis.name == program.pipeline->axis)
      break;
    inner *= axis.size;
  }
  for (int64_t rank = 0; rank < tsr_artifact_ranks(artifact.get()); ++rank)
    stageOfRank.push_back(rank / inner % program.stages());
}

namespace {
/// Labels as fine-tuning has them: sequences begin with prompts of different
/// lengths, whose labels do not count.
struct Answers {
  Answers(const tsr_artifact *artifact, const std::vector<int32_t> &tokens) {
    int64_t sequence = tsr_artifact_sequence(artifact);
    for (int64_t row = 0; row < tsr_artifact_batch(artifact); ++row)
      for (int64_t column = 0; column < sequence; ++column) {
        const int32_t *token = &tokens[row * (sequence + 1) + column];
        ids.push_back(token[0]);
        labels.push_back(column < row % sequence ? -100 : token[1]);
      }
    whole = {sizeof(tsr_batch), ids.data(), labels.data(),
             nullptr,           nullptr,    nullptr};
  }
  const tsr_batch *batch() const { return &whole; }

private:
  std::vector<int32_t> ids, labels;
  tsr_batch whole;
};
} // namespace

/// Ends of documents where there are none, none where there are some, so that
/// no document is empty.
static void addDocuments(std::vector<int32_t> &tokens, int64_t columns,
                         int64_t vocabulary, int32_t separator) {
  constexpr int32_t meanLength = 4;
  bool ends = false;
  for (size_t i = 0; i < tokens.size(); ++i) {
    bool wanted = tokens[i] % meanLength == 1;
    ends = wanted && !(ends && i % static_cast<size_t>(columns) != 0);
    if (ends)
      tokens[i] = separator;
    else if (tokens[i] == separator)
      tokens[i] = static_cast<int32_t>((separator + 1) % vocabulary);
  }
}

/// At the end of up to half of a source, and of a target; a third has none.
static void addPadding(int32_t *row, int64_t number, int64_t length,
                       int32_t padding) {
  int64_t padded = number % 3 * length / 4;
  std::fill(row + length - padded, row + length, padding);
}

void ProgramRun::addMasked(std::vector<int32_t> &tokens) const {
  int64_t columns = tsr_artifact_columns(artifact.get());
  int64_t source = tsr_artifact_sequence(artifact.get());
  if (separator)
    addDocuments(tokens, columns, tsr_artifact_vocabulary(artifact.get()),
                 static_cast<int32_t>(*separator));
  if (!padding)
    return;
  auto token = static_cast<int32_t>(*padding);
  int64_t other = (*padding + 1) % tsr_artifact_vocabulary(artifact.get());
  std::replace(tokens.begin(), tokens.end(), token,
               static_cast<int32_t>(other));
  for (int64_t r = 0; r < tsr_artifact_batch(artifact.get()); ++r) {
    int32_t *row = tokens.data() + r * columns;
    addPadding(row, r, source, token);
    addPadding(row + source, r + 1, columns - source, token);
  }
}

std::vector<int32_t> ProgramRun::randomTokens(int64_t number) const {
  std::mt19937 generator(static_cast<uint32_t>(number));
  int64_t vocabulary = tsr_artifact_vocabulary(artifact.get());
  std::vector<int32_t> tokens(tsr_artifact_batch(artifact.get()) *
                              tsr_artifact_columns(artifact.get()));
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(generator() % vocabulary);
  if (ignored && tokens.back() == *ignored) // one label must count
    tokens.back() = static_cast<int32_t>((*ignored + 1) % vocabulary);
  return tokens;
}

llvm::Error ProgramRun::step(const std::vector<int32_t> &tokens) {
  tsr_step_result result;
  tsr_status status =
      ignoresLabels
          ? tsr_session_step_batch(
                session.get(), Answers(artifact.get(), tokens).batch(), &result)
          : tsr_session_step(session.get(), tokens.data(), tokens.size(),
                             &result);
  if (status != TSR_OK)
    return runtimeError();
  return llvm::Error::success();
}

llvm::Error ProgramRun::stepOn(const std::vector<int32_t> &ids,
                               const std::vector<int32_t> &types) {
  tsr_batch batch = {sizeof(tsr_batch), ids.data(),
                     ids.data(),        tokenTypes ? types.data() : nullptr,
                     nullptr,           nullptr};
  tsr_step_result result;
  if (tsr_session_step_batch(session.get(), &batch, &result) != TSR_OK)
    return runtimeError();
  return llvm::Error::success();
}

llvm::Expected<tsr_evaluation>
ProgramRun::evaluate(const std::vector<int32_t> &tokens) {
  tsr_evaluation result;
  tsr_status status =
      ignoresLabels
          ? tsr_session_evaluate_batch(
                session.get(), Answers(artifact.get(), tokens).batch(), &result)
          : tsr_session_evaluate(session.get(), tokens.data(), tokens.size(),
                                 /*number=*/0, &result);
  if (status != TSR_OK)
    return runtimeError();
  return result;
}

llvm::Expected<std::vector<double>> ProgramRun::read(const KeptTensor &tensor) {
  std::vector<double> values(tensor.elements);
  if (tsr_session_read(session.get(), tensor.role.c_str(), tensor.name.c_str(),
                       values.data(), values.size()))
    return runtimeError();
  return values;
}

llvm::Error ProgramRun::write(const KeptTensor &tensor,
                              const std::vector<double> &values) {
  if (tsr_session_write(session.get(), tensor.role.c_str(), tensor.name.c_str(),
                        values.data(), values.size()))
    return runtimeError();
  return llvm::Error::success();
}

const KeptTensor *ProgramRun::find(const std::string &role,
                                   const std::string &name) const {
  auto it = known.find({role, name});
  return it == known.end() ? nullptr : &tensors[it->second];
}

llvm::Expected<bool> ProgramRun::copiesAgree(const KeptTensor &tensor) {
  std::vector<double> first(tensor.localElements), other(first);
  bool agree = true;
  if (!tensor.replicated)
    return true;
  bool isFirst = true;
  for (int64_t rank = 0; rank < tsr_artifact_ranks(artifact.get()); ++rank) {
    if (!tensor.stages.empty() && !tensor.stages[stageOfRank[rank]])
      continue;
    std::vector<double> &into = isFirst ? first : other;
    if (tsr_session_read_local(session.get(), rank, tensor.role.c_str(),
                               tensor.name.c_str(), into.data(), into.size()))
      return runtimeError();
    agree &= isFirst || first == other;
    isFirst = false;
  }
  return agree;
}
