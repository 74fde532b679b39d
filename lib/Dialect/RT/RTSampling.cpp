//===- RTSampling.cpp - penalties and candidates on one rank --------------===//

#include "tessera/Dialect/RT/RT.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

OpOperand *PenalizeOp::getTiedOperand(unsigned) { return &getLogitsMutable(); }

LogicalResult TopOp::verify() {
  ArrayRef<int64_t> logits = shapeOf(getLogits()), lists = shapeOf(getResult());
  if (!getDraws() != !getSharpness())
    return emitOpError() << "draws with sharpness and draws; give both or none";
  int64_t numbers = getDraws() ? 3 : 2;
  bool isOfRows = logits.size() >= 2 && lists.size() == logits.size() + 1 &&
                  lists.drop_back(2) == logits.drop_back() &&
                  lists.back() == numbers;
  if (isOfRows)
    return success();
  return emitOpError() << "makes " << getType() << " of "
                       << getLogits().getType()
                       << "; each row has a list of candidates of " << numbers
                       << " numbers";
}

LogicalResult MergeTopOp::verify() {
  ArrayRef<int64_t> parts = shapeOf(getParts()), whole = shapeOf(getResult());
  bool isAlike = parts.size() == whole.size() && whole.size() >= 2 &&
                 whole.front() > 0 && parts.front() % whole.front() == 0 &&
                 parts.drop_front() == whole.drop_front() && whole.back() >= 2;
  if (isAlike)
    return success();
  return emitOpError() << "makes " << getType() << " of "
                       << getParts().getType()
                       << "; dimension 0 must be a part's, and all others must "
                          "be equal";
}
