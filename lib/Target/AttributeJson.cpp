//===- AttributeJson.cpp - attributes as JSON -----------------------------===//

#include "mlir/IR/BuiltinAttributes.h"
#include "tessera/Target/MetadataJson.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace json = llvm::json;

static json::Value arrayJson(ArrayAttr array) {
  json::Array values;
  for (Attribute element : array)
    values.push_back(tessera::toJson(element));
  return values;
}

static json::Value dictionaryJson(DictionaryAttr dictionary) {
  json::Object object;
  for (NamedAttribute entry : dictionary)
    object[entry.getName().getValue()] = tessera::toJson(entry.getValue());
  return object;
}

json::Value tessera::toJson(Attribute attribute) {
  return TypeSwitch<Attribute, json::Value>(attribute)
      .Case([](BoolAttr value) { return value.getValue(); })
      .Case([](IntegerAttr value) { return value.getInt(); })
      .Case([](FloatAttr value) { return value.getValueAsDouble(); })
      .Case([](StringAttr value) { return value.getValue(); })
      .Case([](UnitAttr) { return true; })
      .Case([](DenseI64ArrayAttr value) {
        return json::Array(value.asArrayRef());
      })
      .Case([](ArrayAttr value) { return arrayJson(value); })
      .Case([](DictionaryAttr value) { return dictionaryJson(value); })
      .Default([](Attribute) { return nullptr; });
}
