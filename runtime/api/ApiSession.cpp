//===- ApiSession.cpp - tsr_session_* of the C API ------------------------===//
#include "runtime/api/Api.h"
#include "runtime/checkpoint/Adapter.h"
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/session/Scoring.h"
#include "runtime/support/CpuPath.h"
#include "runtime/support/JsonLimits.h"
#include "runtime/support/UserSecret.h"
#include <atomic>

using namespace tessera;

/// Takes the user's secret. If the user's home cannot be written to, the
/// processes still meet without one. They may do so several times; the user is
/// told once.
static void takeUserSecret(ProcessOptions &options) {
  static std::atomic<bool> isTold{false};
  options.secret = userSecret();
  if (!options.secret.empty() || options.trustsNetwork || !options.note ||
      options.rank != 0 || isTold.exchange(true))
    return;
  const std::string path = userSecretPath();
  options.note(
      concat("other users of this machine can take part in the run, as there "
             "is no secret, and none can be made ",
             path.empty() ? "without a home directory" : "at '" + path + "'",
             "; set TESSERA_SECRET or --secret-file"));
}

static ProcessOptions processOptions(const tsr_session_options &given) {
  ProcessOptions result;
  if (given.world_size == 0 && given.rank == 0)
    return result;
  result.worldSize = given.world_size;
  result.rank = given.rank;
  result.localRank = given.local_rank;
  result.localSize = given.local_size;
  if (given.rendezvous)
    result.rendezvous = given.rendezvous;
  result.trustsNetwork = given.trusts_network != 0;
  if (given.note)
    result.note = [note = given.note, context = given.note_context](
                      const std::string &text) { note(context, text.c_str()); };
  if (given.secret && given.secret[0])
    result.secret = given.secret;
  else if (result.worldSize > 1 && meetOnThisMachine(result))
    takeUserSecret(result);
  if (given.rendezvous_timeout_ms != 0)
    result.timeout = std::chrono::milliseconds(given.rendezvous_timeout_ms);
  if (result.worldSize < 1)
    checkProcessOptions(result);
  return result;
}

static Agreement agreementOf(const char *const *texts) {
  Agreement result;
  for (; texts && texts[0]; texts += 2) {
    if (!texts[1])
      fail(TSR_INVALID_ARGUMENT, "agreement has a name without a value, '",
           texts[0], "'; give both, and then NULL");
    result.emplace_back(texts[0], texts[1]);
  }
  return result;
}

SessionOptions tessera::takeSessionOptions(const tsr_session_options *given) {
  tsr_session_options options = takeOptions(given, "tsr_session_options");
  SessionOptions result;
  if (options.device)
    result.device = options.device;
  if (options.communicator)
    result.communicator = options.communicator;
  result.threads = options.threads;
  if (options.timeout_ms != 0)
    result.timeoutMs = options.timeout_ms;
  if (options.save_timeout_ms != 0)
    result.saveTimeoutMs = options.save_timeout_ms;
  result.seed = options.seed;
  result.poison = options.poison != 0;
  if (options.max_shard_bytes < 0)
    fail(TSR_INVALID_ARGUMENT, "max_shard_bytes is ", options.max_shard_bytes,
         ", give the bytes of a file, or 0 for one file");
  result.maxShardBytes = options.max_shard_bytes;
  result.processes = processOptions(options);
  result.agreement = agreementOf(options.agreement);
  result.allowsMixedCpus = options.allow_mixed_cpus != 0;
  return result;
}

tsr_status tsr_processors_compare(const tsr_session_options *options,
                                  tsr_processors *out_processors) {
  return guarded([&] {
    requirePointer(out_processors, "out_processors");
    SessionOptions wanted = takeSessionOptions(options);
    if (std::string problem = cpuPathProblem(); !problem.empty())
      fail(TSR_INVALID_ARGUMENT, problem);
    SharedProcessor shared;
    if (wanted.processes.worldSize > 1) {
      wanted.processes.processor = ownProcessor();
      shared = compareProcessors(wanted.processes);
    }
    *out_processors = {
        shared.isMixed ? nameOf(static_cast<CpuPath>(shared.path)) : "native",
        static_cast<int32_t>(shared.rank)};
  });
}

tsr_status tsr_session_create(const tsr_artifact *artifact,
                              const tsr_session_options *options,
                              tsr_session **out_session) {
  return guarded([&] {
    requirePointer(artifact, "artifact");
    requirePointer(out_session, "out_session");
    *out_session =
        new tsr_session(artifact->content, takeSessionOptions(options));
  });
}

const char *tsr_session_device(const tsr_session *session) {
  return session->content.deviceText().c_str();
}

void tsr_session_destroy(tsr_session *session) { delete session; }

const char *tsr_session_notes(const tsr_session *session) {
  return session->content.notes().c_str();
}

tsr_status tsr_session_init(tsr_session *session) {
  return guarded([&] {
    requirePointer(session, "session");
    session->content.initialize();
  });
}

static RateKind rateKind(const char *name) {
  if (!name)
    return RateKind::Cosine;
  std::optional<RateKind> known = rateKindFromName(name);
  if (!known)
    fail(TSR_INVALID_ARGUMENT, "the schedule's kind is '", name,
         "', must be one of ", rateKindNames());
  return *known;
}

tsr_status tsr_session_set_schedule(tsr_session *session,
                                    const tsr_schedule *schedule) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(schedule, "schedule");
    tsr_schedule given = takeOptions(schedule, "tsr_schedule");
    session->content.setSchedule({given.lr, given.min_lr, given.warmup_steps,
                                  given.total_steps, rateKind(given.kind),
                                  given.decay_steps});
  });
}

tsr_status tsr_session_step(tsr_session *session, const int32_t *tokens,
                            size_t count, tsr_step_result *out_result) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(tokens, "tokens");
    tsr_step_result result = session->content.step(tokens, count);
    if (out_result)
      *out_result = result;
  });
}

tsr_status tsr_session_trace(tsr_session *session, const char *path) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(path, "path");
    session->content.traceNextStep(path);
  });
}

static tsr_batch takeBatch(const tsr_batch *batch) {
  requirePointer(batch, "batch");
  tsr_batch given = takeOptions(batch, "tsr_batch");
  requirePointer(given.ids, "ids");
  requirePointer(given.labels, "labels");
  return given;
}

tsr_status tsr_session_step_batch(tsr_session *session, const tsr_batch *batch,
                                  tsr_step_result *out_result) {
  return guarded([&] {
    requirePointer(session, "session");
    tsr_step_result result = session->content.step(takeBatch(batch));
    if (out_result)
      *out_result = result;
  });
}

tsr_status tsr_session_evaluate(tsr_session *session, const int32_t *tokens,
                                size_t count, int64_t number,
                                tsr_evaluation *out_result) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(tokens, "tokens");
    requirePointer(out_result, "out_result");
    *out_result = session->content.evaluate(tokens, count, number);
  });
}

tsr_status tsr_session_evaluate_batch(tsr_session *session,
                                      const tsr_batch *batch,
                                      tsr_evaluation *out_result) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(out_result, "out_result");
    *out_result = session->content.evaluate(takeBatch(batch));
  });
}

tsr_status tsr_session_score(tsr_session *session, const int32_t *tokens,
                             size_t count, size_t given, tsr_score *out_score) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(tokens, "tokens");
    requirePointer(out_score, "out_score");
    Score score = scoreText(session->content, tokens, count, given);
    *out_score = {score.logProbability, score.predicted};
  });
}

tsr_status tsr_session_largest(tsr_session *session, int32_t value,
                               int32_t *out_largest) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(out_largest, "out_largest");
    *out_largest = session->content.largest(value);
  });
}

int64_t tsr_session_next_step(const tsr_session *session) {
  return session->content.nextStep();
}

int64_t tsr_session_seed(const tsr_session *session) {
  return session->content.seed();
}

int64_t tsr_session_sequences(const tsr_session *session) {
  return session->content.sequences();
}

int64_t tsr_session_skipped_steps(const tsr_session *session) {
  return session->content.skippedSteps();
}

int tsr_session_had_labels(const tsr_session *session) {
  return session->content.hadLabels();
}

int64_t tsr_session_expert_rounds(const tsr_session *session) {
  return session->content.expertRounds();
}

static const TensorInfo &find(tsr_session *session, const char *role,
                              const char *name, const void *values) {
  requirePointer(session, "session");
  requirePointer(role, "role");
  requirePointer(name, "name");
  requirePointer(values, "values");
  return session->content.tensor(role, name);
}

/// `gives` is what the call does with its buffer.
static void checkCount(const TensorInfo &tensor, size_t count, int64_t expected,
                       const char *gives = "has room for") {
  if (count != static_cast<size_t>(expected))
    fail(TSR_INVALID_ARGUMENT, tensor.describe(), " has ", expected,
         " elements, but the call ", gives, " ", count, "; it takes them all");
}

template <class Value>
static tsr_status readValues(tsr_session *session, const char *role,
                             const char *name, Value *values, size_t count) {
  return guarded([&] {
    const TensorInfo &tensor = find(session, role, name, values);
    checkCount(tensor, count, tensor.elements());
    session->content.read(tensor, values);
  });
}

template <class Value>
static tsr_status writeValues(tsr_session *session, const char *role,
                              const char *name, const Value *values,
                              size_t count) {
  return guarded([&] {
    const TensorInfo &tensor = find(session, role, name, values);
    checkCount(tensor, count, tensor.elements(), "brings");
    session->content.beginChange("writing a tensor");
    session->content.write(tensor, values);
  });
}

tsr_status tsr_session_read(tsr_session *session, const char *role,
                            const char *name, double *values, size_t count) {
  return readValues(session, role, name, values, count);
}

tsr_status tsr_session_read_f32(tsr_session *session, const char *role,
                                const char *name, float *values, size_t count) {
  return readValues(session, role, name, values, count);
}

tsr_status tsr_session_write(tsr_session *session, const char *role,
                             const char *name, const double *values,
                             size_t count) {
  return writeValues(session, role, name, values, count);
}

tsr_status tsr_session_write_f32(tsr_session *session, const char *role,
                                 const char *name, const float *values,
                                 size_t count) {
  return writeValues(session, role, name, values, count);
}

tsr_status tsr_session_read_local(tsr_session *session, int64_t rank,
                                  const char *role, const char *name,
                                  double *values, size_t count) {
  return guarded([&] {
    const TensorInfo &tensor = find(session, role, name, values);
    int64_t ranks = session->content.metadata().mesh.ranks();
    if (rank < 0 || rank >= ranks)
      fail(TSR_INVALID_ARGUMENT, "rank ", rank, " of ", ranks, " ranks");
    checkCount(tensor, count, tensor.localElements());
    session->content.readLocal(rank, tensor, values);
  });
}

tsr_status tsr_session_save(tsr_session *session, const char *directory) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(directory, "directory");
    saveCheckpoint(session->content, directory);
  });
}

tsr_status tsr_session_save_newest(tsr_session *session, const char *directory,
                                   int64_t count) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(directory, "directory");
    saveNewestCheckpoint(session->content, directory, count);
  });
}

tsr_status tsr_session_save_as(tsr_session *session, const char *directory) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(directory, "directory");
    saveCheckpointAs(session->content, directory);
  });
}

tsr_status tsr_session_set_model_folder(tsr_session *session,
                                        const char *folder) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(folder, "folder");
    session->content.setModelFiles(readModelFiles(folder));
  });
}

tsr_status tsr_session_set_record(tsr_session *session, const char *name,
                                  const char *json) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(name, "name");
    requirePointer(json, "json");
    const std::string text = json;
    parseJson(concat("the record '", name, "'"), text, json_kinds::record);
    session->content.setRecord(name, text);
  });
}

tsr_status tsr_session_claim(tsr_session *session, const char *directory) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(directory, "directory");
    claimCheckpoints(session->content, directory);
  });
}

tsr_status tsr_session_prune(tsr_session *session, const char *directory,
                             int64_t count) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(directory, "directory");
    pruneCheckpoints(session->content, directory, count);
  });
}

tsr_status tsr_session_load(tsr_session *session, const char *directory) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(directory, "directory");
    session->content.beginChange("loading a checkpoint");
    loadCheckpoint(session->content, directory);
  });
}

tsr_status tsr_session_load_weights(tsr_session *session, const char *path) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(path, "path");
    session->content.beginChange("loading weights");
    loadWeights(session->content, path);
  });
}

tsr_status tsr_weights_find(const char *path) {
  return guarded([&] {
    requirePointer(path, "path");
    InputFile file(weightsFile(checkpointIn(path)));
  });
}

tsr_status tsr_session_load_adapter(tsr_session *session,
                                    const char *directory) {
  return guarded([&] {
    requirePointer(session, "session");
    requirePointer(directory, "directory");
    session->content.beginChange("loading an adapter");
    loadAdapter(session->content, directory);
  });
}

tsr_status tsr_adapter_merge(const char *model, const char *adapter,
                             const char *output) {
  return guarded([&] {
    requirePointer(model, "model");
    requirePointer(adapter, "adapter");
    requirePointer(output, "output");
    mergeAdapter(model, adapter, output);
  });
}
