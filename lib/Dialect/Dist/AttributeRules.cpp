//===- AttributeRules.cpp - what discardable attributes may be ------------===//

#include "tessera/Dialect/Dist/AttributeRules.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace mlir;
using namespace tessera::dist;

/// Dictionaries and arrays of an attribute for people nest no deeper.
static constexpr int kMostNested = 16;
/// Errors show so many characters of a value.
static constexpr size_t kShown = 100;

AttributeSite tessera::dist::siteOf(Operation *op) {
  if (isa<ModuleOp>(op))
    return {op, OnModule, 0, Type()};
  return {op, isa<FunctionOpInterface>(op) ? OnFunction : OnOp, 0, Type()};
}

AttributeSite tessera::dist::siteOfArgument(Operation *op, unsigned index) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  bool exists = function && index < function.getNumArguments();
  return {op, OnArgument, index,
          exists ? function.getArgumentTypes()[index] : Type()};
}

AttributeSite tessera::dist::siteOfResult(Operation *op, unsigned index) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  bool exists = function && index < function.getNumResults();
  return {op, OnResult, index,
          exists ? function.getResultTypes()[index] : Type()};
}

/// Returns the words for a place in the plural.
static StringRef nameOf(Place place) {
  switch (place) {
  case OnModule:
    return "modules";
  case OnFunction:
    return "functions";
  case OnOp:
    return "ops";
  case OnArgument:
    return "arguments of functions";
  case OnResult:
    return "results of functions";
  }
  llvm_unreachable("all places are named");
}

static std::string namesOf(unsigned places) {
  SmallVector<StringRef> names;
  for (Place place : {OnModule, OnFunction, OnOp, OnArgument, OnResult})
    if (places & place)
      names.push_back(nameOf(place));
  return llvm::join(names, " and ");
}

/// Begins an error: "'nn.param' of argument #2 ".
static InFlightDiagnostic errorAt(const AttributeSite &site, StringRef name) {
  InFlightDiagnostic error = site.op->emitError() << "'" << name << "' ";
  if (site.place == OnArgument)
    error << "of argument #" << site.index << " ";
  if (site.place == OnResult)
    error << "of result #" << site.index << " ";
  return error;
}

static LogicalResult refuseName(ArrayRef<AttributeRule> rules,
                                const AttributeSite &site, StringRef name) {
  const AttributeRule *nearest = nullptr;
  for (const AttributeRule &rule : rules)
    if (!nearest ||
        name.edit_distance(rule.name) < name.edit_distance(nearest->name))
      nearest = &rule;
  InFlightDiagnostic error = errorAt(site, name);
  error << "is no attribute of the dialect '" << name.split('.').first << "'";
  if (nearest && name.edit_distance(nearest->name) <= 3)
    return error << "; did you mean '" << nearest->name << "'?";
  return error << "; remove it, or give it a name of another dialect";
}

static std::string shown(Attribute value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  if (text.size() > kShown)
    text = text.substr(0, kShown) + "...";
  return text;
}

LogicalResult tessera::dist::verifyByRules(ArrayRef<AttributeRule> rules,
                                           const AttributeSite &site,
                                           NamedAttribute attribute) {
  StringRef name = attribute.getName();
  const AttributeRule *rule = llvm::find_if(
      rules, [&](const AttributeRule &each) { return each.name == name; });
  if (rule == rules.end())
    return refuseName(rules, site, name);
  if (!(rule->places & site.place))
    return errorAt(site, name) << "is an attribute of " << namesOf(rule->places)
                               << ", not of " << nameOf(site.place);
  if (!rule->requirement.holds(site, attribute.getValue()))
    return errorAt(site, name) << "is " << shown(attribute.getValue())
                               << "; it must be " << rule->requirement.words;
  return rule->verify ? rule->verify(site.op, attribute) : success();
}

//===----------------------------------------------------------------------===//
// Requirements
//===----------------------------------------------------------------------===//

static bool isText(StringRef text) {
  const auto *at = reinterpret_cast<const llvm::UTF8 *>(text.begin());
  return llvm::isLegalUTF8String(
      &at, reinterpret_cast<const llvm::UTF8 *>(text.end()));
}

bool tessera::dist::isName(const AttributeSite &, Attribute value) {
  auto text = dyn_cast<StringAttr>(value);
  return text && !text.empty() && isText(text.getValue());
}

bool tessera::dist::isUnit(const AttributeSite &, Attribute value) {
  return isa<UnitAttr>(value);
}

bool tessera::dist::isCount(const AttributeSite &, Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) &&
         number.getInt() >= 0;
}

bool tessera::dist::isSmallCount(const AttributeSite &site, Attribute value) {
  return isCount(site, value) && cast<IntegerAttr>(value).getInt() <=
                                     std::numeric_limits<int32_t>::max();
}

bool tessera::dist::isListOfCounts(const AttributeSite &, Attribute value) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  return numbers && llvm::all_of(numbers.asArrayRef(),
                                 [](int64_t number) { return number >= 0; });
}

/// Returns whether JSON can hold a value.
static bool isJson(Attribute value, int depth) {
  if (depth > kMostNested)
    return false;
  if (auto number = dyn_cast<IntegerAttr>(value))
    return number.getType().isSignlessInteger() &&
           number.getType().getIntOrFloatBitWidth() <= 64;
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValue().isFinite() &&
           number.getType().getIntOrFloatBitWidth() <= 64;
  if (auto text = dyn_cast<StringAttr>(value))
    return isText(text.getValue());
  if (auto array = dyn_cast<ArrayAttr>(value))
    return llvm::all_of(
        array, [&](Attribute element) { return isJson(element, depth + 1); });
  if (auto dictionary = dyn_cast<DictionaryAttr>(value))
    return llvm::all_of(dictionary, [&](NamedAttribute entry) {
      return isText(entry.getName()) && isJson(entry.getValue(), depth + 1);
    });
  return isa<UnitAttr, DenseI64ArrayAttr>(value);
}

bool tessera::dist::isJsonObject(const AttributeSite &, Attribute value) {
  return isa<DictionaryAttr>(value) && isJson(value, 0);
}

bool tessera::dist::isGlobalType(const AttributeSite &, Attribute value) {
  auto type = dyn_cast<TypeAttr>(value);
  auto tensor =
      type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
  return tensor && tensor.hasStaticShape() &&
         tensor.getElementType().isIntOrFloat();
}
