#include "runtime/cuda/cudnn/CudnnAttention.h"

#include "runtime/cuda/Check.h"
#include "runtime/cuda/cudnn/AttentionGraph.h"
#include "runtime/cuda/cudnn/ExecutionPlan.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <set>

namespace tessera::cuda {

namespace {
constexpr int64_t bf16Bytes = 2;
/// cuDNN's workspace begins at such a multiple.
constexpr int64_t workspaceAlignment = 256;

using Key = std::array<int64_t, 17>;

Key keyOf(const AttentionCall &c, Direction direction) {
  int64_t scale = 0;
  static_assert(sizeof scale == sizeof c.scale);
  std::memcpy(&scale, &c.scale, sizeof scale);
  return {c.batch,
          c.heads,
          c.kvHeads,
          c.seqQ,
          c.seqK,
          c.headDim,
          c.rowQ,
          c.rowK,
          c.rowV,
          c.rowO,
          c.rowDQ,
          c.rowDK,
          c.rowDV,
          c.rowDO,
          c.causal,
          scale,
          direction == Direction::Forward};
}

/// A buffer of an entry, in the order of the entry.
struct Operand {
  AttentionTensor tensor;
  int64_t batchBytes; ///< from one sequence to the next
};

std::vector<Operand> operandsOf(const AttentionCall &c, Direction direction) {
  auto queries = [&](int64_t row) { return c.seqQ * row * bf16Bytes; };
  auto keys = [&](int64_t row) { return c.seqK * row * bf16Bytes; };
  int64_t lse = c.heads * c.seqQ * static_cast<int64_t>(sizeof(float));
  Operand q{GraphQ, queries(c.rowQ)}, k{GraphK, keys(c.rowK)},
      v{GraphV, keys(c.rowV)}, o{GraphO, queries(c.rowO)}, l{GraphLse, lse};
  if (direction == Direction::Forward)
    return {q, k, v, o, l};
  return {{GraphDO, queries(c.rowDO)},
          q,
          k,
          v,
          o,
          l,
          {GraphDQ, queries(c.rowDQ)},
          {GraphDK, keys(c.rowDK)},
          {GraphDV, keys(c.rowDV)}};
}

/// Returns whether all parts of all buffers lie at multiples of 16 bytes.
bool isAligned(const AttentionCall &c, Direction direction,
               void *const *buffers) {
  std::vector<Operand> operands = operandsOf(c, direction);
  for (size_t i = 0; i < operands.size(); ++i)
    if (reinterpret_cast<uintptr_t>(buffers[i]) % 16 != 0)
      return false;
  for (int64_t row : {c.rowQ, c.rowK, c.rowV, c.rowO})
    if (row % 8 != 0)
      return false;
  for (int64_t row : {c.rowDQ, c.rowDK, c.rowDV, c.rowDO})
    if (direction == Direction::Backward && row % 8 != 0)
      return false;
  return true;
}

/// Returns the bytes that backward stores of a sequence, at least.
int64_t storedScores(const AttentionCall &c) {
  auto whole = [](int64_t positions) { return (positions + 63) / 64 * 64; };
  return c.heads * whole(c.seqQ) * whole(c.seqK) * bf16Bytes;
}

/// Returns the sequences that are computed at once; 0: not even one.
int64_t partOf(const AttentionCall &c, Direction direction, int64_t limit) {
  if (direction == Direction::Forward)
    return c.batch;
  int64_t part = c.batch;
  while (part > 0 && (c.batch % part != 0 || part * storedScores(c) > limit))
    --part;
  return part;
}

/// rowsum(dO * O), at the start of the workspace.
int64_t deltaBytes(const AttentionCall &c, int64_t part, Direction direction) {
  if (direction == Direction::Forward)
    return 0;
  int64_t bytes = part * c.heads * c.seqQ * static_cast<int64_t>(sizeof(float));
  return (bytes + workspaceAlignment - 1) / workspaceAlignment *
         workspaceAlignment;
}

/// Returns whether the GPU has the deterministic backward that stores the
/// scores' gradient: NVIDIA has it for compute capability 9 (cudnn-frontend,
/// deterministic algorithm of SDPA).
bool hasDeterministicBackward() {
  int device = 0, major = 0;
  check(cudaGetDevice(&device), "asking for the GPU");
  check(
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
      "asking for the compute capability");
  return major == 9;
}

/// TESSERA_CUDNN=off leaves all attention to our own kernels.
bool isWanted() {
  const char *text = std::getenv("TESSERA_CUDNN");
  std::string choice = text ? text : "on";
  if (choice != "on" && choice != "off")
    fail(TSR_INVALID_ARGUMENT, "TESSERA_CUDNN is '", choice,
         "'; use on or off");
  return choice == "on";
}
} // namespace

struct CudnnAttention::State {
  /// One has a plan or says why there is none.
  struct Plan {
    std::optional<ExecutionPlan> plan;
    int64_t part = 0;
    std::string why;
  };

  int64_t mostStoredScores;
  std::string absence = CudnnAttention::absence();
  const CudnnLibrary *cudnn = absence.empty() ? CudnnLibrary::find() : nullptr;
  cudnnHandle_t handle = nullptr;
  std::map<Key, Plan> plans;
  bool isUsed = false;
  std::optional<bool> isDeterministic; ///< backward; asked when it is needed
  std::set<std::string> refusals;

  ~State() {
    plans.clear();
    if (handle)
      cudnn->destroy(handle);
  }

  bool refuse(const std::string &why) {
    refusals.insert(why);
    return false;
  }

  bool hasBackward() {
    if (!isDeterministic)
      isDeterministic = hasDeterministicBackward();
    return *isDeterministic;
  }

  void open() {
    if (!handle)
      cudnn->check(cudnn->create(&handle), "starting the library");
  }

  std::optional<ExecutionPlan> find(const AttentionCall &part,
                                    Direction direction) {
    open();
    GraphBuilder graph(*cudnn);
    if (direction == Direction::Forward)
      buildForward(graph, part);
    else
      buildBackward(graph, part);
    return ExecutionPlan::find(std::move(graph), {handle});
  }

  Plan make(const AttentionCall &call, Direction direction) {
    AttentionCall part = call;
    part.batch = partOf(call, direction, mostStoredScores);
    if (part.batch == 0)
      return {std::nullopt, 0,
              concat("the scores of a sequence need more than ",
                     mostStoredScores, " bytes")};
    try {
      std::optional<ExecutionPlan> plan = find(part, direction);
      std::string why =
          plan ? "" : "cuDNN has no engine: " + cudnn->lastError();
      return {std::move(plan), part.batch, why};
    } catch (const Error &error) {
      return {std::nullopt, 0, error.status.message};
    }
  }

  Plan &planOf(const AttentionCall &call, Direction direction) {
    Key key = keyOf(call, direction);
    auto found = plans.find(key);
    if (found == plans.end())
      found = plans.emplace(key, make(call, direction)).first;
    return found->second;
  }
};

std::string CudnnAttention::version() { return CudnnLibrary::version(); }

std::string CudnnAttention::absence() {
  if (!isWanted())
    return "TESSERA_CUDNN is off";
  if (CudnnLibrary::find())
    return "";
  return CudnnLibrary::version().empty()
             ? "there is no libcudnn.so.9"
             : "cuDNN " + CudnnLibrary::version() + " is older than 9.8";
}

CudnnAttention::CudnnAttention(int64_t mostStoredScores)
    : state(std::make_unique<State>()) {
  state->mostStoredScores = mostStoredScores;
}

CudnnAttention::~CudnnAttention() = default;

bool CudnnAttention::takes(const AttentionCall &call, Direction direction,
                           void *const *buffers) {
  if (!state->cudnn)
    return state->refuse(state->absence);
  if (const char *why = checkGraphAttention(call))
    return state->refuse(why);
  if (!isAligned(call, direction, buffers))
    return state->refuse("rows do not begin at multiples of 16 bytes");
  if (direction == Direction::Backward && !state->hasBackward())
    return state->refuse("backward would not always give the same bits, which "
                         "it does on compute capability 9");
  const State::Plan &plan = state->planOf(call, direction);
  if (!plan.plan)
    return state->refuse(plan.why);
  return state->isUsed = true;
}

size_t CudnnAttention::workspaceOf(const AttentionCall &call,
                                   Direction direction) const {
  State::Plan &plan = state->planOf(call, direction);
  return deltaBytes(call, plan.part, direction) + plan.plan->workspaceBytes();
}

void CudnnAttention::run(const AttentionCall &call, Direction direction,
                         void *const *buffers, void *workspace,
                         cudaStream_t stream) {
  State::Plan &plan = state->planOf(call, direction);
  const CudnnLibrary &cudnn = *state->cudnn;
  cudnn.check(cudnn.setStream(state->handle, stream), "choosing a stream");
  std::vector<Operand> operands = operandsOf(call, direction);
  auto *own = static_cast<char *>(workspace);
  void *theirs = own + deltaBytes(call, plan.part, direction);
  for (int64_t first = 0; first < call.batch; first += plan.part) {
    std::vector<GraphBuffer> bound;
    for (size_t i = 0; i < operands.size(); ++i)
      bound.push_back(
          {operands[i].tensor, static_cast<const char *>(buffers[i]) +
                                   first * operands[i].batchBytes});
    if (direction == Direction::Backward)
      bound.push_back({GraphDelta, own});
    plan.plan->execute(state->handle, bound, theirs);
  }
}

std::string CudnnAttention::describe() const {
  std::string text =
      state->isUsed ? "attention by cuDNN " + CudnnLibrary::version() : "";
  for (const std::string &why : state->refusals)
    text += concat(text.empty() ? "" : "; ",
                   "attention by Tessera's kernels where ", why);
  return text;
}

} // namespace tessera::cuda
