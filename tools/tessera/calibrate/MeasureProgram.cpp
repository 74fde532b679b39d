//===- MeasureProgram.cpp - the calls of a step, timed --------------------===//

#include "tools/tessera/calibrate/MeasureProgram.h"
#include "tessera/Target/OutputFile.h"
#include "tessera/Target/TemporaryFile.h"
#include "tools/tessera/input/ArtifactFile.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/simulate/ReadProgram.h"
#include "tools/tessera/train/OpenSession.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <map>
#include <random>

using namespace tessera;
namespace json = llvm::json;

namespace {

/// What traces of several steps say.
class TraceTimes {
public:
  /// False where it is no trace.
  bool add(llvm::StringRef text);
  /// Median seconds of an op; nothing if it never ran. `isTransfer`: each time
  /// of the rank that waited least.
  std::optional<double> secondsOf(int64_t op, bool isTransfer) const;
  double betweenCalls() const;

private:
  struct Event {
    int64_t op;
    double begin, seconds;
  };
  /// By op and how often it ran before in the step.
  using Runs = std::map<std::pair<int64_t, int64_t>, double>;
  void addRank(const std::vector<Event> &events, Runs &least);

  std::map<int64_t, std::vector<double>> ofAllRanks, ofLastRank; ///< By op.
  std::vector<double> gaps;
};

} // namespace

static double medianOf(std::vector<double> values) {
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void TraceTimes::addRank(const std::vector<Event> &events, Runs &least) {
  std::map<int64_t, int64_t> runs;
  for (size_t i = 0; i < events.size(); ++i) {
    double seconds = events[i].seconds;
    ofAllRanks[events[i].op].push_back(seconds);
    auto run = std::make_pair(events[i].op, runs[events[i].op]++);
    double &known = least.try_emplace(run, seconds).first->second;
    known = std::min(known, seconds);
    if (i > 0)
      gaps.push_back(events[i].begin - events[i - 1].begin -
                     events[i - 1].seconds);
  }
}

bool TraceTimes::add(llvm::StringRef text) {
  auto parsed = json::parse(text);
  if (!parsed)
    return !printError("the trace is malformed: " +
                       llvm::toString(parsed.takeError()));
  const json::Object *root = parsed->getAsObject();
  const json::Array *list = root ? root->getArray("traceEvents") : nullptr;
  if (!list)
    return !printError("the trace is malformed: it has no events");
  std::map<std::pair<int64_t, int64_t>, std::vector<Event>> threads;
  for (const json::Value &value : *list) {
    const json::Object *event = value.getAsObject();
    if (!event || event->getString("ph") != "X")
      continue;
    const json::Object *arguments = event->getObject("args");
    auto number = [&](const char *key) {
      return event->getNumber(key).value_or(0);
    };
    threads[{event->getInteger("pid").value_or(0),
             event->getInteger("tid").value_or(0)}]
        .push_back({arguments ? arguments->getInteger("op").value_or(-1) : -1,
                    number("ts") * 1e-6, number("dur") * 1e-6});
  }
  Runs least;
  for (const auto &[thread, events] : threads)
    addRank(events, least);
  for (const auto &[run, seconds] : least)
    ofLastRank[run.first].push_back(seconds);
  return true;
}

std::optional<double> TraceTimes::secondsOf(int64_t op, bool isTransfer) const {
  const auto &times = isTransfer ? ofLastRank : ofAllRanks;
  auto found = times.find(op);
  if (found == times.end())
    return std::nullopt;
  return medianOf(found->second);
}

double TraceTimes::betweenCalls() const {
  return gaps.empty() ? 0 : std::max(medianOf(gaps), 0.0);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static bool fail() { return !printError(tsr_last_error()); }

/// Writes the config, compiles and loads it.
static bool openProgram(const CalibrationProgram &program,
                        DriverOptions &options, ArtifactFile &artifact) {
  TemporaryFile config;
  std::error_code error = config.create("json");
  if (!error)
    error = writeOutput(config.path, {program.config});
  if (error)
    return !printError("cannot write a temporary file: " + error.message());
  options.command = Command::Calibrate;
  options.model = config.path.str().str();
  options.plan = program.plan;
  return artifact.open(options);
}

static std::vector<int32_t> tokensOf(const tsr_artifact *artifact) {
  auto vocabulary = static_cast<uint64_t>(tsr_artifact_vocabulary(artifact));
  std::vector<int32_t> tokens(tsr_artifact_batch(artifact) *
                              tsr_artifact_columns(artifact));
  std::mt19937_64 random(1);
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(random() % vocabulary);
  return tokens;
}

static bool runSteps(tsr_session *session, const std::vector<int32_t> &tokens,
                     int64_t steps, TraceTimes &times) {
  TemporaryFile file;
  if (std::error_code error = file.create("trace.json"))
    return !printError("cannot create a temporary file: " + error.message());
  std::string path = file.path.str().str();
  tsr_step_result result;
  if (tsr_session_init(session))
    return fail();
  constexpr int64_t warmUp = 2; // the library generates its code
  for (int64_t step = 0; step < warmUp + steps; ++step) {
    if (step >= warmUp && tsr_session_trace(session, path.c_str()))
      return fail();
    if (tsr_session_step(session, tokens.data(), tokens.size(), &result))
      return fail();
    if (step < warmUp)
      continue;
    auto text = llvm::MemoryBuffer::getFile(path);
    if (!text)
      return !printError("cannot read '" + path +
                         "': " + text.getError().message());
    if (!times.add((*text)->getBuffer()))
      return false;
  }
  return true;
}

static bool isTransfer(const simulate::Call &call) {
  return call.kind == simulate::CallKind::Collective ||
         call.kind == simulate::CallKind::Send ||
         call.kind == simulate::CallKind::Receive;
}

std::optional<MeasuredProgram>
tessera::measure(const CalibrationProgram &program, int64_t cores,
                 int64_t steps) {
  DriverOptions options;
  ArtifactFile artifact;
  Report report;
  if (!openProgram(program, options, artifact) ||
      !report.read(artifact.metadata()))
    return std::nullopt;
  options.threads = static_cast<int32_t>(cores);
  std::optional<simulate::Program> calls =
      readProgram(artifact.metadata(), report);
  OpenedSession session = openSession(options, artifact.get());
  TraceTimes times;
  if (!calls || !session ||
      !runSteps(session.get(), tokensOf(artifact.get()), steps, times))
    return std::nullopt;
  MeasuredProgram measured;
  measured.precision = program.plan.precision;
  measured.threads = std::max<int64_t>(cores / calls->ranks(), 1);
  measured.betweenCalls = times.betweenCalls();
  int64_t op = 0; // numbers of a trace go from stage to stage
  for (const simulate::StageProgram &stage : calls->stages)
    for (const simulate::Call &call : stage.calls)
      if (auto seconds = times.secondsOf(op++, isTransfer(call)))
        measured.calls.push_back({call, calls->ranks(), *seconds});
  return measured;
}
