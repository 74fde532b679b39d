//===- TableRows.cpp - rows of a table that a body chooses ----------------===//

#include "lib/Lower/Kernels/TableRows.h"
#include "lib/Lower/Kernels/KernelMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tessera/Partition/Factors.h"

using namespace mlir;
using namespace tessera;

Value tessera::rowOrZero(OpBuilder &b, Location loc, Value table, Value inside,
                         Value row) {
  Value safe = arith::SelectOp::create(b, loc, inside, row, i64(b, loc, 0));
  Value at = arith::IndexCastOp::create(b, loc, b.getIndexType(), safe);
  Value column = linalg::IndexOp::create(b, loc, 1);
  Value x = tensor::ExtractOp::create(b, loc, table, ValueRange{at, column});
  return zeroUnless(b, loc, inside, widen(b, loc, x));
}

Value tessera::shiftedRow(OpBuilder &b, Location loc, Value table, int64_t from,
                          int64_t to, Value shift) {
  Value fromRows = i64(b, loc, from), toRows = i64(b, loc, to);
  Value row = index64(b, loc, 0);
  Value at = arith::RemUIOp::create(b, loc, row, toRows);
  if (shift)
    at = arith::AddIOp::create(b, loc, at, shift);
  // Unsigned: a negative row is too large.
  Value inside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, at, fromRows);
  Value outer = arith::MulIOp::create(
      b, loc, arith::DivUIOp::create(b, loc, row, toRows), fromRows);
  return rowOrZero(b, loc, table, inside,
                   arith::AddIOp::create(b, loc, outer, at));
}
