#include "runtime/artifact/Metadata.h"

#include "runtime/support/DType.h"
#include "runtime/support/Status.h"

#include <iterator>

namespace tessera {

int64_t Mesh::ranks() const {
  int64_t count = 1;
  for (const Axis &axis : axes)
    count *= axis.size;
  return count;
}

std::vector<int64_t> Mesh::coordinates(int64_t rank) const {
  std::vector<int64_t> result(axes.size());
  for (size_t i = axes.size(); i-- > 0;) {
    result[i] = rank % axes[i].size;
    rank /= axes[i].size;
  }
  return result;
}

int64_t Mesh::rankAt(const std::vector<int64_t> &coordinates) const {
  int64_t rank = 0;
  for (size_t i = 0; i < axes.size(); ++i)
    rank = rank * axes[i].size + coordinates[i];
  return rank;
}

int64_t Mesh::stageOf(const std::vector<int64_t> &coordinates) const {
  return stageAxis < 0 ? 0 : coordinates[stageAxis];
}

int64_t Mesh::stages() const {
  return stageAxis < 0 ? 1 : axes[stageAxis].size;
}

std::vector<int64_t> Mesh::group(int64_t rank, int64_t axisSet) const {
  std::vector<int64_t> own = coordinates(rank), result;
  for (int64_t other = 0; other < ranks(); ++other) {
    std::vector<int64_t> theirs = coordinates(other);
    bool same = true;
    for (size_t i = 0; i < axes.size(); ++i)
      same &= theirs[i] == own[i] || ((axisSet >> i) & 1);
    if (same)
      result.push_back(other);
  }
  return result;
}

std::string Mesh::describe(int64_t axisSet) const {
  std::string names;
  int count = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!((axisSet >> i) & 1))
      continue;
    names += concat(count++ ? ", '" : " '", axes[i].name, "'");
  }
  return count == 0 ? "no axis" : (count == 1 ? "axis" : "axes") + names;
}

namespace {
constexpr const char *roleNames[] = {
    "parameter", "master", "moment1",   "moment2",     "gradient", "input",
    "output",    "value",  "key_cache", "value_cache", "scale"};
}

const char *roleName(Role role) { return roleNames[static_cast<int>(role)]; }

std::optional<Role> roleFromName(const std::string &name) {
  for (size_t i = 0; i < std::size(roleNames); ++i)
    if (name == roleNames[i])
      return static_cast<Role>(i);
  return std::nullopt;
}

namespace {
constexpr const char *rateKinds[] = {"cosine", "linear", "constant", "wsd",
                                     "inverse-sqrt"};
}

std::optional<RateKind> rateKindFromName(const std::string &name) {
  for (size_t i = 0; i < std::size(rateKinds); ++i)
    if (name == rateKinds[i])
      return static_cast<RateKind>(i);
  return std::nullopt;
}

std::string rateKindNames() {
  std::string list;
  for (const char *name : rateKinds)
    list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

bool isState(Role role) {
  return role == Role::Parameter || role == Role::Master ||
         role == Role::Moment1 || role == Role::Moment2;
}

bool isCache(Role role) {
  return role == Role::KeyCache || role == Role::ValueCache;
}

int64_t elementsOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::string describeShape(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

int64_t TensorInfo::elements() const { return elementsOf(shape); }
int64_t TensorInfo::localElements() const { return elementsOf(localShape); }
int64_t TensorInfo::localBytes() const {
  return localElements() * dtypeBytes(dtype);
}
int64_t TensorInfo::offsetAt(int64_t stage) const {
  return stageOffsets.empty() ? offset : stageOffsets[stage];
}
int64_t TensorInfo::firstStage() const {
  int64_t stage = 0;
  while (!isAt(stage))
    ++stage;
  return stage;
}
std::string TensorInfo::describe() const {
  return concat(roleName(role), " '", name, "'");
}

const TensorInfo *Metadata::find(Role role, const std::string &name) const {
  auto it = index.find({role, name});
  return it == index.end() ? nullptr : &tensors[it->second];
}

bool Metadata::hasParameters() const {
  for (const TensorInfo &tensor : tensors)
    if (tensor.role == Role::Parameter)
      return true;
  return false;
}

bool Metadata::hasEvaluation() const {
  return find(Role::Output, "evaluation_loss") &&
         find(Role::Output, "evaluation_correct");
}

bool Metadata::evaluationCounts() const {
  return find(Role::Output, "evaluation_count");
}

bool Metadata::hasScores() const {
  return model.generation && find(Role::Output, "score_log_probabilities");
}

int64_t Metadata::arenaBytesAt(int64_t stage) const {
  return stageArenas.empty() ? arenaBytes : stageArenas[stage];
}

const TaskInfo *Metadata::taskOf(int64_t op) const {
  bool isKnown = op >= 0 && op < static_cast<int64_t>(ops.size());
  return isKnown && ops[op].task >= 0 ? &tasks[ops[op].task] : nullptr;
}

std::optional<int64_t> Metadata::microBatchOf(int64_t op,
                                              int64_t earlier) const {
  if (op < 0 || op >= static_cast<int64_t>(ops.size()))
    return std::nullopt;
  if (const TaskInfo *task = taskOf(op)) {
    if (earlier >= task->microBatches)
      return std::nullopt;
    return task->firstMicroBatch + earlier;
  }
  if (ops[op].times == 1 || earlier >= ops[op].times)
    return std::nullopt;
  return earlier;
}

int64_t Metadata::callsOf(int64_t stage) const {
  int64_t calls = 0;
  for (size_t i = 0; i < stepOps; ++i)
    if (ops[i].stage == stage)
      calls += ops[i].times;
  return calls;
}

std::string Metadata::describeArena() const {
  std::string text;
  for (const auto &[kind, bytes] : arenaKinds)
    text += concat(text.empty() ? "" : ", ", kind, " ", bytes);
  return text.empty() ? "unknown" : text;
}

std::string Metadata::describeOp(int64_t op) const {
  if (op == -1)
    return "the session's state";
  if (op < 0 || op >= static_cast<int64_t>(ops.size()))
    return concat("op ", op);
  const OpInfo &info = ops[op];
  std::string where =
      info.layer >= 0 ? concat(" of layer ", info.layer) : std::string();
  std::string when;
  if (const TaskInfo *task = taskOf(op)) {
    when = concat(", task ", task->name);
    if (task->microBatches == 1)
      when += concat(", micro-batch ", task->firstMicroBatch);
  }
  return concat(info.op, " '", info.name, "'", where, " (op ", op, when, ")");
}

} // namespace tessera
