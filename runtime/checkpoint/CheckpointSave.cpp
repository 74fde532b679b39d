//===- CheckpointSave.cpp - tsr_session_save ------------------------------===//
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/session/Quantize.h"

#include "runtime/checkpoint/Adapter.h"
#include "runtime/checkpoint/SameModel.h"
#include "runtime/checkpoint/TensorFiles.h"
#include "runtime/checkpoint/WeightNames.h"
#include "runtime/data/Mixture.h"
#include "runtime/support/DType.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>

namespace tessera {

namespace {
/// Removes a half-written directory unless the checkpoint was completed.
class Scratch {
public:
  explicit Scratch(std::string path) : path(std::move(path)) {
    createNewDirectory(this->path);
  }
  ~Scratch() { removeDirectory(path); }

  const std::string path;
};

/// Tensors that are stored together: the parameters of the model, those of its
/// adapters, or the rest of the state.
enum class Part { Model, Adapter, Optimizer };

Part partOf(const TensorInfo &tensor) {
  if (tensor.role != Role::Parameter)
    return Part::Optimizer;
  return isOfAdapter(tensor.name) ? Part::Adapter : Part::Model;
}

std::vector<const TensorInfo *> tensorsOf(const Metadata &metadata, Part part) {
  std::vector<const TensorInfo *> tensors;
  for (const TensorInfo &tensor : metadata.tensors)
    if (isState(tensor.role) && partOf(tensor) == part)
      tensors.push_back(&tensor);
  return tensors;
}

/// Returns the tensors as they are stored: one for each tensor of the files.
std::vector<NewTensor> entriesOf(const Metadata &metadata, Part part) {
  std::vector<NewTensor> entries;
  for (const TensorInfo *tensor : tensorsOf(metadata, part)) {
    FileParts parts = filePartsOf(*tensor, checkpointName(*tensor));
    uint64_t bytes = tensor->elements() * dtypeBytes(tensor->dtype);
    for (const std::string &part : parts.names)
      entries.push_back({part, dtypeFileName(tensor->dtype), parts.shape,
                         bytes / parts.names.size()});
  }
  return entries;
}

/// Brings the state to the first process, tensor by tensor in the order of the
/// files. If writing fails there, the rest still comes: the others send it.
class Gathering {
public:
  explicit Gathering(const Session &session) : session(session) {
    for (Part part : {Part::Model, Part::Adapter, Part::Optimizer})
      for (const TensorInfo *tensor : tensorsOf(session.metadata(), part))
        tensors.push_back(tensor);
  }
  ~Gathering() {
    try {
      while (!session.hasAllRanks() && next < tensors.size())
        takeTensor();
    } catch (...) { // the session is dead, and says so at its next call
    }
  }
  /// Returns the next `count` bytes of the files, which end where a tensor of
  /// theirs does; valid until the next call. For the first process alone.
  const char *take(size_t count) {
    if (taken == bytes.size())
      takeTensor();
    const char *begin = bytes.data() + taken;
    taken += count;
    return begin;
  }

private:
  void takeTensor() {
    const TensorInfo &tensor = *tensors[next++];
    bytes.resize(
        session.isFirst() ? tensor.elements() * dtypeBytes(tensor.dtype) : 0);
    taken = 0;
    readGlobalBytes(session.ranks(), tensor, bytes.data());
  }

  const Session &session;
  std::vector<const TensorInfo *> tensors;
  size_t next = 0, taken = 0;
  std::vector<char> bytes; ///< one global tensor at a time
};

/// Returns the dtype of a parameter by its name in files.
int parameterType(const std::string &fileName) {
  for (int type : {TSR_DTYPE_F64, TSR_DTYPE_BF16})
    if (fileName == dtypeFileName(type))
      return type;
  return TSR_DTYPE_F32;
}

/// Hashes a weight that adapters adapt while it is written.
void addToBase(const NewTensor &tensor, const char *bytes, AdapterBase &base) {
  const int dtype = parameterType(tensor.dtype);
  const int64_t size = dtypeBytes(dtype);
  base.tensors[plainName(tensor.name)] =
      hashOfValues(static_cast<int64_t>(tensor.bytes) / size,
                   [&](int64_t first, int64_t count, double *out) {
                     widen(dtype, bytes + first * size, out, count);
                   });
}

/// Adds the hashes of the tensors to `base` unless it is null.
Manifest::File writeTensors(const FileShard &shard, Gathering &state,
                            const std::string &directory,
                            AdapterBase *base = nullptr) {
  WrittenFile file(directory + "/" + shard.name);
  std::string header = safetensorsHeader(shard.tensors);
  file.write(header.data(), header.size());
  for (const NewTensor &tensor : shard.tensors) {
    const char *bytes = state.take(tensor.bytes);
    file.write(bytes, tensor.bytes);
    if (base)
      addToBase(tensor, bytes, *base);
  }
  file.finish();
  return {shard.name, file.size(), hashText(file.hash())};
}

Manifest::File writeText(const std::string &directory, const std::string &name,
                         const std::string &text) {
  WrittenFile file(directory + "/" + name);
  file.write(text.data(), text.size());
  file.finish();
  return {name, file.size(), hashText(file.hash())};
}

/// The parameters, as a model of `transformers`, and as peft has adapters.
std::vector<Manifest::File> writeModel(const Session &session, Gathering &state,
                                       const std::string &directory,
                                       AdapterBase &base) {
  const bool adapts = hasAdapters(session.metadata());
  std::vector<Manifest::File> files;
  std::vector<FileShard> shards = cutIntoShards(
      entriesOf(session.metadata(), Part::Model), session.maxShardBytes());
  for (const FileShard &shard : shards)
    files.push_back(
        writeTensors(shard, state, directory, adapts ? &base : nullptr));
  if (shards.size() > 1)
    files.push_back(
        writeText(directory, modelIndexFile, writeShardIndex(shards)));
  if (adapts)
    files.push_back(writeTensors(
        {adapterFile, entriesOf(session.metadata(), Part::Adapter)}, state,
        directory));
  // The manifest lists only the files that resuming reads.
  for (const ConfigText &file : configTexts(session.metadata())) {
    Manifest::File written = writeText(directory, file.name, file.text);
    if (file.name == adapterConfigFile)
      files.push_back(written);
  }
  return files;
}

/// Removes the scratch files of runs that were killed while they saved. The
/// directory is ours, so nobody writes them any more.
void removeLeftovers(const std::string &directory) {
  for (const std::string &name : listDirectory(directory))
    if (isScratch(name))
      removeDirectory(concat(directory, "/", name));
}

/// Returns how many sequences were read of each file, or nothing where files
/// have no weights and so are one stream.
std::vector<int64_t> sequencesOfFiles(Session &session) {
  std::vector<int64_t> shares, counts;
  if (session.data())
    for (const DataIdentity::File &file : session.data()->files)
      shares.push_back(file.share);
  if (std::accumulate(shares.begin(), shares.end(), int64_t(0)) == 0)
    return counts;
  const Mixture mixture(shares);
  for (size_t i = 0; i < shares.size(); ++i)
    counts.push_back(
        mixture.visitsBefore(session.sequences(), static_cast<int64_t>(i)));
  return counts;
}

DataPosition positionOf(Session &session) {
  const Model &model = session.metadata().model;
  return {session.sequences(), model.sequence,
          model.decoder ? model.decoder->target : 0, sequencesOfFiles(session)};
}

/// Writes all files of a checkpoint.
void writeFiles(Session &session, Gathering &state,
                const std::string &directory) {
  AdapterBase base{session.base().path, {}};
  Manifest manifest{session.nextStep(),
                    session.seed(),
                    session.nextStep(),
                    writeModel(session, state, directory, base),
                    session.data(),
                    session.skippedSteps(),
                    session.metadata().optimizer.kind,
                    positionOf(session),
                    session.metadata().modelKeys,
                    session.metadata().trainingKeys,
                    std::move(base),
                    session.records()};
  FileShard rest{optimizerFile, entriesOf(session.metadata(), Part::Optimizer)};
  manifest.files.push_back(writeTensors(rest, state, directory));
  writeModelFiles(session.modelFiles(), directory);
  writeText(directory, manifestFile, writeManifest(manifest));
  syncDirectory(directory);
}

void writeCheckpoint(Session &session, Gathering &state,
                     const OwnedDirectory &owned, int64_t count) {
  const std::string &directory = owned.path();
  removeLeftovers(directory);
  char name[32];
  std::snprintf(name, sizeof name, "step-%08lld",
                static_cast<long long>(session.nextStep()));
  Scratch scratch(scratchPath(directory, name));
  writeFiles(session, state, scratch.path);
  owned.check(); // writing took its time
  publishCheckpoint(owned, scratch.path, name, count);
}

/// A checkpoint may replace an empty directory or another checkpoint. Older
/// versions wrote the best one into a step directory, beside evaluation.json.
void checkReplaceable(const std::string &directory) {
  auto isOfOlder = [](const std::string &name) {
    return name == "evaluation.json" || name[0] == '.' ||
           name.rfind("step-", 0) == 0;
  };
  if (!isDirectory(directory))
    return;
  const std::vector<std::string> names = listDirectory(directory);
  auto holds = [&](const char *name) {
    return isFile(concat(directory, "/", name));
  };
  if (names.empty() || (holds(manifestFile) && holds(optimizerFile)) ||
      (!completeSteps(directory).empty() &&
       std::all_of(names.begin(), names.end(), isOfOlder)))
    return;
  fail(TSR_INVALID_ARGUMENT, "'", directory,
       "' is to become a checkpoint, but holds other files; move it away");
}

void replaceCheckpoint(Session &session, Gathering &state,
                       const OwnedDirectory &owned, const std::string &name) {
  const std::string target = concat(owned.path(), "/", name);
  const std::string made = scratchPath(owned.path(), name);
  checkReplaceable(target);
  removeDirectory(made); // a killed run may have left one
  Scratch scratch(made);
  writeFiles(session, state, scratch.path);
  owned.check();
  replaceDirectory(scratch.path, target);
}

/// Runs `write` in the first process while all bring their parts of the state.
void gather(Session &session,
            const std::function<void(Gathering &state)> &write) {
  requireWholeParameters(session.metadata(), "saved in a checkpoint");
  session.checkAlive();
  if (!session.isReady())
    fail(TSR_INVALID_ARGUMENT, "the parameters are undefined; call "
                               "tsr_session_init or tsr_session_load first");
  session.together([&] {
    Gathering state(session);
    if (session.isFirst())
      write(state);
  });
}

void save(Session &session, const std::string &directory, int64_t count) {
  gather(session, [&](Gathering &state) {
    writeCheckpoint(session, state, session.own(directory), count);
  });
  std::vector<std::string> notes;
  if (session.metadata().configFiles.count("config.json") == 0)
    notes.push_back(concat("'", directory, "': no config.json is written ",
                           "beside the weights, because the artifact holds "
                           "none; compile the model's config.json"));
  session.setNotes(notes);
}

} // namespace

void saveCheckpoint(Session &session, const std::string &directory) {
  save(session, directory, 0);
}

void saveNewestCheckpoint(Session &session, const std::string &directory,
                          int64_t count) {
  if (count < 1)
    fail(TSR_INVALID_ARGUMENT, "checkpoints to keep must be at least 1, but ",
         "are ", count);
  save(session, directory, count);
}

void saveCheckpointAs(Session &session, const std::string &directory) {
  const size_t slash = directory.find_last_not_of('/');
  const std::string path = directory.substr(0, slash + 1);
  const size_t end = path.rfind('/');
  const std::string name = path.substr(end + 1);
  if (name.empty() || name == "." || name == "..")
    fail(TSR_INVALID_ARGUMENT, "'", directory,
         "' has no name that a checkpoint can have");
  gather(session, [&](Gathering &state) {
    replaceCheckpoint(
        session, state,
        session.own(end == std::string::npos ? "." : path.substr(0, end)),
        name);
  });
}

void claimCheckpoints(Session &session, const std::string &directory) {
  session.checkAlive();
  session.together([&] {
    if (session.isFirst())
      session.own(directory);
  });
}

} // namespace tessera
