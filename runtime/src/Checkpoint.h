//===- Checkpoint.h - saving and restoring a session
//--------------------------===
// DIR/step-NNNNNNNN/{model,optimizer}.safetensors and manifest.json, global
// tensors in their file shapes. A step directory appears whole or not at all;
// nothing is written into a session before everything is checked.
//===------------------------------------------------------------------------===
#ifndef TESSERA_RUNTIME_CHECKPOINT_H
#define TESSERA_RUNTIME_CHECKPOINT_H

#include "Session.h"

#include <string>

namespace tessera {

/// TSR_IO; TSR_INVALID_ARGUMENT if the state is undefined.
void saveCheckpoint(Session &session, const std::string &directory);
/// `directory`: a step directory, or the parent of some. TSR_NOT_FOUND,
/// TSR_CORRUPT, TSR_MISMATCH.
void loadCheckpoint(Session &session, const std::string &directory);
/// Parameters alone from a safetensors file, or from DIR/model.safetensors.
void loadWeights(Session &session, const std::string &path);

/// What a checkpoint says beside its tensors.
struct Manifest {
  struct File {
    std::string name;
    uint64_t bytes;
    std::string hash;
  };
  int64_t step, seed, nextDataStep;
  std::vector<File> files;
};

std::string writeManifest(const Manifest &manifest);
/// TSR_CORRUPT: `source` is no manifest or is altered (it holds its own hash).
Manifest readManifest(const std::string &source, const char *begin,
                      const char *end);

constexpr const char *modelFile = "model.safetensors";
constexpr const char *optimizerFile = "optimizer.safetensors";
constexpr const char *manifestFile = "manifest.json";

/// The file of a state tensor and its name in there.
const char *checkpointFile(const TensorInfo &tensor);
std::string checkpointName(const TensorInfo &tensor);

} // namespace tessera

#endif // TESSERA_RUNTIME_CHECKPOINT_H
