#include "Session.h"

#include "DevicePlugin.h"
#include "HostFeatures.h"
#include "Initializer.h"
#include "ThreadCommunicator.h"

#include <algorithm>

namespace tessera {

// Polls before a rank that waits goes to sleep: some tens of microseconds, the
// time of a short collective.
static constexpr int spinPolls = 2000;

static void checkOptions(const Artifact &artifact,
                         const SessionOptions &options) {
  checkDeviceName(options.device);
  const std::string &own = artifact.metadata->device;
  if (own != options.device)
    fail(TSR_UNSUPPORTED, "'", artifact.path, "' is compiled for device '", own,
         "', the session asks for '", options.device,
         "'; run it with --device ", own, " or compile it with --device ",
         options.device);
  if (options.threads < 0 || options.timeoutMs < 0)
    fail(TSR_INVALID_ARGUMENT, "threads is ", options.threads,
         " and timeout_ms is ", options.timeoutMs, ", neither may be negative");
  // The program's host code runs here whatever the device.
  checkHostFeatures(artifact.path, artifact.metadata->features);
}

/// Checks before anything is opened or allocated.
static std::shared_ptr<Device> checkedDevice(const Artifact &artifact,
                                             const SessionOptions &options) {
  checkOptions(artifact, options);
  return openDevice(options.device);
}

std::shared_ptr<Session::Core> Session::makeCore(const Artifact &artifact,
                                                 const SessionOptions &options,
                                                 std::shared_ptr<Device> device,
                                                 const CorePlan &plan) {
  device->check({artifact.path, options.communicator, *artifact.metadata,
                 *artifact.code});
  auto core = std::make_shared<Core>();
  core->device = std::move(device);
  core->metadata = artifact.metadata;
  ThreadWorldOptions world;
  world.mesh = core->metadata->mesh;
  world.timeout = std::chrono::milliseconds(options.timeoutMs);
  world.threadsPerRank = plan.threadsPerRank;
  world.spins = plan.oversubscribed ? 0 : spinPolls;
  world.describeOp = [metadata = core->metadata](int64_t op) {
    return metadata->describeOp(op);
  };
  core->world = std::make_shared<ThreadWorld>(std::move(world));
  for (int64_t number = 0; number < core->metadata->mesh.ranks(); ++number) {
    auto rank = std::make_unique<Rank>();
    rank->number = number;
    rank->coordinates = core->metadata->mesh.coordinates(number);
    rank->stage = core->metadata->mesh.stageOf(rank->coordinates);
    rank->metadata = core->metadata;
    rank->code = artifact.code;
    rank->world = core->world;
    rank->communicatorName = options.communicator;
    rank->poison = options.poison;
    rank->communicator =
        std::make_unique<ThreadCommunicator>(core->world, number);
    rank->threads = plan.threadsPerRank;
    core->ranks.push_back(std::move(rank));
  }
  return core;
}

Session::Session(const Artifact &artifact, const SessionOptions &options)
    : Session(artifact, options, checkedDevice(artifact, options)) {}

Session::Session(const Artifact &artifact, const SessionOptions &options,
                 std::shared_ptr<Device> device)
    : core(makeCore(
          artifact, options, std::move(device),
          planCores(artifact.metadata->mesh.ranks(), options.threads))),
      threads(core->metadata->mesh.ranks(),
              planCores(core->metadata->mesh.ranks(), options.threads)),
      schedule(scheduleOf(core->metadata->optimizer)),
      timeout(options.timeoutMs), seedValue(options.seed),
      ready(!core->metadata->hasParameters()) {
  onEveryRank([&](Rank &rank) {
    try {
      rank.device = core->device->openRank(rank);
    } catch (...) {
      rank.communicator->abort(currentStatus()); // others may wait for it
      throw;
    }
    if (options.poison)
      rank.device->poison();
    fillTables(rank);
  });
  deviceDescription = core->ranks[0]->device->describe();
}

void Session::checkAlive() const {
  if (!death.ok())
    fail(TSR_ABORTED, "the session is dead: ", death.message);
}

void Session::onEveryRank(const std::function<void(Rank &)> &body) {
  checkAlive();
  Status status =
      threads.run([&](int64_t number) { body(*core->ranks[number]); });
  if (!status.ok())
    throw Error(status);
}

void Session::initialize() {
  onEveryRank([&](Rank &rank) { initializeState(rank, seedValue); });
  resumeAt(0, seedValue);
}

void Session::resumeAt(int64_t step, int64_t seed) {
  stepNumber = step;
  seedValue = seed;
  ready = true;
}

void Session::setSchedule(const Schedule &next) {
  checkSchedule(next);
  schedule = next;
}

const TensorInfo &Session::tensor(const std::string &role,
                                  const std::string &name) const {
  std::optional<Role> known = roleFromName(role);
  if (!known)
    fail(TSR_INVALID_ARGUMENT, "'", role,
         "' is no role; use parameter, master, moment1, moment2, gradient, "
         "input, output or value");
  const TensorInfo *tensor = metadata().find(*known, name);
  if (!tensor)
    fail(TSR_NOT_FOUND, "the artifact has no ", role, " '", name, "'");
  return *tensor;
}

void Session::read(const TensorInfo &tensor, double *values) const {
  checkAlive();
  readGlobal(core->ranks, tensor, values);
}

void Session::readLocal(int64_t rank, const TensorInfo &tensor,
                        double *values) const {
  checkAlive();
  tessera::readLocal(*core->ranks[rank], tensor, values);
}

void Session::write(const TensorInfo &tensor, const double *values) {
  const TensorInfo *master = tensor.role == Role::Parameter
                                 ? metadata().find(Role::Master, tensor.name)
                                 : nullptr;
  Source source = [&](int64_t first, int64_t count, double *out) {
    std::copy_n(values + first, count, out);
  };
  onEveryRank([&](Rank &rank) {
    writeShard(rank, tensor, source, roundedVia(metadata(), tensor));
    if (master)
      writeShard(rank, *master, source);
  });
}

} // namespace tessera
