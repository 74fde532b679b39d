//===- Activation.cpp - activations by their names in configs -------------===//

#include "lib/Import/Activation.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tessera;

std::optional<nn::Function> tessera::activationOf(StringRef name) {
  return llvm::StringSwitch<std::optional<nn::Function>>(name)
      .Case("gelu", nn::Function::Gelu)
      .Cases({"gelu_new", "gelu_pytorch_tanh"}, nn::Function::GeluTanh)
      .Case("relu", nn::Function::Relu)
      .Case("silu", nn::Function::Silu)
      .Default(std::nullopt);
}

LogicalResult tessera::readActivation(const ConfigFile &file, StringRef key,
                                      ArrayRef<StringRef> names,
                                      nn::Function &function) {
  std::string name;
  if (failed(file.read(key, name)))
    return failure();
  if (!file.find(key)) {
    file.note(key, nn::stringifyFunction(function));
    return success();
  }
  if (!llvm::is_contained(names, name))
    return file.error(key) << "unknown activation '" << name << "'; use "
                           << llvm::join(names.drop_back(), ", ")
                           << (names.size() > 1 ? " or " : "") << names.back();
  function = *activationOf(name);
  file.note(key, nn::stringifyFunction(function));
  return success();
}
