#include "runtime/cuda/step/CudaRank.h"

#include "runtime/calls/Calls.h"
#include "runtime/calls/Entry.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace tessera::cuda {

namespace {
/// Returns the tsr_abi_run of recording passes.
int32_t recordCalls(const tsr_abi_frame *frame, const tsr_abi_calls *calls,
                    const int64_t *scalars) {
  CudaRank &rank = *static_cast<CudaRank *>(frame->context);
  return enterOp(rank.owner(), calls->first_op, [&]() -> Status {
    rank.recordList(*frame, *calls, scalars);
    return {};
  });
}
} // namespace

CudaRank::CudaRank(Rank &rank, int device, std::shared_ptr<Image> image)
    : rank(rank), device(device), image(std::move(image)),
      communication(stream.get()), uploads(rank), results(rank) {
  arena.allocate(rank.metadata->arenaBytesAt(rank.stage), "arena");
  zero(0, arena.size());
  workspaceNeeded = productWorkspaceBytes;
  if (const tsr_abi_device_image *code = rank.code->image())
    workspaceNeeded = std::max(workspaceNeeded, code->workspace_bytes);
  collectives = rank.communicatorName == "nccl"
                    ? makeNcclCollectives(rank, device, communication.get())
                    : makeThreadCollectives(rank, device, communication.get());
  // The symbols that the program asks for are found now: better than in the
  // first step.
  const Code &programs = *rank.code;
  for (tsr_abi_program program :
       {programs.evaluation(), programs.step(), programs.decode(),
        programs.mixed(), programs.score(), programs.encode()})
    if (program)
      if (Status status = record({program, 0, 0}); !status.ok())
        throw Error(status);
  check(cudaStreamSynchronize(stream.get()), "starting a rank");
}

CudaRank::~CudaRank() {
  cudaSetDevice(device);
  cudaStreamSynchronize(stream.get());
  cudaStreamSynchronize(communication.get());
  dropGraphs();
}

void CudaRank::dropGraphs() {
  for (auto &[program, known] : programs)
    known.graph.drop();
}

/// Returns why a program's steps are not captured; empty if none is in the way.
std::string CudaRank::trouble() const {
  for (const auto &[program, known] : programs)
    if (!known.graph.trouble().empty())
      return known.graph.trouble();
  return "";
}

void CudaRank::use() const { check(cudaSetDevice(device), "choosing the GPU"); }

void CudaRank::read(int64_t offset, int64_t bytes, void *host) const {
  if (results.read(offset, bytes, host))
    return;
  use();
  check(cudaMemcpyAsync(host, arena.data() + offset, bytes,
                        cudaMemcpyDeviceToHost, stream.get()),
        "reading the arena");
  check(cudaStreamSynchronize(stream.get()), "reading the arena");
}

unsigned char *CudaRank::stage(int64_t bytes) { return uploads.take(bytes); }

unsigned char *CudaRank::stagePiece(int64_t bytes) {
  use();
  return pieces.take(bytes);
}

// Staged memory stays as it is until the next step has ended, a piece until the
// GPU has read it; other is pageable, and has been read when the call returns.
void CudaRank::write(int64_t offset, int64_t bytes, const void *host) {
  use();
  results.forget();
  check(cudaMemcpyAsync(arena.data() + offset, host, bytes,
                        cudaMemcpyHostToDevice, stream.get()),
        "writing the arena");
  pieces.sent(host, stream.get());
}

void CudaRank::copy(int64_t from, int64_t to, int64_t bytes) {
  if (bytes == 0)
    return;
  use();
  results.forget();
  check(cudaMemcpyAsync(arena.data() + to, arena.data() + from, bytes,
                        cudaMemcpyDeviceToDevice, stream.get()),
        "copying within the arena");
}

void CudaRank::zero(int64_t offset, int64_t bytes) {
  if (bytes == 0)
    return;
  use();
  results.forget();
  check(cudaMemsetAsync(arena.data() + offset, 0, bytes, stream.get()),
        "zeroing the arena");
}

void CudaRank::poison() {
  if (arena.size() == 0)
    return;
  use();
  results.forget();
  check(cudaMemsetAsync(arena.data(), 0xFF, arena.size(), stream.get()),
        "poisoning the arena");
}

Status CudaRank::runPass(const ProgramStep &step, Pass kind) {
  pass = kind;
  if (kind == Pass::Record)
    recording.clear();
  batch.clear();
  tsr_abi_frame frame{&cudaApi(),
                      this,
                      arena.data(),
                      step.number,
                      step.seed,
                      rank.coordinates.data(),
                      kind == Pass::Record ? recordCalls : runCalls};
  return statusOfProgram(rank, step, step.program(&frame));
}

/// The recording pass, what new calls need, and the copy of the scalars.
Status CudaRank::record(const ProgramStep &step) {
  if (Status status = runPass(step, Pass::Record); !status.ok())
    return status;
  uint64_t &prepared = programs[step.program].prepared;
  if (recording.calls() != prepared) {
    if (Status status = runPass(step, Pass::Prepare); !status.ok())
      return status;
    prepared = recording.calls();
  }
  if (workspaceNeeded > workspace.size()) {
    dropGraphs();
    check(cudaStreamSynchronize(stream.get()), "waiting for the workspace");
    workspace.allocate(workspaceNeeded, "workspace");
  }
  if (rounds.needsMemory()) {
    dropGraphs();
    check(cudaStreamSynchronize(stream.get()), "waiting for a step");
    rounds.allocate();
  }
  sendScalars();
  return collectives->connect();
}

void CudaRank::sendScalars() {
  const std::vector<int64_t> &values = recording.scalars().values();
  auto bytes = static_cast<int64_t>(values.size() * sizeof(int64_t));
  if (bytes > scalars.size()) {
    dropGraphs();
    scalars.allocate(bytes, "scalars");
    pinned.allocate(bytes);
  }
  if (bytes > 0) {
    std::memcpy(pinned.data(), values.data(), bytes);
    check(cudaMemcpyAsync(scalars.data(), pinned.data(), bytes,
                          cudaMemcpyHostToDevice, stream.get()),
          "copying the step's scalars");
  }
  recording.scalars().begin(reinterpret_cast<const int64_t *>(scalars.data()));
}

/// The work of a step, after its scalars are on their way.
Status CudaRank::queueStep(const ProgramStep &step) {
  uint64_t calls = recording.calls();
  Known &known = programs[step.program];
  StepGraph &graph = known.graph;
  bool captures = collectives->isCapturable() && !rank.poison && !times &&
                  trouble().empty();
  if (captures && graph.holds(calls)) {
    graph.launch(stream.get());
    return {};
  }
  // Once call by call: libraries allocate and choose on first use.
  if (captures && known.queued == calls) {
    if (Status status = capture(step); !status.ok())
      return status;
    if (graph.holds(calls)) {
      graph.launch(stream.get());
      return {};
    }
    recording.scalars().begin(
        reinterpret_cast<const int64_t *>(scalars.data()));
  }
  known.queued = calls;
  return queueCalls(step);
}

Status CudaRank::queueCalls(const ProgramStep &step) {
  rounds.clear(stream.get());
  Status status = runPass(step, Pass::Submit);
  if (!status.ok())
    return status;
  batch.expectEmpty();
  results.queue(arena.data(), stream.get());
  rounds.queue(stream.get());
  return {};
}

Status CudaRank::capture(const ProgramStep &step) {
  StepGraph &graph = programs[step.program].graph;
  graph.begin(stream.get());
  Status status = queueCalls(step);
  graph.end(stream.get(), recording.calls());
  return status;
}

Status CudaRank::runStep(const ProgramStep &step) {
  use();
  results.forget();
  if (Status status = record(step); !status.ok())
    return status;
  return queueStep(step);
}

/// The program's stream ends after the other, unless the step broke off.
cudaError_t CudaRank::progress() const {
  cudaError_t error = cudaStreamQuery(stream.get());
  return error == cudaSuccess ? cudaStreamQuery(communication.get()) : error;
}

Status CudaRank::failureOf(const ProgramStep &step, cudaError_t error) const {
  return {TSR_INTERNAL,
          concat("step ", step.number + 1, " of rank ", rank.number,
                 " failed on GPU ", device, ": ", errorText(error),
                 rank.poison ? ""
                             : "; set `poison` in tsr_session_options to "
                               "learn which op")};
}

/// Waits also after a failure: what is queued uses the arenas of all ranks.
Status CudaRank::waitForStream(const ProgramStep &step) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  collectives->startWaiting();
  while (true) {
    cudaError_t error = progress();
    StepWait::Duration waited = Clock::now() - start;
    if (error == cudaSuccess) {
      wait.ended(waited);
      return collectives->poll();
    }
    if (error != cudaErrorNotReady)
      return failureOf(step, error);
    if (Status status = collectives->poll(); !status.ok())
      return status;
    StepWait::Duration nap = wait.napAfter(waited);
    if (nap > StepWait::Duration(0))
      std::this_thread::sleep_for(nap);
    else
      std::this_thread::yield();
  }
}

Status CudaRank::run(const ProgramStep &step) {
  // The trace is for the GPU's part, not the host's (Entry.h).
  std::unique_ptr<RankTrace> trace = std::move(rank.trace);
  if (!trace)
    return runAndWait(step);
  use();
  times = std::make_unique<OpTimes>(stream.get());
  Status status = runAndWait(step);
  if (status.ok())
    times->report(*trace, rounds);
  times.reset();
  rank.trace = std::move(trace);
  return status;
}

Status CudaRank::runAndWait(const ProgramStep &step) {
  Status status;
  try {
    status = runStep(step);
  } catch (...) {
    status = currentStatus();
  }
  // The others must know before this rank waits for work that waits for them.
  if (!status.ok() && !rank.communicator->failed())
    rank.communicator->abort(status);
  Status finished = waitForStream(step);
  if (!status.ok() || !finished.ok())
    return status.ok() ? finished : status;
  uploads.release();
  pieces.release();
  results.hold();
  rank.expertRounds = std::max(rank.expertRounds, rounds.most());
  return {};
}

std::string CudaRank::describe() const {
  cudaDeviceProp properties{};
  cudaGetDeviceProperties(&properties, device);
  int driver = 0;
  cudaDriverGetVersion(&driver);
  std::string text =
      concat("GPU ", device, ": ", properties.name, ", compute capability ",
             properties.major, ".", properties.minor, ", driver for CUDA ",
             versionText(driver), "; ",
             image ? image->origin() : std::string("no generated kernels"));
  if (std::string attention = cudnn.describe(); !attention.empty())
    text += "; " + attention;
  if (rank.metadata->mesh.ranks() > 1)
    text += "; " + collectives->describe();
  if (std::string why = trouble(); !why.empty())
    text += "; " + why;
  if (int64_t missing = products.missingEpilogues())
    text += concat("; cublasLt has no epilogue for ", missing,
                   " forms of products, kernels follow them");
  return text;
}

} // namespace tessera::cuda
