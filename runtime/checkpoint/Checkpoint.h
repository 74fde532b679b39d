//===- Checkpoint.h - saving and restoring a session ------------*- C++ -*-===//
// DIR/step-NNNNNNNN/{model,optimizer}.safetensors and manifest.json, global
// tensors in their file shapes; the model may be in shards, adapters are a file
// of their own (Adapter.h). A step directory appears whole or not at all, and
// `transformers` opens it where the artifact holds the model's config.json.
// Nothing is written into a session before everything is checked.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CHECKPOINT_CHECKPOINT_H
#define TESSERA_RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "runtime/checkpoint/TensorFiles.h"
#include "runtime/session/Session.h"

#include <map>
#include <optional>
#include <string>

namespace tessera {

class OwnedDirectory;

/// Saves a step. TSR_IO; TSR_INVALID_ARGUMENT if the state is undefined.
void saveCheckpoint(Session &session, const std::string &directory);
/// Does the same; if the directory holds `count` checkpoints already, the new
/// one replaces the oldest, if that can be moved.
void saveNewestCheckpoint(Session &session, const std::string &directory,
                          int64_t count);
/// Returns where the checkpoint `name` lies while it is written or removed.
/// Under this name it is no checkpoint, even if the power fails then; the next
/// save removes what is left of it.
std::string scratchPath(const std::string &directory, const std::string &name);
/// Returns whether a name in a directory is the scratch name of a step.
bool isScratch(const std::string &name);
/// Makes the directory `scratch`, which is whole and durable, the checkpoint
/// `name`. A `count` of 0: all others are kept.
void publishCheckpoint(const OwnedDirectory &owned, const std::string &scratch,
                       const std::string &name, int64_t count);
/// Saves to `directory` itself and replaces the checkpoint that is there; the
/// session owns its parent. TSR_INVALID_ARGUMENT: it holds other files.
void saveCheckpointAs(Session &session, const std::string &directory);
/// Keeps other runs from saving there; saving claims the directory, too.
void claimCheckpoints(Session &session, const std::string &directory);
/// Removes all but the newest `count` complete checkpoints up to the session's
/// step. TSR_INVALID_ARGUMENT; TSR_IO: some are left, all of them whole.
void pruneCheckpoints(Session &session, const std::string &directory,
                      int64_t count);
/// Returns the names of step directories that were completed, by step.
std::map<int64_t, std::string> completeSteps(const std::string &directory);
/// Returns `directory` itself, or its newest step directory that was completed.
/// TSR_NOT_FOUND.
std::string findCheckpoint(const std::string &directory);
/// Returns the newest completed step in a directory that is no model, adapter
/// or checkpoint itself, and otherwise `path`.
std::string checkpointIn(const std::string &path);
/// Loads a checkpoint; `directory` is a step directory, or the parent of some.
/// TSR_NOT_FOUND, TSR_CORRUPT, TSR_MISMATCH.
void loadCheckpoint(Session &session, const std::string &directory);
/// Loads parameters alone from what weightsFile finds. Notes of the session
/// list heads that are drawn, and tensors that are ignored. Fails as
/// TensorFiles does; TSR_MISMATCH.
void loadWeights(Session &session, const std::string &path);

/// Checks a file of weights, and the shards of an index, by the manifest beside
/// it; without one, or moments, it is of no checkpoint. TSR_CORRUPT;
/// TSR_MISMATCH: it is of another model.
void checkSavedModel(const Metadata &metadata, const std::string &weights);

/// Says how far a run has read its data.
struct DataPosition {
  int64_t sequences;        ///< were read
  int64_t sequence, target; ///< tokens of each, and of its target
  /// Counts the sequences read of each file; empty if files have no weights.
  std::vector<int64_t> ofFiles;
};

/// The description of a checkpoint beside its tensors.
struct Manifest {
  struct File {
    std::string name;
    uint64_t bytes;
    std::string hash;
  };
  int64_t step, seed, nextDataStep;
  std::vector<File> files;
  std::optional<DataIdentity> data; ///< Older checkpoints name none.
  int64_t skippedSteps = 0;         ///< Older checkpoints have none.
  std::string optimizer = "adamw";  ///< Older checkpoints are all of it.
  /// Older checkpoints count steps alone.
  std::optional<DataPosition> position;
  /// Hold the keys of the artifact's metadata, as JSON; older checkpoints have
  /// none.
  std::map<std::string, std::string> modelKeys, trainingKeys;
  /// The weights that adapters adapt.
  AdapterBase base;
  std::map<std::string, std::string> records; ///< from the session's caller
};

/// A file of a `transformers` model other than weights.
struct ConfigText {
  std::string name, text;
};
/// Returns the texts to write beside the weights; none if the artifact holds
/// none.
std::vector<ConfigText> configTexts(const Metadata &metadata);

/// Returns the files of a model's folder that say how to use it, but for its
/// weights: config, tokenizer, pooling. TSR_IO.
std::vector<CarriedFile> readModelFiles(const std::string &folder);
/// Writes those of them that are not there. TSR_IO.
void writeModelFiles(const std::vector<CarriedFile> &files,
                     const std::string &directory);

std::string writeManifest(const Manifest &manifest);
/// Reads a manifest. TSR_CORRUPT: it is none or is altered (it holds its own
/// hash).
Manifest readManifest(const InputFile &file);

constexpr const char *optimizerFile = "optimizer.safetensors";
constexpr const char *manifestFile = "manifest.json";

/// Returns the name of a state tensor in its file.
std::string checkpointName(const TensorInfo &tensor);

/// The tensors in which files hold one: itself, or, where its name has a `*`,
/// its slices along dimension 0, under their numbers (experts of a mixture).
struct FileParts {
  std::vector<std::string> names;
  std::vector<int64_t> shape; ///< shape of each slice
};
FileParts filePartsOf(const TensorInfo &tensor, const std::string &name);
/// Elements [first, first + count) of tensors of one shape that lie after each
/// other.
void widenParts(const std::vector<const FileTensor *> &parts, int64_t first,
                int64_t count, double *out);
/// The same as they are stored.
void readParts(const std::vector<const FileTensor *> &parts, int64_t first,
               int64_t count, char *out);

} // namespace tessera

#endif // TESSERA_RUNTIME_CHECKPOINT_CHECKPOINT_H
