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
        row ? StringRef(row->how) : StringRef("none"), axis);
}

/// `dist.convert all_reduce %x on "tp" : type -> type`
ParseResult ConvertOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef how;
  OpAsmParser::UnresolvedOperand input;
  StringAttr axis;
  Type from, to;
  if (parser.parseKeyword(&how) || parser.parseOperand(input) ||
      parser.parseKeyword("on") ||
      parser.parseAttribute(axis, parser.getBuilder().getNoneType()) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      parser.parseType(from) || parser.parseArrow() || parser.parseType(to) ||
      parser.resolveOperand(input, from, result.operands))
    return failure();
  result.addAttribute("how", parser.getBuilder().getStringAttr(how));
  result.addAttribute("axis", axis);
  result.addTypes(to);
  return success();
}

void ConvertOp::print(OpAsmPrinter &printer) {
  printer << " " << getHow() << " " << getInput() << " on " << getAxisAttr();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"how", "axis"});
  printer << " : " << getInput().getType() << " -> " << getOutput().getType();
}

/// What to do about a conversion that the table lacks.
static std::string remedy(State from, State to) {
  if (from == to)
    return "it changes nothing: remove it";
  if (from.kind == State::A)
    return "a value at a stage goes to P, I or another stage first";
  if (to.kind == State::A)
    return "only I, R and a value at another stage can go to a stage";
  if (to.kind == State::M)
    return "only nn.max makes partial maxima";
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
  if (row->how != getHow())
    return emitOpError() << "is called '" << getHow() << "', but "
                         << getFrom().str() << " -> " << getTo().str()
                         << " is '" << row->how << "'";
  if (withState(from, getAxis(), getTo()) != to)
    return emitOpError() << "changes more than axis '" << getAxis()
                         << "': " << from << " -> " << to;
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
