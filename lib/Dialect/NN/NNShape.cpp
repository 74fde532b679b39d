//===- NNShape.cpp - stack, unstack, prefix -------------------------------===//

#include "tessera/Dialect/NN/NN.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Padding;
using dist::Paddings;
using dist::Signature;

/// Returns the letters of the stacked tensor; 'z' is the stacked dimension.
static std::string stackedLetters(int64_t rank, int64_t dim) {
  std::string letters = Signature::elementwise(rank - 1, 1).out;
  letters.insert(dim, "z");
  return letters;
}

Signature UnstackOp::getSignature(unsigned) {
  int64_t rank = cast<RankedTensorType>(getInput().getType()).getRank();
  Signature sig;
  sig.ins = {stackedLetters(rank, getDim())};
  sig.out = Signature::elementwise(rank - 1, 1).out;
  sig.whole = "z";
  sig.moves = true;
  return sig.linearInEach();
}

Padding UnstackOp::getPadding(unsigned, char, Paddings p) { return p[0]; }

LogicalResult UnstackOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  int64_t dim = getDim();
  if (dim < 0 || dim >= type.getRank())
    return emitOpError() << "cannot cut a tensor of rank " << type.getRank()
                         << " along dimension " << dim << "; use one from 0 to "
                         << type.getRank() - 1;
  if (type.getDimSize(getDim()) != static_cast<int64_t>(getNumResults()))
    return emitOpError() << "has " << getNumResults()
                         << " results, but dimension " << getDim()
                         << " has size " << type.getDimSize(getDim());
  return success();
}

bool UnstackOp::needsEveryGradient() { return true; }

void UnstackOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> wanted,
                              MutableArrayRef<Value> operandGrads) {
  operandGrads[0] =
      nn::create<StackOp>(builder, getLoc(), resultGrads, getDimAttr());
}

Signature StackOp::getSignature(unsigned) {
  int64_t rank = cast<RankedTensorType>(getInputs()[0].getType()).getRank();
  Signature sig = Signature::elementwise(rank, getInputs().size());
  sig.out = stackedLetters(rank + 1, getDim());
  sig.moves = true;
  return sig.linearInAll();
}

Padding StackOp::getPadding(unsigned, char, Paddings p) {
  return dist::joinOf(p);
}

LogicalResult StackOp::verify() {
  if (getInputs().empty())
    return emitOpError() << "has no operands; it needs at least 1";
  int64_t rank = cast<RankedTensorType>(getInputs()[0].getType()).getRank();
  int64_t dim = getDim();
  if (dim < 0 || dim > rank)
    return emitOpError() << "cannot stack tensors of rank " << rank
                         << " along dimension " << dim << "; use one from 0 to "
                         << rank;
  return success();
}

int64_t StackOp::getNewFactorSize(char factor) {
  return factor == 'z' ? static_cast<int64_t>(getInputs().size()) : -1;
}

//===----------------------------------------------------------------------===//
// prefix: x "ph" -> "sh"; only h can be split
//===----------------------------------------------------------------------===//

Signature PrefixOp::getSignature(unsigned) {
  Signature sig = Signature::parse("ph->sh");
  sig.whole = "ps";
  sig.moves = true;
  return sig.linearInEach();
}

Padding PrefixOp::getPadding(unsigned, char, Paddings p) { return p[0]; }

int64_t PrefixOp::getNewFactorSize(char factor) {
  return factor == 's' ? static_cast<int64_t>(getRows()) : -1;
}

LogicalResult PrefixOp::verify() {
  int64_t rows = cast<RankedTensorType>(getInput().getType()).getDimSize(0);
  int64_t taken = getRows();
  if (taken < 1 || taken > rows)
    return emitOpError() << "takes " << taken << " rows of " << rows
                         << "; it must take at least 1 and at most " << rows;
  return success();
}

void PrefixOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                             ArrayRef<bool> wanted,
                             MutableArrayRef<Value> operandGrads) {
  if (wanted[0])
    operandGrads[0] =
        nn::create<PrefixGradOp>(builder, getLoc(), resultGrads[0], getInput());
}

Signature PrefixGradOp::getSignature(unsigned) {
  Signature sig = Signature::parse("sh,ph->ph");
  sig.whole = "ps";
  sig.linear = {{0}};
  sig.shapeOnly = {1};
  sig.moves = true;
  return sig;
}

Padding PrefixGradOp::getPadding(unsigned, char, Paddings p) { return p[0]; }
