//===- CheckpointSave.cpp - tsr_session_save ------------------------------===//
#include "runtime/checkpoint/Checkpoint.h"

#include "runtime/checkpoint/Safetensors.h"
#include "runtime/support/DType.h"

#include <cstdio>
#include <cstring>

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

std::vector<const TensorInfo *> tensorsOf(const Metadata &metadata,
                                          const char *file) {
  std::vector<const TensorInfo *> tensors;
  for (const TensorInfo &tensor : metadata.tensors)
    if (isState(tensor.role) && std::strcmp(checkpointFile(tensor), file) == 0)
      tensors.push_back(&tensor);
  return tensors;
}

/// Brings the state to the first process, tensor by tensor in the order of the
/// files. If writing fails there, the rest still comes: the others send it.
class Gathering {
public:
  explicit Gathering(const Session &session) : session(session) {
    for (const char *file : {modelFile, optimizerFile})
      for (const TensorInfo *tensor : tensorsOf(session.metadata(), file))
        tensors.push_back(tensor);
  }
  ~Gathering() {
    try {
      while (!session.hasAllRanks() && next < tensors.size())
        take();
    } catch (...) { // the session is dead, and says so at its next call
    }
  }
  /// The next tensor's bytes; in other processes than the first they are
  /// undefined.
  const std::vector<char> &take() {
    const TensorInfo &tensor = *tensors[next++];
    bytes.resize(
        session.isFirst() ? tensor.elements() * dtypeBytes(tensor.dtype) : 0);
    readGlobalBytes(session.ranks(), tensor, bytes.data());
    return bytes;
  }

private:
  const Session &session;
  std::vector<const TensorInfo *> tensors;
  size_t next = 0;
  std::vector<char> bytes; ///< one global tensor at a time
};

Manifest::File writeTensors(const Metadata &metadata, Gathering &state,
                            const std::string &path, const char *name) {
  std::vector<const TensorInfo *> tensors = tensorsOf(metadata, name);
  std::vector<NewTensor> entries;
  for (const TensorInfo *tensor : tensors) {
    FileParts parts = filePartsOf(*tensor, checkpointName(*tensor));
    uint64_t bytes = tensor->elements() * dtypeBytes(tensor->dtype);
    for (const std::string &part : parts.names)
      entries.push_back({part, dtypeFileName(tensor->dtype), parts.shape,
                         bytes / parts.names.size()});
  }
  WrittenFile file(path + "/" + name);
  std::string header = safetensorsHeader(entries);
  file.write(header.data(), header.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::vector<char> &bytes = state.take();
    file.write(bytes.data(), bytes.size());
  }
  file.finish();
  return {name, file.size(), hashText(file.hash())};
}

void writeText(const std::string &path, const std::string &text) {
  WrittenFile file(path);
  file.write(text.data(), text.size());
  file.finish();
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
  Manifest manifest{session.nextStep(), session.seed(), session.nextStep(), {}};
  for (const char *file : {modelFile, optimizerFile})
    manifest.files.push_back(
        writeTensors(session.metadata(), state, scratch.path, file));
  writeText(scratch.path + "/" + manifestFile, writeManifest(manifest));
  syncDirectory(scratch.path);
  owned.check(); // writing took its time
  replaceDirectory(scratch.path, concat(directory, "/", name));
}
} // namespace

void saveCheckpoint(Session &session, const std::string &directory) {
  session.checkAlive();
  if (!session.isReady())
    fail(TSR_INVALID_ARGUMENT, "the parameters are undefined; call "
                               "tsr_session_init or tsr_session_load first");
  session.together([&] {
    Gathering state(session);
    if (session.isFirst())
      writeCheckpoint(session, state, session.own(directory));
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
