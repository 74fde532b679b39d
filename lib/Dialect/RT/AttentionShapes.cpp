//===- AttentionShapes.cpp - shapes that belong together ------------------===//

#include "lib/Dialect/RT/AttentionShapes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::rt;

static void printShape(InFlightDiagnostic &diag, ArrayRef<int64_t> shape) {
  llvm::interleave(
      shape, diag, [&](int64_t size) { diag << size; }, " x ");
}

LogicalResult tessera::rt::verifyShape(Operation *op, const NamedTensor &tensor,
                                       ArrayRef<int64_t> wanted) {
  if (tensor.shape() == wanted)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "has " << tensor.name << " of ";
  printShape(diag, tensor.shape());
  diag << "; beside the others it must be ";
  printShape(diag, wanted);
  return diag;
}

LogicalResult tessera::rt::verifyElementTypes(Operation *op,
                                              ArrayRef<NamedTensor> tensors) {
  Type wanted = getElementTypeOrSelf(tensors.front().value.getType());
  for (const NamedTensor &tensor : tensors.drop_front())
    if (Type found = getElementTypeOrSelf(tensor.value.getType());
        found != wanted)
      return op->emitOpError()
             << "has " << tensors.front().name << " of " << wanted << " but "
             << tensor.name << " of " << found << "; they must be of one type";
  return success();
}

LogicalResult tessera::rt::verifyStride(Operation *op,
                                        const NamedTensor &tensor,
                                        int64_t stride) {
  int64_t elements = 1;
  for (int64_t size : tensor.shape().drop_front(2))
    elements *= size;
  if (stride >= elements)
    return success();
  return op->emitOpError() << "has a row of " << tensor.name << " every "
                           << stride << " elements, but a row has " << elements
                           << "; use a stride of at least that";
}

/// Returns the shape [batch, keys, heads, head size] that keys must have beside
/// queries [batch, queries, heads.., head size]. Groups belong to heads of
/// keys.
static SmallVector<int64_t> keysOf(ArrayRef<int64_t> query, int64_t keys) {
  return {query[0], keys, query[2], query.back()};
}

/// Returns the shape [batch, heads.., queries] that lse must have.
static SmallVector<int64_t> lseOf(ArrayRef<int64_t> query) {
  SmallVector<int64_t> shape = {query[0]};
  llvm::append_range(shape, query.drop_front(2).drop_back());
  shape.push_back(query[1]);
  return shape;
}

/// Emits an error unless the table is [buckets, heads] and heads have no
/// groups.
static LogicalResult verifyBiasTable(Operation *op, Value table,
                                     ArrayRef<int64_t> query) {
  NamedTensor biases{"a table of biases", table};
  if (!table)
    return success();
  if (biases.shape().size() != 2 || query.size() != 4)
    return op->emitOpError()
           << "adds biases of a table of type " << table.getType()
           << "; it must be [buckets, heads], and heads must "
              "not be in groups";
  return verifyShape(op, biases, {biases.shape()[0], query[2]});
}

LogicalResult tessera::rt::verifyAttention(Operation *op,
                                           const AttentionShapes &shapes) {
  NamedTensor query{"queries", shapes.query}, key{"keys", shapes.key};
  NamedTensor value{"values", shapes.value};
  for (const NamedTensor &tensor : {query, key, value})
    if (size_t rank = tensor.shape().size();
        rank != 4 && (rank != 5 || tensor.value != shapes.query))
      return op->emitOpError()
             << "has " << tensor.name << " of rank " << rank
             << "; it must be 4: batch, sequence, heads, head size"
             << (tensor.value == shapes.query ? ", or 5 with groups of heads"
                                              : "");
  SmallVector<int64_t> wanted = keysOf(query.shape(), key.shape()[1]);
  if (failed(verifyShape(op, key, wanted)) ||
      failed(verifyShape(op, value, wanted)) ||
      failed(verifyElementTypes(op, {query, key, value})) ||
      failed(verifyShape(op, {"lse", shapes.lse}, lseOf(query.shape()))) ||
      failed(verifyBiasTable(op, shapes.biasTable, query.shape())))
    return failure();
  for (const NamedTensor &tensor : shapes.likeQuery)
    if (failed(verifyShape(op, tensor, query.shape())))
      return failure();
  for (const NamedTensor &tensor : shapes.likeKey)
    if (failed(verifyShape(op, tensor, wanted)))
      return failure();
  return success();
}
