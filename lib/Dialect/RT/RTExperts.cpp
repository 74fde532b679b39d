//===- RTExperts.cpp - routed rows ----------------------------------------===//

#include "lib/Dialect/RT/ShapeChecks.h"
#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

/// Counts the products of routed rows alone, where each expert gets the same
/// number of tokens.
int64_t RoutedOp::getFlops() {
  bool isProduct = getKind() == RoutedKind::Product ||
                   getKind() == RoutedKind::ProductGradWeight;
  if (!isProduct)
    return 0;
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  int64_t work = 2 * shapeOf(getInputs()[0]).back();
  Value other = getKind() == RoutedKind::Product ? getResult() : getInputs()[1];
  for (int64_t size : shapeOf(other))
    work *= size;
  return work / getTotal() * getK();
}

static LogicalResult verifyRouted(RoutedOp op) {
  ValueRange in = op.getInputs();
  switch (op.getKind()) {
  case RoutedKind::TopK:
    if (in[0].getType() == op.getType())
      return success();
    return op.emitOpError()
           << "makes gates " << op.getType() << " of logits " << in[0].getType()
           << "; the types must be the same";
  case RoutedKind::Dispatch:
    return verifyGates(op, op.getResult(), in[1]);
  case RoutedKind::CollectGradGates:
    return verifyGates(op, in[1], in[2]);
  case RoutedKind::Product:
    if (failed(verifyGates(op, op.getResult(), in[2])))
      return failure();
    return verifyGates(op, in[0], in[2]);
  case RoutedKind::ProductGradWeight:
    if (failed(verifyGates(op, in[1], in[2])))
      return failure();
    return verifyGates(op, in[0], in[2]);
  case RoutedKind::Collect:
    return verifyGates(op, in[0], in[1]);
  }
  return success();
}

LogicalResult RoutedOp::verify() {
  bool isTopK = getKind() == RoutedKind::TopK;
  bool isMove =
      getKind() == RoutedKind::Dispatch || getKind() == RoutedKind::Collect;
  size_t wanted = isTopK ? 1 : isMove ? 2 : 3;
  if (getInputs().size() != wanted)
    return emitOpError() << "has " << getInputs().size() << " inputs; '"
                         << stringifyRoutedKind(getKind()) << "' has "
                         << wanted;
  if (cast<RankedTensorType>(getInputs().back().getType()).getRank() == 0)
    return emitOpError() << "has gates of rank 0; they are [.., experts]";
  return verifyRouted(*this);
}
