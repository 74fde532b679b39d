//===- RTRules.cpp - the discardable attributes of rt ---------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/Dist/AttributeRules.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Dialect/RT/OverStep.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/RTProgram.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;
using namespace tessera::rt;

//===----------------------------------------------------------------------===//
// Entries of results
//===----------------------------------------------------------------------===//

/// The keys that a dictionary may have, and what their values must be.
using Keys = ArrayRef<std::pair<StringRef, Requirement>>;

static bool haveKeys(const AttributeSite &site, DictionaryAttr entry,
                     Keys keys) {
  return llvm::all_of(entry, [&](NamedAttribute given) {
    return llvm::any_of(keys, [&](const auto &key) {
      return key.first == given.getName() &&
             key.second.holds(site, given.getValue());
    });
  });
}

/// Returns whether a value is an array of such dictionaries.
static bool areEntries(const AttributeSite &site, Attribute value, Keys keys) {
  auto entries = dyn_cast<ArrayAttr>(value);
  return entries && llvm::all_of(entries, [&](Attribute entry) {
           auto dictionary = dyn_cast<DictionaryAttr>(entry);
           return dictionary && haveKeys(site, dictionary, keys);
         });
}

static bool isStep(const AttributeSite &site, Attribute value) {
  auto step = dyn_cast<DictionaryAttr>(value);
  return step && haveKeys(site, step, {{"gradient", kName}, {"input", kName}});
}

static bool areKept(const AttributeSite &site, Attribute value) {
  return areEntries(site, value,
                    {{"name", kName},
                     {"global", kGlobalType},
                     {"step", {isStep, ""}},
                     {"choice", kName}});
}

static bool areRoles(const AttributeSite &site, Attribute value) {
  return areEntries(site, value,
                    {{nn::NNDialect::kRoleAttr, kName},
                     {nn::NNDialect::kParamAttr, kName},
                     {"global", kGlobalType}});
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static bool isStageNumber(const AttributeSite &site, Attribute value) {
  return isCount(site, value) &&
         cast<IntegerAttr>(value).getInt() < DistDialect::kMostRanks;
}

static bool isPositive(const AttributeSite &site, Attribute value) {
  return isSmallCount(site, value) && cast<IntegerAttr>(value).getInt() > 0;
}

/// Returns whether a value is a list of so many lists of counts each.
static bool areLists(const AttributeSite &site, Attribute value,
                     std::optional<int64_t> size) {
  auto lists = dyn_cast<ArrayAttr>(value);
  return lists && llvm::all_of(lists, [&](Attribute list) {
           return isListOfCounts(site, list) &&
                  (!size || cast<DenseI64ArrayAttr>(list).size() == *size);
         });
}

static bool arePairs(const AttributeSite &site, Attribute value) {
  return areLists(site, value, 2);
}

static bool areFrames(const AttributeSite &site, Attribute value) {
  return areLists(site, value, std::nullopt);
}

static bool isOrder(const AttributeSite &site, Attribute value) {
  if (!isListOfCounts(site, value))
    return false;
  auto numbers = cast<DenseI64ArrayAttr>(value).asArrayRef();
  return numbers.size() % 2 == 0 &&
         llvm::all_of(numbers, [](int64_t k) { return k <= INT32_MAX; });
}

static bool areKinds(const AttributeSite &site, Attribute value) {
  auto kinds = dyn_cast<DictionaryAttr>(value);
  return kinds && llvm::all_of(kinds, [&](NamedAttribute kind) {
           return isCount(site, kind.getValue());
         });
}

static bool isAny(const AttributeSite &, Attribute) { return true; }

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// Checks `v = {axes = ["tp"], chunks = array<i64: 4>, total = 7}`: axes of the
/// mesh, each with the size of its chunks.
static LogicalResult verifySpan(Operation *op, NamedAttribute factor) {
  auto entry = dyn_cast<DictionaryAttr>(factor.getValue());
  auto axes = entry ? entry.getAs<ArrayAttr>("axes") : nullptr;
  auto chunks = entry ? entry.getAs<DenseI64ArrayAttr>("chunks") : nullptr;
  auto total = entry ? entry.getAs<IntegerAttr>("total") : nullptr;
  bool isSpan =
      factor.getName().size() == 1 && axes && !axes.empty() &&
      llvm::all_of(axes, llvm::IsaPred<StringAttr>) && chunks &&
      chunks.size() == static_cast<int64_t>(axes.size()) &&
      llvm::all_of(chunks.asArrayRef(), [](int64_t n) { return n > 0; }) &&
      total && total.getType().isInteger(64) && total.getInt() > 0;
  if (!isSpan)
    return op->emitOpError()
           << "has '" << RTDialect::kFactorsAttr << "' = {"
           << factor.getName().getValue() << " = " << factor.getValue()
           << "}; it must be {axes = [\"axis\"], chunks = array<i64: size>, "
              "total = size : i64}, a size for each axis";
  return success();
}

static LogicalResult verifyFactors(Operation *op, NamedAttribute attribute) {
  auto factors = dyn_cast<DictionaryAttr>(attribute.getValue());
  if (!factors)
    return op->emitOpError() << "has '" << RTDialect::kFactorsAttr
                             << "', which must be a dictionary of factors";
  for (NamedAttribute factor : factors)
    if (failed(verifySpan(op, factor)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Emits an error unless an op may stand in a kernel. The op itself is not
/// verified yet.
static LogicalResult verifyInKernel(Operation *op) {
  if (!op->isRegistered())
    return op->emitError()
           << "'" << op->getName()
           << "' is no op of a kernel; its dialect is not known";
  return verifyTensors(op);
}

/// A kernel is a function of one block on tensors, or is only declared. The
/// function is not verified yet.
static LogicalResult verifyKernel(Operation *op, NamedAttribute) {
  auto kernel = dyn_cast<func::FuncOp>(op);
  if (!kernel || op->getNumRegions() != 1 || op->getRegion(0).empty())
    return success();
  if (!kernel.getBody().hasOneBlock())
    return op->emitError() << "is a kernel, which must have one block";
  for (Type type : kernel.getBody().getArgumentTypes())
    if (std::string why = refusalOfTensor(type); !why.empty())
      return op->emitError()
             << "has an argument of type " << type << "; " << why;
  for (Operation &inner : kernel.getBody().front()) {
    WalkResult walk = inner.walk([](Operation *each) {
      return failed(verifyInKernel(each)) ? WalkResult::interrupt()
                                          : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const AttributeRule kRules[] = {
    {RTDialect::kScheduleAttr, OnFunction, kName, verifyKernel},
    {RTDialect::kOffsetAttr, OnArgument, kCount},
    {RTDialect::kOffsetsAttr, OnOp, kListOfCounts},
    {RTDialect::kGlobalAttr, OnArgument | OnResult, kGlobalType},
    {RTDialect::kFactorsAttr, OnOp, {isAny, ""}, verifyFactors},
    {RTDialect::kKeepAttr,
     OnOp,
     {areKept, "an array of {name = \"name\", global = type}"}},
    {RTDialect::kRoleAttr,
     OnOp,
     {areRoles, "an array of {nn.role = \"role\", nn.param = \"name\"}"}},
    {RTDialect::kMayShareAttr,
     OnFunction,
     {arePairs, "an array of array<i64: argument, result>"}},
    {RTDialect::kFollowersAttr, OnOp, {isPositive, "a positive i64"}},
    {RTDialect::kStageAttr,
     OnFunction,
     {isStageNumber, "an i64 that counts stages from 0"}},
    {kStageAxisAttr, OnFunction, kName},
    {RTDialect::kOrderAttr,
     OnFunction,
     {isOrder,
      "array<i64: task, micro-batch, ...> of numbers up to 2147483647"}},
    {RTDialect::kFramesAttr,
     OnFunction,
     {areFrames, "an array of array<i64: offset, ...>"}},
    {RTDialect::kMicroBatchAttr, OnOp, kSmallCount},
    {kMessageAttr, OnOp, kName},
    {RTDialect::kMessagesAttr, OnModule, kCount},
    {RTDialect::kPipelineAttr, OnModule, kName},
    {RTDialect::kArenaAttr, OnFunction | OnModule, kCount},
    {RTDialect::kArenaByKindAttr,
     OnFunction | OnModule,
     {areKinds, "a dictionary of i64 that are not negative"}},
    {kArenaOverStepAttr, OnFunction | OnModule, kName},
    {kWorkspaceAttr, OnModule, kCount},
    {kOptionsAttr, OnModule, kJsonObject},
    {kReportAttr, OnModule, kJsonObject},
    {kMetadataAttr, OnModule, kName},
};

LogicalResult RTDialect::verifyOperationAttribute(Operation *op,
                                                  NamedAttribute attribute) {
  return verifyByRules(kRules, siteOf(op), attribute);
}

LogicalResult RTDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                  unsigned index,
                                                  NamedAttribute attribute) {
  return verifyByRules(kRules, siteOfArgument(op, index), attribute);
}

LogicalResult RTDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                     unsigned index,
                                                     NamedAttribute attribute) {
  return verifyByRules(kRules, siteOfResult(op, index), attribute);
}
