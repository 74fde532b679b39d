//===- OpBody.h - what an nn op computes per element ------------*- C++ -*-===//

#ifndef TESSERA_LIB_LOWER_KERNELS_OPBODY_H
#define TESSERA_LIB_LOWER_KERNELS_OPBODY_H

#include "lib/Lower/Kernels/KernelWriter.h"

namespace tessera {

/// The body of the linalg op of one member: operands are scalars in computing
/// precision (integers as they are). Reductions get the element to add or
/// compare.
class OpBody {
public:
  OpBody(KernelWriter &emitter, const KernelMember &member)
      : emitter(emitter), member(member), op(member.op) {}

  /// Computes the scalars that the body needs, as kernel arguments, before the
  /// linalg op is built.
  void prepare();
  mlir::Value emit(mlir::OpBuilder &builder, mlir::ValueRange operands);
  /// Is the reduction a maximum?
  bool isMaximum() const { return mlir::isa<nn::MaxOp>(op); }

private:
  mlir::Value columnIndex(mlir::OpBuilder &builder);
  mlir::Value globalIndex(mlir::OpBuilder &builder);
  mlir::Value isLabel(mlir::OpBuilder &builder, mlir::Value label);
  mlir::Value maskPadding(mlir::OpBuilder &builder, mlir::Value value,
                          double padding);
  mlir::Value lookUp(mlir::OpBuilder &builder, mlir::Value id);
  mlir::Value prefixRow(mlir::OpBuilder &builder);
  mlir::Value chunkStart(mlir::StringAttr axis, mlir::Type chunk, int64_t dim);
  mlir::Value shiftedRow(mlir::OpBuilder &builder, int64_t dim,
                         mlir::Value shift);
  mlir::Value sliceRow(mlir::OpBuilder &builder, rt::SliceOp slice);
  mlir::Value padRow(mlir::OpBuilder &builder, rt::PadOp pad);
  mlir::Value rowOrZero(mlir::OpBuilder &builder, mlir::Value inside,
                        mlir::Value row);
  mlir::Value rotate(mlir::OpBuilder &builder, nn::RopeOp rope);
  mlir::Value counts(mlir::OpBuilder &builder, nn::CountedOp counted,
                     mlir::Value label);
  mlir::Value dropout(mlir::OpBuilder &builder, nn::DropoutOp dropout,
                      mlir::Value x);
  mlir::Value adamw(mlir::OpBuilder &builder, nn::AdamWOp adam,
                    mlir::ValueRange operands);
  mlir::Value products(mlir::OpBuilder &builder, nn::EinsumOp einsum,
                       mlir::ValueRange operands);
  mlir::Value sums(mlir::OpBuilder &builder, nn::AddOp add,
                   mlir::ValueRange operands);

  KernelWriter &emitter;
  const KernelMember &member;
  mlir::Operation *op;
  mlir::Value start, valid, key, table, first, cosines, sines;
  llvm::SmallVector<mlir::Value> starts;
};

} // namespace tessera

#endif // TESSERA_LIB_LOWER_KERNELS_OPBODY_H
