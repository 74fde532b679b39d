//===- CudaEntries.cpp - the functions behind the GPU's table -------------===//

#include "runtime/calls/Entry.h"
#include "runtime/cuda/ScatterAdd.h"
#include "runtime/cuda/StridedCopy.h"
#include "runtime/cuda/attention/Attention.h"
#include "runtime/cuda/caches/CacheKernels.h"
#include "runtime/cuda/experts/RoutedKernels.h"
#include "runtime/cuda/sampling/SamplingKernels.h"
#include "runtime/cuda/step/CudaRank.h"
#include "runtime/support/DType.h"

#include <algorithm>
#include <cstring>

namespace tessera::cuda {

namespace {
/// Returns the buffer by which a program waits for the call.
const void *awaitedBufferOf(const Call &call) {
  if (call.entry == TSR_ENTRY_ZIGZAG)
    return call.buffers[call.args[TSR_COLLECTIVE_MAKES_WHOLE] ? 0 : 1];
  if (call.entry == TSR_ENTRY_ALL_TO_ALL) // the gates follow it
    return call.buffers[1];
  if (isCoalesced(call.entry)) // the first result, after all sources
    return call.buffers[call.args[TSR_COALESCED_MEMBERS]];
  return call.buffers[arityOf(call).buffers - 1];
}

Direction directionOf(const Call &call) {
  return call.entry == TSR_ENTRY_ATTENTION ? Direction::Forward
                                           : Direction::Backward;
}

/// Throws what `decode` refuses.
template <class Problem, class Decode>
Problem decoded(const Call &call, Decode decode) {
  Problem problem;
  std::string error;
  if (int32_t code = decode(call.args, call.buffers, &problem, &error))
    fail(static_cast<tsr_status>(code), error);
  return problem;
}

ScatterProblem scatterOf(const Call &call) {
  auto problem = decoded<ScatterProblem>(call, decodeScatter);
  if (problem.rows > INT32_MAX)
    fail(TSR_UNSUPPORTED, "scatter_add of ", problem.rows, " rows; at most ",
         INT32_MAX, " on device 'cuda'");
  return problem;
}

/// Throws what the device cannot run, too: what `check` says, if anything.
template <class Problem>
Problem runnable(const Call &call,
                 int32_t (*decode)(const int64_t *, void *const *, Problem *,
                                   std::string *),
                 std::string (*check)(const Problem &)) {
  const auto problem = decoded<Problem>(call, decode);
  if (const std::string why = check(problem); !why.empty())
    fail(TSR_UNSUPPORTED, why);
  return problem;
}

RoutedProblem routedOf(const Call &call) {
  return runnable(call, decodeRouted, checkRouted);
}

AppendProblem appendOf(const Call &call) {
  return runnable(call, decodeAppend, checkAppend);
}

CacheProblem cachedAttentionOf(const Call &call) {
  return runnable(call, decodeCachedAttention, checkCachedAttention);
}

MeansProblem meansOf(const Call &call) {
  return runnable(call, decodeMergeMeans, checkMergeMeans);
}

PenalizeProblem penalizeOf(const Call &call) {
  return runnable(call, decodePenalize, checkPenalize);
}

TopProblem topOf(const Call &call) {
  return runnable(call, decodeTop, checkTop);
}

MergeTopProblem mergeTopOf(const Call &call) {
  return runnable(call, decodeMergeTop, checkMergeTop);
}

GemmProblem productOf(const Call &call) {
  return runnable(call, decodeGemm, checkInt8);
}

bool numbersRounds(const Call &call) {
  return call.entry == TSR_ENTRY_ROUTED &&
         call.args[TSR_ROUTED_KIND] == TSR_ROUTED_ROUNDS;
}

/// Returns the gated rows of an all_to_all; the gates are null if it has none.
GatedRows gatedOf(const Call &call) {
  if (!call.buffers[2])
    return {};
  Routing routing = routingOf(call.buffers[2], call.args);
  if (routing.isDouble)
    fail(TSR_UNSUPPORTED, "all_to_all by gates of f64 is not supported on "
                          "device 'cuda'; use f32 or bf16");
  GatedRows rows{routing.gates, routing.experts, routing.tokens,
                 routing.rowElements * dtypeBytes(static_cast<int>(
                                           call.args[TSR_COLLECTIVE_DTYPE])),
                 call.buffers[1]};
  if (std::string why = checkGatedRows(rows); !why.empty())
    fail(TSR_UNSUPPORTED, why);
  return rows;
}

/// Returns why an entry is left to the CPU; null: it is not.
constexpr const char *refusalOf(int entry) {
  if (entry == TSR_ENTRY_CHUNKED_GEMM || entry == TSR_ENTRY_CHUNKED_SCATTER_ADD)
    return "sums in a fixed order are not supported on device 'cuda' in this "
           "version; use --device cpu";
  if (entry == TSR_ENTRY_EXCHANGE_ROWS)
    return "exchanges of compact rows are not supported on device 'cuda' in "
           "this version; compile the model for device 'cuda'";
  return nullptr;
}

template <int entry>
int32_t entryOf(void *context, int64_t op, void *const *buffers,
                const int64_t *args) {
  CudaRank &rank = *static_cast<CudaRank *>(context);
  return enterOp(rank.owner(), op, [&]() -> Status {
    if (const char *why = refusalOf(entry))
      return {TSR_UNSUPPORTED, why};
    return rank.enter({entry, op, buffers, args});
  });
}
} // namespace

const tsr_abi_api &cudaApi() {
  static const tsr_abi_api api = {
      sizeof(tsr_abi_api),
#define TSR_ABI_ENTRY(name, NAME, KIND, BUFFERS, ARGUMENTS)                    \
  entryOf<TSR_ENTRY_##NAME>,
#include "tessera/abi_entries.def"
  };
  return api;
}

Status CudaRank::enter(const Call &call) {
  if (pass == Pass::Record) {
    recording.record(call);
    return {};
  }
  if (pass == Pass::Prepare) {
    prepareFor(call);
    return {};
  }
  Status status = queue(call);
  // With poison an error belongs to the op that is waited for here.
  for (cudaStream_t each : {stream.get(), communication.get()})
    if (status.ok() && rank.poison)
      status = statusOf(cudaStreamSynchronize(each), "running the op");
  return status;
}

void CudaRank::findKernels(const tsr_abi_device_kernel &kernel) {
  if (!image)
    fail(TSR_CORRUPT, "the program launches '", kernel.name,
         "' but has no " TSR_PROGRAM_IMAGE "; compile the model again");
  for (const tsr_abi_device_kernel *at = &kernel; at; at = at->next)
    image->find(*at);
  if (kernel.batched)
    image->findBatched(kernel);
}

/// Finds what a call lacks or what is not supported, before any work.
void CudaRank::prepareFor(const Call &call) {
  if (call.entry == TSR_ENTRY_LAUNCH)
    findKernels(kernelOf(call.buffers));
  if (isCoalesced(call.entry))
    collectives->announce(coalescedOf(call.op, call.buffers, call.args));
  else if (isCollective(call.entry))
    collectives->announce(call.entry, collectiveOf(call.op, call.args));
  if (isMessage(call.entry))
    collectives->announce(messageOf(rank, call.op, call.args));
  size_t bytes = 0;
  if (isAttention(call.entry))
    bytes = attentionWorkspaceOf(call);
  if (call.entry == TSR_ENTRY_GEMM && call.args[TSR_GEMM_INT8_B])
    bytes = productWorkspaceBytes + int8WidenedBytes(productOf(call));
  else if (call.entry == TSR_ENTRY_GEMM)
    products.prepare(productOf(call));
  if (call.entry == TSR_ENTRY_SCATTER_ADD)
    bytes = scatterWorkspace(scatterOf(call));
  if (call.entry == TSR_ENTRY_ROUTED)
    bytes = routedWorkspace(routedOf(call));
  bytes = std::max(bytes, cacheWorkspaceOf(call));
  if (numbersRounds(call))
    rounds.announce(call.op);
  if (call.entry == TSR_ENTRY_ALL_TO_ALL)
    gatedOf(call);
  workspaceNeeded = std::max(workspaceNeeded, static_cast<int64_t>(bytes));
}

size_t CudaRank::cacheWorkspaceOf(const Call &call) {
  switch (call.entry) {
  case TSR_ENTRY_APPEND:
    appendOf(call);
    return 0;
  case TSR_ENTRY_CACHED_ATTENTION:
    return cachedAttentionWorkspace(cachedAttentionOf(call));
  case TSR_ENTRY_MERGE_MEANS:
    meansOf(call);
    return 0;
  case TSR_ENTRY_PENALIZE:
    penalizeOf(call);
    return 0;
  case TSR_ENTRY_TOP:
    topOf(call);
    return 0;
  case TSR_ENTRY_MERGE_TOP:
    mergeTopOf(call);
    return 0;
  default:
    return 0;
  }
}

size_t CudaRank::attentionWorkspaceOf(const Call &call) {
  AttentionCall problem = decodeAttentionCall(call.args);
  Direction direction = directionOf(call);
  return cudnn.takes(problem, direction, call.buffers)
             ? cudnn.workspaceOf(problem, direction)
             : workspaceOf(problem, direction);
}

const int64_t *CudaRank::takeScalars(int64_t count) {
  if (!recording.scalars().has(count))
    fail(TSR_INTERNAL,
         "the submission pass made other calls than the recording pass");
  return recording.scalars().take(count);
}

void CudaRank::queueLaunch(const Call &call) {
  auto &kernel = kernelOf(call.buffers);
  // With poison an error belongs to one op, which runs by itself.
  if (batch.has(call) && !rank.poison)
    return batch.add(call, *image, stream.get());
  image->launch(kernel, call.buffers + 1, takeScalars(kernel.scalars),
                workspace.data(), stream.get());
}

void CudaRank::queueProduct(const Call &call) {
  const GemmProblem problem = productOf(call);
  if (!problem.int8B)
    return products.run(problem, workspace.data(), stream.get());
  void *widened = workspace.data() + productWorkspaceBytes;
  for (int64_t first = 0; first < problem.n; first += int8Columns(problem)) {
    const Int8Chunk chunk = int8ChunkOf(problem, first, widened);
    check(widenIntegers(chunk.integers, problem.dtypeAB, widened, stream.get()),
          "widening integers");
    products.run(chunk.product, workspace.data(), stream.get());
  }
}

void CudaRank::queueAttention(const Call &call) {
  AttentionCall problem = decodeAttentionCall(call.args);
  if (problem.dropout > 0)
    problem.key = reinterpret_cast<const uint64_t *>(takeScalars(1));
  Direction direction = directionOf(call);
  if (cudnn.takes(problem, direction, call.buffers))
    return cudnn.run(problem, direction, call.buffers, workspace.data(),
                     stream.get());
  runAttention(problem, direction, call.buffers, workspace.data(),
               stream.get());
}

/// One that is not asynchronous is waited for at once.
Status CudaRank::queueCollective(const Call &call) {
  communication.fork();
  if (times)
    times->begin(call.op, communication.get());
  Status status =
      isMessage(call.entry) ? runMessage(call) : runCollective(call);
  if (!status.ok())
    return status;
  if (times)
    times->end(communication.get());
  const void *target = awaitedBufferOf(call);
  communication.finish(target);
  bool isAsync = isMessage(call.entry) ? call.args[TSR_MESSAGE_ASYNC]
                                       : call.args[TSR_COLLECTIVE_ASYNC];
  if (!isAsync)
    communication.join(target);
  return {};
}

Status CudaRank::runMessage(const Call &call) {
  Message message = messageOf(rank, call.op, call.args);
  return call.entry == TSR_ENTRY_SEND
             ? collectives->send(message, call.buffers[0])
             : collectives->receive(message, call.buffers[0]);
}

Status CudaRank::runCollective(const Call &call) {
  Collective what = collectiveOf(call.op, call.args);
  switch (call.entry) {
  case TSR_ENTRY_ALL_REDUCE:
    return collectives->allReduce(what, call.buffers[0]);
  case TSR_ENTRY_ALL_GATHER:
    return collectives->allGather(what, call.buffers[0], call.buffers[1]);
  case TSR_ENTRY_REDUCE_SCATTER:
    return collectives->reduceScatter(what, call.buffers[0], call.buffers[1]);
  case TSR_ENTRY_ALL_GATHER_COALESCED:
    return collectives->allGatherCoalesced(
        coalescedOf(call.op, call.buffers, call.args));
  case TSR_ENTRY_REDUCE_SCATTER_COALESCED:
    return collectives->reduceScatterCoalesced(
        coalescedOf(call.op, call.buffers, call.args));
  case TSR_ENTRY_ALL_TO_ALL:
    return runAllToAll(call, what);
  case TSR_ENTRY_SHIFT:
    return collectives->shift(shiftOf(rank, what, call.args), call.buffers[0],
                              call.buffers[1]);
  case TSR_ENTRY_ZIGZAG:
    return collectives->zigzag(
        zigzagOf(rank, what, call.args),
        {call.buffers[0], call.buffers[1], call.buffers[2]});
  default:
    return collectives->broadcast(what, call.args[TSR_COLLECTIVE_ROOT],
                                  call.buffers[0]);
  }
}

/// Sizes must be known when a step is captured: all rows are sent, and those
/// whose gate is zero are set to zero where they arrive.
Status CudaRank::runAllToAll(const Call &call, const Collective &what) {
  Status status = collectives->allToAll(what, call.buffers[0], call.buffers[1]);
  if (!status.ok() || !call.buffers[2])
    return status;
  return statusOf(zeroUnrouted(gatedOf(call), communication.get()),
                  "zeroing rows that are not routed");
}

Status CudaRank::queue(const Call &call) {
  if (call.entry != TSR_ENTRY_LAUNCH)
    batch.expectEmpty();
  if (call.entry == TSR_ENTRY_WAIT) {
    communication.join(call.buffers[0]);
    return {};
  }
  if (isCollective(call.entry) || isMessage(call.entry))
    return queueCollective(call);
  if (!times)
    return queueOnProgram(call);
  times->begin(call.op, stream.get());
  Status status = queueOnProgram(call);
  times->end(stream.get());
  return status;
}

Status CudaRank::queueOnProgram(const Call &call) {
  cudaStream_t on = stream.get();
  switch (call.entry) {
  case TSR_ENTRY_LAUNCH:
    queueLaunch(call);
    return {};
  case TSR_ENTRY_GEMM:
    queueProduct(call);
    return {};
  case TSR_ENTRY_ATTENTION:
  case TSR_ENTRY_ATTENTION_BACKWARD:
    queueAttention(call);
    return {};
  case TSR_ENTRY_SCATTER_ADD:
    return statusOf(scatterAdd(scatterOf(call), workspace.data(), on),
                    "scatter_add");
  case TSR_ENTRY_APPEND:
    return statusOf(append(appendOf(call), on), "append");
  case TSR_ENTRY_CACHED_ATTENTION:
    return statusOf(
        cachedAttention(cachedAttentionOf(call), workspace.data(), on),
        "cached_attention");
  case TSR_ENTRY_MERGE_MEANS:
    return statusOf(mergeMeans(meansOf(call), on), "merge_means");
  case TSR_ENTRY_PENALIZE:
    return statusOf(penalize(penalizeOf(call), on), "penalize");
  case TSR_ENTRY_TOP:
    return statusOf(top(topOf(call), on), "top");
  case TSR_ENTRY_MERGE_TOP:
    return statusOf(mergeTop(mergeTopOf(call), on), "merge_top");
  case TSR_ENTRY_ROUTED:
    return statusOf(routed(routedOf(call), workspace.data(), on,
                           numbersRounds(call) ? rounds.at(call.op) : nullptr),
                    "routed");
  case TSR_ENTRY_FILL:
    if (call.args[TSR_FILL_BYTES] <= 0)
      return {};
    return statusOf(
        cudaMemsetAsync(call.buffers[0], 0, call.args[TSR_FILL_BYTES], on),
        "fill");
  case TSR_ENTRY_COPY:
    copyRows({call.args[TSR_COPY_ROWS], call.args[TSR_COPY_ROW_BYTES],
              call.buffers[0], call.args[TSR_COPY_SRC_STRIDE], call.buffers[1],
              call.args[TSR_COPY_DST_STRIDE]},
             on);
    return {};
  default:
    return {TSR_INTERNAL, concat("entry '", entryTable[call.entry].name,
                                 "' does not run on the program's stream")};
  }
}

} // namespace tessera::cuda
