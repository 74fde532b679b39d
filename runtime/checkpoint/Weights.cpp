//===- Weights.cpp - tsr_session_load_weights -----------------------------===//
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/checkpoint/Safetensors.h"
#include "runtime/session/Initializer.h"

namespace tessera {

namespace {
struct WeightMatch {
  const TensorInfo *parameter;
  const TensorInfo *master; ///< may be null
  std::vector<const FileTensor *> parts;
};

/// `transformers` writes "transformer.wte.weight" from GPT2LMHeadModel and
/// "wte.weight" from GPT2Model.
const FileTensor *findByName(const SafetensorsFile &file,
                             const std::string &name) {
  const std::string prefix = "transformer.";
  if (const FileTensor *tensor = file.find(name))
    return tensor;
  if (name.compare(0, prefix.size(), prefix) == 0)
    return file.find(name.substr(prefix.size()));
  return file.find(prefix + name);
}

const FileTensor *matchWeight(const std::string &name,
                              const std::vector<int64_t> &shape,
                              const SafetensorsFile &file) {
  const std::string &path = file.file().path();
  const FileTensor *source = findByName(file, name);
  if (!source)
    fail(TSR_MISMATCH, "'", path, "' has no tensor '", name,
         "', with or without 'transformer.'; it has ", file.tensors().size(),
         " others");
  if (source->shape != shape)
    fail(TSR_MISMATCH, "'", path, "': '", name, "' has shape ",
         describeShape(source->shape), ", the artifact has ",
         describeShape(shape));
  if (fileElementBytes(source->dtype) == 0)
    fail(TSR_MISMATCH, "'", path, "': '", name, "' is ", source->dtype,
         ", use F32, F64, BF16 or F16");
  checkFinite(path, name, *source);
  return source;
}

WeightMatch matchParameter(const TensorInfo &parameter,
                           const Metadata &metadata,
                           const SafetensorsFile &file) {
  WeightMatch match{
      &parameter, metadata.find(Role::Master, parameter.name), {}};
  FileParts parts = filePartsOf(parameter, parameter.name);
  for (const std::string &name : parts.names)
    match.parts.push_back(matchWeight(name, parts.shape, file));
  return match;
}

std::string weightsFile(const std::string &path) {
  if (!isDirectory(path))
    return path;
  std::string file = concat(path, "/", modelFile);
  std::string index = file + ".index.json";
  if (!isFile(file) && isFile(index))
    fail(TSR_UNSUPPORTED, "'", path, "' holds weights in several files ('",
         index, "'); save them as one ", modelFile);
  return file;
}
} // namespace

void loadWeights(Session &session, const std::string &path) {
  session.checkAlive();
  const Metadata &metadata = session.metadata();
  std::unique_ptr<SafetensorsFile> file;
  std::vector<WeightMatch> matches;
  session.together([&] {
    file = std::make_unique<SafetensorsFile>(weightsFile(path));
    for (const TensorInfo &tensor : metadata.tensors)
      if (tensor.role == Role::Parameter)
        matches.push_back(matchParameter(tensor, metadata, *file));
  });
  bool fresh = !session.isReady();
  session.onEveryRank([&](Rank &rank) {
    for (const WeightMatch &match : matches) {
      Source source = [&](int64_t first, int64_t count, double *out) {
        widenParts(match.parts, first, count, out);
      };
      writeShard(rank, *match.parameter, source,
                 roundedVia(metadata, *match.parameter));
      if (match.master)
        writeShard(rank, *match.master, source);
    }
    if (fresh)
      zeroMoments(rank);
  });
  if (fresh)
    session.resumeAt(0, session.seed());
}

} // namespace tessera
