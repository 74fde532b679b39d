//===- Sum.cpp - totals of two --------------------------------------------===//

#include "tessera/Dialect/NN/Sum.h"
#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;

Value nn::sumOf(OpBuilder &builder, Location loc, Value a, Value b) {
  int64_t rank = cast<RankedTensorType>(a.getType()).getRank();
  std::string letters = dist::Signature::elementwise(rank, 1).out;
  return nn::create<AddOp>(
      builder, loc,
      builder.getStringAttr(letters + "," + letters + "->" + letters),
      ValueRange({a, b}), DenseF64ArrayAttr());
}
