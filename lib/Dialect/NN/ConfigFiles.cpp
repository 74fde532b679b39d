//===- ConfigFiles.cpp - the texts that a model was imported from ---------===//

#include "tessera/Dialect/NN/ConfigFiles.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "tessera/Json/ParseJson.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace tessera;

/// Returns the value of a text; none if the text is not JSON.
static std::optional<llvm::json::Value> valueOf(StringRef text) {
  return llvm::expectedToOptional(parseJson(text, json_kinds::config));
}

static bool isObject(StringRef text) {
  std::optional<llvm::json::Value> value = valueOf(text);
  return value && value->getAsObject();
}

LogicalResult nn::verifyConfigFiles(Operation *op, Attribute files) {
  auto named = dyn_cast<DictionaryAttr>(files);
  if (!named)
    return op->emitError() << "'" << kConfigFilesAttr
                           << "' must be a dictionary of files and their texts";
  for (NamedAttribute file : named) {
    StringRef name = file.getName().getValue();
    auto text = dyn_cast<StringAttr>(file.getValue());
    if (name != kConfigFile && name != kGenerationConfigFile &&
        name != kAdapterConfigFile)
      return op->emitError()
             << "'" << kConfigFilesAttr << "' names '" << name << "'; it may "
             << "hold '" << kConfigFile << "', '" << kGenerationConfigFile
             << "' and '" << kAdapterConfigFile << "'";
    if (!text || !isObject(text.getValue()))
      return op->emitError()
             << "'" << name << "' of '" << kConfigFilesAttr
             << "' is not the text of a JSON object; import the " << kConfigFile
             << " again";
  }
  return success();
}

LogicalResult nn::verifyKeys(Operation *op, NamedAttribute keys) {
  auto named = dyn_cast<DictionaryAttr>(keys.getValue());
  if (!named)
    return op->emitError() << "'" << keys.getName().getValue()
                           << "' must be a dictionary of keys and values";
  for (NamedAttribute key : named) {
    auto text = dyn_cast<StringAttr>(key.getValue());
    if (!text || !valueOf(text.getValue()))
      return op->emitError() << "'" << key.getName().getValue() << "' of '"
                             << keys.getName().getValue()
                             << "' is not the text of a JSON value; import the "
                             << kConfigFile << " again";
  }
  return success();
}
