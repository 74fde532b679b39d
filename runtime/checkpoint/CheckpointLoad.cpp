//===- CheckpointLoad.cpp - tsr_session_load ------------------------------===//
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/session/Quantize.h"

#include "runtime/checkpoint/Adapter.h"
#include "runtime/checkpoint/SameModel.h"
#include "runtime/checkpoint/TensorFiles.h"
#include "runtime/checkpoint/WeightNames.h"
#include "runtime/support/DType.h"

#include <set>

namespace tessera {

namespace {
bool holdsModel(const std::string &directory) {
  for (const char *name :
       {manifestFile, modelFile, modelIndexFile, adapterFile, "config.json"})
    if (isFile(concat(directory, "/", name)))
      return true;
  return false;
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

/// Returns how many sequences the run has read. Older checkpoints do not say
/// it: each step then counts as one batch of the artifact.
int64_t sequencesRead(const Model &model, const Manifest &manifest,
                      const std::string &checkpoint) {
  if (manifest.position)
    return manifest.position->sequences;
  int64_t sequences;
  if (__builtin_mul_overflow(manifest.nextDataStep, model.batch, &sequences))
    fail(TSR_CORRUPT, "'", checkpoint, "' is at step ", manifest.nextDataStep,
         " of its data, which no run reaches");
  return sequences;
}

/// Returns how many of the session's sequences were read. Those of another
/// length than before are new, so none was; a note says so.
int64_t startInData(const Session &session, const Manifest &manifest,
                    const std::string &checkpoint,
                    std::vector<std::string> &notes) {
  const Model &model = session.metadata().model;
  const int64_t target = model.decoder ? model.decoder->target : 0;
  const std::optional<DataPosition> &before = manifest.position;
  if (!before && manifest.nextDataStep > 0)
    notes.push_back(concat("'", checkpoint,
                           "' does not say what it has read, "
                           "as older ones do not: ",
                           manifest.nextDataStep,
                           " steps are taken for as many batches of ",
                           model.batch, " sequences"));
  if (!before ||
      (before->sequence == model.sequence && before->target == target))
    return sequencesRead(model, manifest, checkpoint);
  notes.push_back(concat(
      "sequences have ", model.sequence, " tokens, those of '", checkpoint,
      "' ", before->sequence, ": they are cut anew, and an epoch begins"));
  return 0;
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
    source = files.find(nameBefore(name));
  if (!source)
    fail(TSR_MISMATCH, "'", files.path(), "' has no tensor '", name,
         "'; the checkpoint is of another model, optimizer or --freeze");
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
           "' that the artifact has not; the checkpoint is of another model, "
           "optimizer or --freeze");
  }
}

/// The files of a checkpoint.
struct StateFiles {
  TensorFiles model, optimizer;
  std::unique_ptr<TensorFiles> adapter; ///< Null: there is none.
};

std::vector<StateMatch> matchAll(const Metadata &metadata,
                                 const StateFiles &files) {
  std::vector<StateMatch> parameters, moments, adapters, all;
  for (const TensorInfo &tensor : metadata.tensors) {
    if (!isState(tensor.role))
      continue;
    if (tensor.role != Role::Parameter)
      moments.push_back(matchTensor(tensor, files.optimizer));
    else if (isOfAdapter(tensor.name))
      adapters.push_back(matchTensor(tensor, *files.adapter));
    else
      parameters.push_back(matchTensor(tensor, files.model));
  }
  checkNoExtra(files.model, parameters);
  checkNoExtra(files.optimizer, moments);
  for (const auto *some : {&parameters, &moments, &adapters})
    all.insert(all.end(), some->begin(), some->end());
  return all;
}

/// A checkpoint that is checked against an artifact.
struct Opened {
  Opened(const Metadata &metadata, const std::string &path)
      : path(path), manifest(checked(metadata, path)),
        files(open(metadata, path)), matches(matchAll(metadata, files)) {}

  std::string path;
  Manifest manifest;
  StateFiles files;
  std::vector<StateMatch> matches;

private:
  bool has(const char *name) const {
    for (const Manifest::File &file : manifest.files)
      if (file.name == name)
        return true;
    return false;
  }
  StateFiles open(const Metadata &metadata, const std::string &path) const {
    if (hasAdapters(metadata) != has(adapterFile))
      fail(TSR_MISMATCH, "'", path, "' has ",
           has(adapterFile) ? "adapters, but the artifact has none; compile "
                              "with the --lora of that run"
                            : "no adapters, but the artifact has; compile "
                              "without --lora, or start a new run from its "
                              "weights with --load-weights");
    if (has(adapterFile))
      checkAdapterConfig(metadata, path);
    StateFiles files = {
        TensorFiles(concat(path, "/",
                           has(modelIndexFile) ? modelIndexFile : modelFile)),
        TensorFiles(concat(path, "/", optimizerFile)), nullptr};
    if (has(adapterFile))
      files.adapter =
          std::make_unique<TensorFiles>(concat(path, "/", adapterFile));
    return files;
  }
  static Manifest checked(const Metadata &metadata, const std::string &path) {
    Manifest manifest = openManifest(path);
    checkSameModel(metadata.modelKeys, manifest.modelKeys, path);
    checkOptimizer(metadata, manifest, path);
    for (const Manifest::File &expected : manifest.files)
      checkFile(InputFile(concat(path, "/", expected.name)), expected);
    return manifest;
  }
};

/// Describes the files of the checkpoint by the manifest, whose sizes and
/// hashes were checked when it was opened.
std::vector<FileContent> filesOf(const Opened &checkpoint) {
  std::vector<FileContent> contents;
  for (const Manifest::File &file : checkpoint.manifest.files)
    contents.push_back({concat(checkpoint.path, "/", file.name),
                        concat(file.bytes, " bytes (hash ", file.hash, ")")});
  contents.push_back(contentOf(concat(checkpoint.path, "/", manifestFile)));
  return contents;
}
} // namespace

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

std::string checkpointIn(const std::string &path) {
  if (!isDirectory(path) || holdsModel(path))
    return path;
  std::map<int64_t, std::string> steps = completeSteps(path);
  return steps.empty() ? path : concat(path, "/", steps.rbegin()->second);
}

void checkSavedModel(const Metadata &metadata, const std::string &weights) {
  const std::string directory = weights.substr(0, weights.rfind('/') + 1);
  const std::optional<Manifest> manifest =
      manifestBeside(directory.empty() ? "." : directory);
  if (!manifest)
    return;
  checkSameModel(metadata.modelKeys, manifest->modelKeys, weights);
  const std::set<std::string> others = {optimizerFile, adapterFile,
                                        adapterConfigFile};
  for (const Manifest::File &expected : manifest->files)
    if (!others.count(expected.name) && isFile(directory + expected.name))
      checkFile(InputFile(directory + expected.name), expected);
}

void loadCheckpoint(Session &session, const std::string &directory) {
  requireWholeParameters(session.metadata(), "resumed from a checkpoint");
  session.checkAlive();
  std::unique_ptr<Opened> checkpoint;
  std::vector<FileContent> files;
  session.together([&] {
    checkpoint =
        std::make_unique<Opened>(session.metadata(), findCheckpoint(directory));
    files = filesOf(*checkpoint);
  });
  session.checkSame(concat("the step of the checkpoint in '", directory, "'"),
                    checkpoint->manifest.step);
  session.checkSameContents(files);
  if (checkpoint->manifest.data)
    session.adoptData(*checkpoint->manifest.data);
  session.fillOnEveryRank([&](Rank &rank) {
    for (const StateMatch &match : checkpoint->matches)
      writeStored(rank, *match.tensor,
                  [&](int64_t first, int64_t count, char *out) {
                    readParts(match.parts, first, count, out);
                  });
  });
  std::vector<std::string> notes =
      trainingDifferences(session.metadata().trainingKeys,
                          checkpoint->manifest.trainingKeys, directory);
  int64_t sequences =
      startInData(session, checkpoint->manifest, directory, notes);
  session.resumeAt({checkpoint->manifest.step, checkpoint->manifest.seed,
                    checkpoint->manifest.skippedSteps, sequences});
  session.setBase(checkpoint->manifest.base);
  session.setRecords(checkpoint->manifest.records);
  session.setNotes(notes);
}

} // namespace tessera
