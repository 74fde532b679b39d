//===- ModelFiles.h - what lies beside a model ------------------*- C++ -*-===//
// The folder that `transformers` saves holds a config, weights and a tokenizer.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_INPUT_MODELFILES_H
#define TESSERA_TOOLS_TESSERA_INPUT_MODELFILES_H

#include "tools/tessera/train/TrainOptions.h"
#include "llvm/Support/JSON.h"

namespace tessera {

/// Returns the newest step in a directory of checkpoints that is no model
/// itself; else the path that is given.
std::string modelIn(const std::string &path);

/// Replaces the model by its newest step and checks the files that it and its
/// compilation are about. Returns what is wrong, or "".
std::string findModel(PlannedModel &options, ModelKinds kinds);

/// Returns the model's folder, or that of its file.
std::string modelFolder(const ModelArgument &options);

/// Returns the folder whose tokenizer and pooling the checkpoints of a run take
/// along: that of the model, else that of its weights, else that of the
/// checkpoint to resume; "" if none has any.
std::string folderBesideWeights(const TrainOptions &options);

/// Returns the JSON object in a file; empty if the file is missing or holds
/// another thing.
llvm::json::Object jsonObjectIn(const std::string &path);

/// Returns the folder or file of the tokenizer that is `named` or, if none is,
/// lies beside the model; "" if there is none.
std::string modelTokenizer(const ModelArgument &options,
                           const std::string &named);

/// Names the weights beside the model's config, in whatever format, for
/// messages: "'gpt2/model.safetensors'" or "a file of weights in 'gpt2'". "":
/// there are none.
std::string weightsBeside(const ModelArgument &options);

/// The parameters that a command names: weights, or a checkpoint.
struct NamedWeights {
  std::string weights;    ///< Files of transformers; "": none.
  std::string checkpoint; ///< A directory; "": none.
};

/// Returns the weights that are named, or those beside the model, or an error
/// if there are none. The newest step of a directory of checkpoints counts.
llvm::Expected<std::string> modelWeights(const ModelArgument &options,
                                         const NamedWeights &named);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_INPUT_MODELFILES_H
