//===- RTGemm.cpp - matrix products ---------------------------------------===//

#include "lib/Dialect/RT/DescribeCall.h"
#include "mlir/IR/TypeUtilities.h"
#include "tessera/Dialect/RT/RT.h"
#include "tessera/Dialect/RT/RowLayout.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

int64_t GemmOp::getFlops() { return 2 * getM() * getN() * getK(); }

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

OpOperand *GemmOp::getTiedOperand(unsigned result) {
  bool isTied = getResult(result) == getC() && getAccumulator();
  return isTied ? &getAccumulatorMutable()[0] : nullptr;
}

/// A leading dimension that is the width of the matrix says nothing of rows:
/// the product reads the operand as one piece.
int64_t GemmOp::getOperandStride(unsigned operand) {
  if (operand > 1)
    return 0;
  auto leading = static_cast<int64_t>(operand == 0 ? getLda() : getLdb());
  auto width = static_cast<int64_t>(operand == 0 ? getTransA() ? getM() : getK()
                                    : getTransB() ? getK()
                                                  : getN());
  return leading == width ? 0 : leading;
}

int64_t GemmOp::getResultStride(unsigned result) {
  bool isContiguous = getResult(result) != getC() || getLdc() == getN();
  return isContiguous ? 0 : getLdc();
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

/// A sum of an operand reads all of it once more.
static int64_t resultBytesOf(GemmOp op) {
  int64_t bytes = bytesOfAll(op->getResults());
  for (Value read : {op.getAccumulator(), op.getGeluInput()})
    bytes += read ? bytesOf(read) : 0;
  if (auto sums = op.getSumsOf())
    bytes += bytesOf(*sums == GemmOperand::A ? op.getA() : op.getB());
  return bytes;
}

void GemmOp::describe(program::Call &call) {
  describeCall(*this, call);
  call.kind = program::CallKind::Product;
  call.shape = {static_cast<int64_t>(getM()), static_cast<int64_t>(getN()),
                static_cast<int64_t>(getK())};
  call.bytes = 0;
  call.resultBytes = resultBytesOf(*this);
  using program::ProductForm;
  call.form = getTransA()   ? getTransB() ? ProductForm::TransposedBoth
                                          : ProductForm::TransposedA
              : getTransB() ? ProductForm::TransposedB
                            : ProductForm::Plain;
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

namespace {

/// A matrix of a product, as its attributes describe it.
struct MatrixForm {
  StringRef name;
  Value tensor;
  int64_t rows, columns, stride;
};

} // namespace

static LogicalResult verifyMatrix(Operation *op, const MatrixForm &matrix) {
  auto type = cast<RankedTensorType>(matrix.tensor.getType());
  if (type.hasStaticShape() &&
      type.getNumElements() != matrix.rows * matrix.columns)
    return op->emitOpError()
           << "has a matrix " << matrix.name << " of " << matrix.rows << " x "
           << matrix.columns << ", but its type is " << type;
  if (hasPaddedRows(type) && matrix.stride != rowStrideOf(type))
    return op->emitOpError()
           << "has ld" << matrix.name << " = " << matrix.stride
           << ", but rows of " << matrix.name << " lie " << rowStrideOf(type)
           << " elements apart, as its type " << type << " says";
  if (matrix.stride < matrix.columns)
    return op->emitOpError()
           << "has ld" << matrix.name << " = " << matrix.stride
           << ", but a row of " << matrix.name << " has " << matrix.columns
           << " elements; it must be at least that";
  return success();
}

/// Checks a tensor that the library reads or makes beside the product:
/// contiguous, in the type of c.
static LogicalResult verifyBeside(GemmOp op, StringRef name, Value tensor,
                                  int64_t elements) {
  if (!tensor)
    return success();
  auto type = cast<RankedTensorType>(tensor.getType());
  Type element = getElementTypeOrSelf(op.getC());
  if (type.getElementType() == element && !type.getEncoding() &&
      (!type.hasStaticShape() || type.getNumElements() == elements))
    return success();
  return op.emitOpError() << "has " << name << " of type " << type
                          << "; it must have " << elements
                          << " contiguous elements of " << element
                          << ", the type of c";
}

/// The library does one thing beside a product.
static LogicalResult verifyEpilogue(GemmOp op) {
  bool saves = !!op.getSaved(), isGrad = !!op.getGeluInput();
  bool sums = op.getSumsOf().has_value();
  if (sums != !!op.getSums())
    return op.emitOpError() << (sums ? "sums an operand, but has no result for "
                                       "the sums"
                                     : "has sums, but not of what; say "
                                       "summing a or summing b");
  int kinds = saves + isGrad + sums;
  if (kinds == 0)
    return success();
  if (kinds > 1)
    return op.emitOpError() << "does " << kinds
                            << " things of saving, gelu_grad and summing; it "
                               "can do one";
  if ((op.getBias() && !saves) || (op.getAccumulator() && !sums) ||
      op.getChunks())
    return op.emitOpError()
           << (saves    ? "saves the product, which has no accumulator"
               : isGrad ? "has gelu_grad, which has no bias, no accumulator"
                        : "sums an operand, which has no bias")
           << " and no chunks";
  int64_t matrix = op.getM() * op.getN();
  int64_t line =
      sums && *op.getSumsOf() == GemmOperand::A ? op.getM() : op.getN();
  return failure(
      failed(verifyBeside(op, "saved", op.getSaved(), matrix)) ||
      failed(verifyBeside(op, "gelu_grad", op.getGeluInput(), matrix)) ||
      failed(verifyBeside(op, "sums", op.getSums(), line)));
}

LogicalResult GemmOp::verify() {
  int64_t m = getM(), n = getN(), k = getK();
  bool transA = getTransA(), transB = getTransB();
  const MatrixForm matrices[] = {
      {"a", getA(), transA ? k : m, transA ? m : k, int64_t(getLda())},
      {"b", getB(), transB ? n : k, transB ? k : n, int64_t(getLdb())},
      {"c", getC(), m, n, int64_t(getLdc())}};
  for (const MatrixForm &matrix : matrices)
    if (failed(verifyMatrix(*this, matrix)))
      return failure();
  int64_t chunks = getChunks().value_or(1), outer = getOuter();
  if (chunks < 1 || outer < 1 || k % (chunks * outer) != 0)
    return emitOpError() << "adds " << k << " products in " << outer
                         << " times " << chunks
                         << " chunks; these must be equal";
  if (getAccumulator() && getAccumulator().getType() != getC().getType())
    return emitOpError() << "accumulates " << getC().getType() << " into "
                         << getAccumulator().getType()
                         << "; the types must be the same";
  return verifyEpilogue(*this);
}
