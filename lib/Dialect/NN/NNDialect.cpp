//===- NNDialect.cpp - the nn dialect -------------------------------------===//

#include "mlir/IR/DialectImplementation.h"
#include "tessera/Dialect/NN/NN.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;

/// Reads a flag before other parameters: `causal, `.
static ParseResult parseCausal(AsmParser &parser, bool &causal) {
  causal = succeeded(parser.parseOptionalKeyword("causal"));
  return causal ? parser.parseComma() : success();
}

static void printCausal(AsmPrinter &printer, bool causal) {
  if (causal)
    printer << "causal, ";
}

static FailureOr<APFloat> parseF64(AsmParser &parser) {
  APFloat value(0.0);
  if (failed(parser.parseFloat(APFloat::IEEEdouble(), value)))
    return failure();
  return value;
}

#include "tessera/Dialect/NN/NNDialect.cpp.inc"
#include "tessera/Dialect/NN/NNEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "tessera/Dialect/NN/NNAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "tessera/Dialect/NN/NNOps.cpp.inc"

llvm::StringRef tessera::nn::partOf(Location location) {
  StringRef name;
  location->walk([&](Location inner) {
    auto named = dyn_cast<NameLoc>(inner);
    if (!named)
      return WalkResult::advance();
    name = named.getName().getValue();
    return WalkResult::interrupt();
  });
  return name;
}

void NNDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "tessera/Dialect/NN/NNOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tessera/Dialect/NN/NNAttrs.cpp.inc"
      >();
}

std::string tessera::nn::lettersOf(Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  return dist::Signature::elementwise(rank, 1).out;
}

Value tessera::nn::sumOf(OpBuilder &builder, Location loc, Value a, Value b) {
  int64_t rank = cast<RankedTensorType>(a.getType()).getRank();
  std::string letters = dist::Signature::elementwise(rank, 1).out;
  return nn::create<AddOp>(
      builder, loc,
      builder.getStringAttr(letters + "," + letters + "->" + letters),
      ValueRange({a, b}), DenseF64ArrayAttr());
}
