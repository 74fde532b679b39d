//===- NNRules.cpp - the discardable attributes of nn ---------------------===//

#include "tessera/Dialect/Dist/AttributeRules.h"
#include "tessera/Dialect/NN/Adapters.h"
#include "tessera/Dialect/NN/ConfigFiles.h"
#include "tessera/Dialect/NN/Marks.h"
#include "tessera/Dialect/NN/NNProgram.h"
#include "tessera/Dialect/NN/Quantized.h"
#include "tessera/Dialect/NN/Trained.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;
using namespace tessera::nn;

/// Returns whether a string names dimensions. Inside a step the batch may be
/// cut into micro-batches by one more dimension, so passes compare ranks.
static bool areLetters(const AttributeSite &, Attribute value) {
  auto letters = dyn_cast<StringAttr>(value);
  return letters && llvm::all_of(letters.getValue(),
                                 [](char c) { return llvm::isAlpha(c); });
}

static bool isInit(const AttributeSite &site, Attribute value) {
  auto init = dyn_cast<DictionaryAttr>(value);
  Attribute kind = init ? init.get("kind") : nullptr;
  return kind && isName(site, kind) && isJsonObject(site, value);
}

/// Returns whether a value is a shape whose number of elements fits an i64.
static bool isFileShape(const AttributeSite &, Attribute value) {
  auto sizes = dyn_cast<ArrayAttr>(value);
  int64_t elements = 1;
  return sizes && llvm::all_of(sizes, [&](Attribute size) {
           auto number = dyn_cast<IntegerAttr>(size);
           return number && number.getType().isSignlessInteger(64) &&
                  number.getInt() > 0 &&
                  !llvm::MulOverflow(elements, number.getInt(), elements);
         });
}

/// Returns whether a value is a list of dimensions in order, none twice.
static bool areChannels(const AttributeSite &site, Attribute value) {
  if (!isListOfCounts(site, value))
    return false;
  auto dims = cast<DenseI64ArrayAttr>(value).asArrayRef();
  return llvm::is_sorted(dims, std::less_equal<>()) &&
         (dims.empty() || dims.back() < 64);
}

static bool isPhase(const AttributeSite &, Attribute value) {
  return isa<PhaseAttr>(value);
}

static bool isTag(const AttributeSite &, Attribute value) {
  return isa<TagAttr>(value);
}

/// Returns whether the op's first operand can be a gradient of that name.
static bool isGradientName(const AttributeSite &site, Attribute value) {
  return isName(site, value) && site.op->getNumOperands() > 0 &&
         isa<RankedTensorType>(site.op->getOperand(0).getType());
}

static bool isFormula(const AttributeSite &site, Attribute value) {
  auto formula = dyn_cast<DictionaryAttr>(value);
  auto names = [&](StringRef key) {
    auto list = formula.getAs<ArrayAttr>(key);
    return list && llvm::all_of(list, [&](Attribute name) {
             return isName(site, name);
           });
  };
  auto counts = [&](StringRef key) {
    Attribute count = formula.get(key);
    return count && isSmallCount(site, count);
  };
  if (site.place == OnModule)
    return formula && counts("replaced") && names("whole");
  Attribute of = formula ? formula.get("of") : nullptr;
  return isa<UnitAttr>(value) || (of && isName(site, of) && counts("results"));
}

/// Returns whether sizes and tokens are such that loops over them end, and
/// lists are of numbers.
static bool isModel(const AttributeSite &site, Attribute value) {
  return isJsonObject(site, value) &&
         llvm::all_of(cast<DictionaryAttr>(value), [&](NamedAttribute entry) {
           return !isa<IntegerAttr>(entry.getValue()) ||
                  isSmallCount(site, entry.getValue());
         });
}

static bool isGenerationName(const AttributeSite &, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  return name &&
         llvm::is_contained({kDecodeName, kMixedName, kScoreName, kEncodeName},
                            name.getValue());
}

static bool isAny(const AttributeSite &, Attribute) { return true; }

static LogicalResult verifyFiles(Operation *op, NamedAttribute files) {
  return verifyConfigFiles(op, files.getValue());
}

static const AttributeRule kRules[] = {
    {NNDialect::kParamAttr, OnArgument | OnResult, kName},
    {NNDialect::kDataAttr, OnArgument, kName},
    {NNDialect::kTableAttr, OnArgument, kName},
    {NNDialect::kDimsAttr,
     OnArgument | OnResult,
     {areLetters, "a string of letters"}},
    {NNDialect::kInitAttr,
     OnArgument,
     {isInit, "a dictionary with the string 'kind', of numbers, strings and "
              "arrays"}},
    {NNDialect::kFileShapeAttr,
     OnArgument,
     {isFileShape, "an array of positive i64, whose product is one"}},
    {NNDialect::kDecayAttr, OnArgument, kUnit},
    {kFrozenAttr, OnArgument, kUnit},
    {kScaleOfAttr, OnArgument, kName},
    {kChannelsAttr,
     OnArgument,
     {areChannels, "array<i64: ...> of dimensions in ascending order"}},
    {NNDialect::kRoleAttr, OnArgument | OnResult, kName},
    {NNDialect::kGradientOfAttr,
     OnOp,
     {isGradientName, "the name of a parameter, on an op whose first operand "
                      "is a tensor"}},
    {NNDialect::kTagAttr, OnOp, {isTag, "#nn.tag<...>"}},
    {NNDialect::kPhaseAttr, OnOp, {isPhase, "#nn.phase<...>"}},
    {kAdapterAttr, OnOp, kUnit},
    {kFormulaAttr,
     OnOp | OnModule,
     {isFormula, "without a value or {of = \"name\", results = number : i64}, "
                 "and on a module {replaced = number : i64, whole = [names]}"}},
    {NNDialect::kModelAttr,
     OnModule,
     {isModel, "a dictionary of strings, arrays and i64 from 0 to "
               "2147483647"}},
    {kConfigFilesAttr, OnModule, {isAny, ""}, verifyFiles},
    {kModelKeysAttr, OnModule, {isAny, ""}, verifyKeys},
    {kTrainingKeysAttr, OnModule, {isAny, ""}, verifyKeys},
    {kEvaluationAttr, OnFunction, kUnit},
    {kGenerationAttr,
     OnFunction,
     {isGenerationName, "\"decode\", \"mixed\", \"score\" or \"encode\""}},
    {kBesideAttr, OnFunction, kUnit},
};

LogicalResult NNDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  return verifyByRules(kRules, siteOf(op), attribute);
}

LogicalResult NNDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                  unsigned index,
                                                  NamedAttribute attribute) {
  return verifyByRules(kRules, siteOfArgument(op, index), attribute);
}

LogicalResult NNDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                     unsigned index,
                                                     NamedAttribute attribute) {
  return verifyByRules(kRules, siteOfResult(op, index), attribute);
}
