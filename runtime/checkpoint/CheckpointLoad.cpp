//===- CheckpointLoad.cpp - tsr_session_load ------------------------------===//
#include "runtime/checkpoint/Checkpoint.h"

#include "runtime/checkpoint/TensorFiles.h"
#include "runtime/support/DType.h"

#include <set>

namespace tessera {

namespace {
/// `directory` itself, or its newest step directory that was completed.
std::string findCheckpoint(const std::string &directory) {
  if (!isDirectory(directory))
    fail(TSR_NOT_FOUND, "there is no directory '", directory, "'");
  if (isFile(concat(directory, "/", manifestFile)))
    return directory;
  std::map<int64_t, std::string> steps = completeSteps(directory);
  if (steps.empty())
    fail(TSR_NOT_FOUND, "'", directory,
         "' holds no checkpoint (no step-NNNNNNNN with a ", manifestFile, ")");
  return concat(directory, "/", steps.rbegin()->second);
}

Manifest openManifest(const std::string &checkpoint) {
  InputFile file(concat(checkpoint, "/", manifestFile));
  return readManifest(file);
}

void checkFile(const InputFile &file, const Manifest::File &expected) {
  if (file.size() != expected.bytes)
    fail(TSR_CORRUPT, "'", file.path(), "' has ", file.size(),
         " bytes, the manifest says ", expected.bytes,
         "; it is torn, load an older checkpoint");
  std::string hash = hashText(file.hash());
  if (hash != expected.hash)
    fail(TSR_CORRUPT, "'", file.path(), "' has hash ", hash,
         ", the manifest says ", expected.hash,
         "; it is altered, load an older checkpoint");
}

/// Optimizers have moments of the same names that mean different things.
void checkOptimizer(const Metadata &metadata, const Manifest &manifest,
                    const std::string &checkpoint) {
  if (manifest.optimizer != metadata.optimizer.kind)
    fail(TSR_MISMATCH, "'", checkpoint, "' was trained by optimizer '",
         manifest.optimizer, "', the artifact has '", metadata.optimizer.kind,
         "'; compile for the same, or load the weights of the checkpoint "
         "alone");
}

/// A state tensor and where its values lie.
struct StateMatch {
  const TensorInfo *tensor;
  std::vector<const FileTensor *> parts;
};

const FileTensor *matchStatePart(const TensorInfo &tensor,
                                 const std::string &name,
                                 const std::vector<int64_t> &shape,
                                 const TensorFiles &files) {
  const FileTensor *source = files.find(name);
  if (!source)
    fail(TSR_MISMATCH, "'", files.path(), "' has no tensor '", name,
         "'; the checkpoint is of another model or optimizer");
  const std::string &path = source->file->path();
  if (source->shape != shape)
    fail(TSR_MISMATCH, "'", path, "': '", name, "' has shape ",
         describeShape(source->shape), ", the artifact has ",
         describeShape(shape));
  if (source->dtype != dtypeFileName(tensor.dtype))
    fail(TSR_MISMATCH, "'", path, "': '", name, "' is ", source->dtype,
         ", the artifact has ", dtypeFileName(tensor.dtype),
         "; compile for that precision, or load its weights alone");
  checkFinite(path, name, *source);
  return source;
}

StateMatch matchTensor(const TensorInfo &tensor, const TensorFiles &files) {
  StateMatch match{&tensor, {}};
  FileParts parts = filePartsOf(tensor, checkpointName(tensor));
  for (const std::string &name : parts.names)
    match.parts.push_back(matchStatePart(tensor, name, parts.shape, files));
  return match;
}

void checkNoExtra(const TensorFiles &files,
                  const std::vector<StateMatch> &used) {
  std::set<const FileTensor *> known;
  for (const StateMatch &match : used)
    known.insert(match.parts.begin(), match.parts.end());
  for (const auto &[name, entry] : files.tensors()) {
    if (known.count(entry) == 0)
      fail(TSR_MISMATCH, "'", files.path(), "' has a tensor '", name,
           "' that the artifact has not; the checkpoint is of another model "
           "or optimizer");
  }
}

std::vector<StateMatch> matchAll(const Metadata &metadata,
                                 const TensorFiles &model,
                                 const TensorFiles &optimizer) {
  std::vector<StateMatch> parameters, moments;
  for (const TensorInfo &tensor : metadata.tensors) {
    if (!isState(tensor.role))
      continue;
    bool isParameter = tensor.role == Role::Parameter;
    (isParameter ? parameters : moments)
        .push_back(matchTensor(tensor, isParameter ? model : optimizer));
  }
  checkNoExtra(model, parameters);
  checkNoExtra(optimizer, moments);
  parameters.insert(parameters.end(), moments.begin(), moments.end());
  return parameters;
}

/// A checkpoint that is checked against an artifact.
struct Opened {
  Opened(const Metadata &metadata, const std::string &path)
      : manifest(checked(metadata, path)),
        model(concat(path, "/", modelName(manifest))),
        optimizer(concat(path, "/", optimizerFile)),
        matches(matchAll(metadata, model, optimizer)) {}

  Manifest manifest;
  TensorFiles model, optimizer;
  std::vector<StateMatch> matches;

private:
  static const char *modelName(const Manifest &manifest) {
    for (const Manifest::File &file : manifest.files)
      if (file.name == modelIndexFile)
        return modelIndexFile;
    return modelFile;
  }
  static Manifest checked(const Metadata &metadata, const std::string &path) {
    Manifest manifest = openManifest(path);
    checkOptimizer(metadata, manifest, path);
    for (const Manifest::File &expected : manifest.files)
      checkFile(InputFile(concat(path, "/", expected.name)), expected);
    return manifest;
  }
};
} // namespace

void loadCheckpoint(Session &session, const std::string &directory) {
  session.checkAlive();
  std::unique_ptr<Opened> checkpoint;
  session.together([&] {
    checkpoint =
        std::make_unique<Opened>(session.metadata(), findCheckpoint(directory));
  });
  session.checkSame(concat("the step of the checkpoint in '", directory, "'"),
                    checkpoint->manifest.step);
  const std::optional<DataIdentity> &data = checkpoint->manifest.data;
  session.checkSame("1 if the checkpoint names its data, else 0,",
                    data.has_value());
  if (data && session.data())
    checkSameData(*session.data(), *data);
  if (data)
    session.useData(*data, DataChange::Refused);
  session.onEveryRank([&](Rank &rank) {
    for (const StateMatch &match : checkpoint->matches)
      writeStored(rank, *match.tensor,
                  [&](int64_t first, int64_t count, char *out) {
                    readParts(match.parts, first, count, out);
                  });
  });
  session.resumeAt({checkpoint->manifest.step, checkpoint->manifest.seed,
                    checkpoint->manifest.skippedSteps});
}

} // namespace tessera
