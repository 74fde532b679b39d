//===- DistOps.cpp - the conversion op ------------------------------------===//

#include "tessera/Dialect/Dist/Dist.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::dist;

#include "tessera/Dialect/Dist/DistDialect.cpp.inc"
#include "tessera/Dialect/Dist/DistInterfaces.cpp.inc"
#define GET_OP_CLASSES
#include "tessera/Dialect/Dist/DistOps.cpp.inc"

void DistDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "tessera/Dialect/Dist/DistOps.cpp.inc"
      >();
}

State ConvertOp::getFrom() { return stateOf(getInput().getType(), getAxis()); }
State ConvertOp::getTo() { return stateOf(getOutput().getType(), getAxis()); }

void ConvertOp::build(OpBuilder &builder, OperationState &state, Value input,
                      StringRef axis, State to) {
  auto type = cast<RankedTensorType>(input.getType());
  const ConversionRow *row = findConversion(stateOf(type, axis), to);
  build(builder, state, withState(type, axis, to), input,
        row ? row->kind : ConversionKind::Enter, axis);
}

/// Returns the state that the conversion gives, and what padding holds then.
RankedTensorType ConvertOp::convertedType() {
  auto from = cast<RankedTensorType>(getInput().getType());
  RankedTensorType type = withState(from, getAxis(), getTo());
  if (!isMasked(*this))
    return type;
  return withPaddings(
      type, convertedPaddings(*this, paddingsOf(from), meshOf(*this)));
}

/// Says what to do about a conversion that the table lacks.
static std::string remedy(State from, State to) {
  if (from == to)
    return "it changes nothing: remove it";
  if (from.kind == State::A)
    return "a value at a stage goes to P, I or another stage first";
  if (to.kind == State::A)
    return "only I, R and a value at another stage can go to a stage";
  if (to.kind == State::M)
    return "only nn.max makes partial maxima";
  if (to.kind == State::L)
    return "only nn.cached_attention makes partial means";
  if (from.kind == State::L)
    return "a partial mean goes to I or S first";
  if (to.kind == State::C)
    return "only nn.top makes candidates";
  return "convert it to I first";
}

LogicalResult ConvertOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType());
  auto to = cast<RankedTensorType>(getOutput().getType());
  MeshAttr mesh = meshOf(*this);
  if (!mesh || mesh.getIndex(getAxis()) < 0)
    return emitOpError() << "converts on axis '" << getAxis()
                         << "', which the module's dist.mesh does not have";
  const ConversionRow *row = findConversion(getFrom(), getTo());
  if (!row)
    return emitOpError() << "has no conversion " << getFrom().str() << " -> "
                         << getTo().str() << " on axis '" << getAxis() << "'; "
                         << remedy(getFrom(), getTo());
  if (row->kind != getKind())
    return emitOpError() << "is called '" << stringifyConversionKind(getKind())
                         << "', but " << getFrom().str() << " -> "
                         << getTo().str() << " is '"
                         << stringifyConversionKind(row->kind) << "'";
  if (withPaddings(withState(from, getAxis(), getTo()), {}) !=
      withPaddings(to, {}))
    return emitOpError() << "changes more than axis '" << getAxis()
                         << "': " << from << " -> " << to;
  if (RankedTensorType type = convertedType(); !isWithin(type, to))
    return emitOpError() << "has result type " << to
                         << ", but its operand gives " << type;
  if (failed(verifyAxes(*this, from)) || failed(verifyAxes(*this, to)))
    return failure();
  for (RankedTensorType type : {from, to})
    if (std::string why = checkLevels(type); !why.empty())
      return emitOpError() << why;
  return success();
}

/// The backward of a -> b is dual(b) -> dual(a).
void ConvertOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> wanted,
                              MutableArrayRef<Value> operandGrads) {
  operandGrads[0] = ConvertOp::create(builder, getLoc(), resultGrads[0],
                                      getAxis(), dual(getFrom()));
}

//===----------------------------------------------------------------------===//
// mask
//===----------------------------------------------------------------------===//

Signature MaskOp::getSignature(unsigned) {
  auto type = cast<RankedTensorType>(getInput().getType());
  Signature sig = Signature::elementwise(type.getRank(), 1);
  if (getFill() != Padding::NegInfinity)
    sig.linearInAll();
  sig.moves = true;
  return sig;
}

/// A mask is more than a function of one factor's padding (maskedPaddings).
Padding MaskOp::getPadding(unsigned, char, Paddings operands) {
  return operands[0];
}

LogicalResult MaskOp::verify() {
  int64_t rank = cast<RankedTensorType>(getInput().getType()).getRank();
  if (getDim() >= static_cast<uint64_t>(rank))
    return emitOpError() << "cannot fill dimension " << getDim()
                         << " of a tensor of rank " << rank
                         << "; use one from 0 to " << rank - 1;
  return success();
}
