#include "runtime/session/Session.h"

#include "runtime/session/Initializer.h"

#include <algorithm>

namespace tessera {

// While a rank's thread prepares the next step, an accelerator waits; on the
// CPU spinning would take the cores that compute.
static std::chrono::microseconds spinOf(const SessionCore &core) {
  bool hasCores = core.metadata->device != "cpu" && !core.cores.oversubscribed;
  return std::chrono::microseconds(hasCores ? 50 : 0);
}

Session::Session(const Artifact &artifact, const SessionOptions &options)
    : Session(artifact, options, nullptr) {}

Session::Session(const Artifact &artifact, const SessionOptions &options,
                 std::shared_ptr<Device> device)
    : core(makeCore(artifact, options, std::move(device))),
      threads(static_cast<int64_t>(core->ranks.size()), core->cores,
              spinOf(*core)),
      schedule(scheduleOf(core->metadata->optimizer)),
      timeout(options.timeoutMs), seedValue(options.seed),
      ready(!core->metadata->hasParameters()) {
  together([&] {
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
  });
}

const std::string &Session::deviceText() const {
  return deviceDescription = core->ranks[0]->device->describe();
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

void Session::readLocal(int64_t rank, const TensorInfo &tensor,
                        double *values) const {
  checkAlive();
  const Mesh &mesh = metadata().mesh;
  int64_t stage = mesh.stageOf(mesh.coordinates(rank));
  if (!tensor.isAt(stage))
    fail(TSR_NOT_FOUND, "rank ", rank, " at pipeline stage ", stage,
         " does not hold ", tensor.describe(), "; a rank at stage ",
         tensor.firstStage(), " does");
  for (const auto &own : core->ranks)
    if (own->number == rank)
      return tessera::readLocal(*own, tensor, values);
  fail(TSR_INVALID_ARGUMENT, "rank ", rank, " is of another process, this is ",
       "rank ", core->ranks[0]->number);
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
