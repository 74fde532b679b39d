//===- DistRules.cpp - the discardable attributes of dist -----------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tessera/Dialect/Dist/AttributeRules.h"
#include "tessera/Dialect/Dist/Dist.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

static bool isMesh(const AttributeSite &, Attribute value) {
  return isa<MeshAttr>(value);
}

static bool isPowerOfTwo(const AttributeSite &site, Attribute value) {
  return isSmallCount(site, value) &&
         llvm::isPowerOf2_64(cast<IntegerAttr>(value).getInt());
}

/// Schedules have tasks for each chunk.
static bool isChunk(const AttributeSite &site, Attribute value) {
  return isCount(site, value) && cast<IntegerAttr>(value).getInt() < (1 << 16);
}

/// Checks `{b = 8}`: at most one factor, and the number of chunks of its sum.
static bool isChunkedSum(const AttributeSite &site, Attribute value) {
  auto chunks = dyn_cast<DictionaryAttr>(value);
  return chunks && chunks.size() <= 1 &&
         llvm::all_of(chunks, [&](NamedAttribute entry) {
           return entry.getName().size() == 1 &&
                  isSmallCount(site, entry.getValue()) &&
                  cast<IntegerAttr>(entry.getValue()).getInt() > 0;
         });
}

/// Parameters and moments have zeros in their padding from step to step; a
/// program whose types state paddings must return them so.
static LogicalResult verifyAtRest(func::FuncOp func, MeshAttr mesh) {
  if (func->getNumRegions() != 1 || func->getRegion(0).empty() ||
      func.getBody().front().empty()) // it is not verified yet
    return success();
  Operation *ret = &func.getBody().front().back();
  for (auto [k, value] : llvm::enumerate(ret->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    for (int64_t dim : paddedDims(type, mesh))
      if (paddingOf(type, dim) != Padding::Zero)
        return ret->emitOpError()
               << "returns value " << k << " of type " << type
               << ", whose dimension " << dim << " has padding that holds "
               << stringifyPadding(paddingOf(type, dim))
               << "; what is kept from step to step must hold Z (zeros): mask "
                  "it with dist.mask";
  }
  return success();
}

/// Holds of modules, where the table lets `dist.masked` stand.
static LogicalResult verifyMasked(Operation *op, NamedAttribute) {
  auto module = cast<ModuleOp>(op);
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(verifyAtRest(func, meshOf(module))))
      return failure();
  return success();
}

static const AttributeRule kRules[] = {
    {DistDialect::kMeshAttr, OnModule, {isMesh, "#dist.mesh<...>"}},
    {DistDialect::kChunkAttr, OnOp, {isChunk, "an i64 from 0 to 65535"}},
    {DistDialect::kRingAttr, OnOp, kName},
    {DistDialect::kInvariantAttr, OnModule, {isPowerOfTwo, "a power of 2"}},
    {DistDialect::kChunkedSumsAttr,
     OnOp,
     {isChunkedSum, "{}, or {factor = chunks : i64} of a letter and a number "
                    "from 1 to 2147483647"}},
    {DistDialect::kMaskedAttr, OnModule, kUnit, verifyMasked},
};

LogicalResult DistDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  return verifyByRules(kRules, siteOf(op), attribute);
}

LogicalResult DistDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned index,
                                                    NamedAttribute attribute) {
  return verifyByRules(kRules, siteOfArgument(op, index), attribute);
}

LogicalResult DistDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  return verifyByRules(kRules, siteOfResult(op, index), attribute);
}
