//===- CheckpointSave.cpp - tsr_session_save ------------------------------===//
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/session/Quantize.h"

#include "runtime/checkpoint/Adapter.h"
#include "runtime/checkpoint/TensorFiles.h"
#include "runtime/support/DType.h"

#include <cstdio>

namespace tessera {

namespace {
/// Removes a half-written directory unless the checkpoint was completed.
class Scratch {
public:
  explicit Scratch(std::string path) : path(std::move(path)) {
    createDirectories(this->path);
  }
  ~Scratch() { removeDirectory(path); }

  const std::string path;
};

/// What is stored together: the parameters of the model, those of its adapters,
/// or the rest of the state.
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

/// As they are stored, one for each tensor of the files.
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
  /// The next `count` bytes of the files, which end where a tensor of theirs
  /// does; valid until the next call. For the first process alone.
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

Manifest::File writeTensors(const FileShard &shard, Gathering &state,
                            const std::string &directory) {
  WrittenFile file(directory + "/" + shard.name);
  std::string header = safetensorsHeader(shard.tensors);
  file.write(header.data(), header.size());
  for (const NewTensor &tensor : shard.tensors)
    file.write(state.take(tensor.bytes), tensor.bytes);
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
                                       const std::string &directory) {
  std::vector<Manifest::File> files;
  std::vector<FileShard> shards = cutIntoShards(
      entriesOf(session.metadata(), Part::Model), session.maxShardBytes());
  for (const FileShard &shard : shards)
    files.push_back(writeTensors(shard, state, directory));
  if (shards.size() > 1)
    files.push_back(
        writeText(directory, modelIndexFile, writeShardIndex(shards)));
  if (hasAdapters(session.metadata()))
    files.push_back(writeTensors(
        {adapterFile, entriesOf(session.metadata(), Part::Adapter)}, state,
        directory));
  // Of the manifest is what resuming reads.
  for (const ConfigText &file : configTexts(session.metadata())) {
    Manifest::File written = writeText(directory, file.name, file.text);
    if (file.name == adapterConfigFile)
      files.push_back(written);
  }
  return files;
}

/// What runs left that were killed while they saved. The directory is ours, so
/// nobody writes them any more.
void removeLeftovers(const std::string &directory) {
  const std::string prefix = ".step-", suffix = ".tmp";
  for (const std::string &name : listDirectory(directory))
    if (name.size() > prefix.size() + suffix.size() &&
        name.compare(0, prefix.size(), prefix) == 0 &&
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0)
      removeDirectory(concat(directory, "/", name));
}

void writeCheckpoint(const Session &session, Gathering &state,
                     const OwnedDirectory &owned) {
  const std::string &directory = owned.path();
  removeLeftovers(directory);
  char name[32];
  std::snprintf(name, sizeof name, "step-%08lld",
                static_cast<long long>(session.nextStep()));
  Scratch scratch(concat(directory, "/.", name, ".tmp"));
  Manifest manifest{session.nextStep(),
                    session.seed(),
                    session.nextStep(),
                    writeModel(session, state, scratch.path),
                    session.data(),
                    session.skippedSteps(),
                    session.metadata().optimizer.kind};
  FileShard rest{optimizerFile, entriesOf(session.metadata(), Part::Optimizer)};
  manifest.files.push_back(writeTensors(rest, state, scratch.path));
  writeText(scratch.path, manifestFile, writeManifest(manifest));
  syncDirectory(scratch.path);
  owned.check(); // writing took its time
  replaceDirectory(scratch.path, concat(directory, "/", name));
}
} // namespace

void saveCheckpoint(Session &session, const std::string &directory) {
  requireWholeParameters(session.metadata(), "saved in a checkpoint");
  session.checkAlive();
  if (!session.isReady())
    fail(TSR_INVALID_ARGUMENT, "the parameters are undefined; call "
                               "tsr_session_init or tsr_session_load first");
  session.together([&] {
    Gathering state(session);
    if (session.isFirst())
      writeCheckpoint(session, state, session.own(directory));
  });
  std::vector<std::string> notes;
  if (session.metadata().configFiles.count("config.json") == 0)
    notes.push_back(concat("'", directory, "': no config.json is written ",
                           "beside the weights, because the artifact holds "
                           "none; compile the model's config.json"));
  session.setNotes(notes);
}

void claimCheckpoints(Session &session, const std::string &directory) {
  session.checkAlive();
  session.together([&] {
    if (session.isFirst())
      session.own(directory);
  });
}

} // namespace tessera
