//===- ModelConfig.cpp - config.json beside saved weights -----------------===//
#include "runtime/checkpoint/Checkpoint.h"
#include "runtime/support/DType.h"

#include <algorithm>

namespace tessera {

/// As `transformers` spells the type of the saved parameters. Of several, as
/// frozen ones are rounded that the others are not, the widest: it holds all.
static std::string torchType(const Metadata &metadata) {
  int64_t bytes = 0;
  for (const TensorInfo &tensor : metadata.tensors)
    if (tensor.role == Role::Parameter)
      bytes = std::max(bytes, dtypeBytes(tensor.dtype));
  return bytes == dtypeBytes(TSR_DTYPE_F64)    ? "float64"
         : bytes == dtypeBytes(TSR_DTYPE_BF16) ? "bfloat16"
                                               : "float32";
}

/// The text that was imported, but for the type of the weights beside it:
/// `transformers` would load them in the type that config.json says.
static std::string ofSavedType(const std::string &text, const char *name,
                               const Metadata &metadata) {
  JsonTree parsed = parseJson(concat("'", name, "' of the artifact"),
                              text.data(), text.data() + text.size());
  std::string type = torchType(metadata);
  bool changes = false;
  for (const char *key : {"dtype", "torch_dtype"}) {
    auto found = parsed.root.find(key);
    if (found == parsed.root.end() || *found == type)
      continue;
    *found = type;
    changes = true;
  }
  return changes ? parsed.root.dump(2) + "\n" : text;
}

std::vector<ConfigText> configTexts(const Metadata &metadata) {
  std::vector<ConfigText> files;
  for (const char *name : configFileNames) {
    auto found = metadata.configFiles.find(name);
    if (found != metadata.configFiles.end())
      files.push_back({name, ofSavedType(found->second, name, metadata)});
  }
  return files;
}

} // namespace tessera
