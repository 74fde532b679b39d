//===- KernelWriter.h - a group of ops as one kernel function ---*- C++ -*-===//

#ifndef TESSERA_LIB_LOWER_KERNELS_KERNELWRITER_H
#define TESSERA_LIB_LOWER_KERNELS_KERNELWRITER_H

#include "lib/Lower/Kernels/KernelGroups.h"
#include "tessera/Lower/Kernels/KernelOpInterface.h"
#include "tessera/Lower/Passes.h"
#include <map>

namespace tessera {

/// The form of a value in a kernel over R rows and C columns.
enum class ViewKind {
  Full,   ///< [R, C]
  Row,    ///< [R]
  Column, ///< [C]
  Scalar, ///< []
  Table,  ///< [V, C], read at a row given by an index
  Cycle   ///< [R', C], read at row mod R'
};

/// Builds the private function of a group: linalg ops over [rows, columns],
/// each nn op as one or two of them. Collects what the launch must pass.
class KernelWriter {
public:
  /// `outer` builds at the place of the launch; scalars are computed there.
  KernelWriter(KernelGroup &group, mlir::OpBuilder &outer,
               mlir::ModuleOp module);

  mlir::LogicalResult emit();

  mlir::func::FuncOp func;
  llvm::SmallVector<mlir::Value> inputs;  ///< Tensors of the launch.
  llvm::SmallVector<mlir::Value> scalars; ///< Scalars of the launch.
  llvm::SmallVector<mlir::Value> outputs; ///< Values the launch replaces.

private:
  class Scope;
  /// A value inside the kernel.
  struct View {
    mlir::Value tensor;
    ViewKind kind;
    int64_t cycle = 0; ///< Cycle: rows of the view.
  };

  /// An operand of a body.
  struct Operand {
    mlir::Value constant, table;
    int64_t cycle = 0; ///< Rows of the table, read in cycles.
    int argument = -1; ///< Number of the linalg op's argument.
  };

  void findOutputs();
  mlir::LogicalResult emitMember(const KernelMember &member);
  llvm::SmallVector<Operand>
  readOperands(const KernelMember &member,
               llvm::SmallVectorImpl<mlir::Value> &ins,
               llvm::SmallVectorImpl<mlir::AffineMap> &maps);
  static llvm::SmallVector<mlir::Value>
  scalarsOf(mlir::OpBuilder &builder, mlir::Location loc,
            llvm::ArrayRef<Operand> operands, mlir::ValueRange arguments);
  View operandView(const KernelMember &member, unsigned operand);
  ViewKind operandKind(const KernelMember &member, unsigned operand);
  ViewKind resultKind(const KernelMember &member);
  mlir::RankedTensorType viewType(ViewKind kind, mlir::Type element,
                                  int64_t cycle);
  View argument(mlir::Value outer, ViewKind kind, int64_t cycle);
  mlir::Value scalar(mlir::Value outer);
  mlir::AffineMap mapOf(ViewKind kind, bool perRow);
  mlir::Value initialValue(const KernelSpace &space,
                           mlir::RankedTensorType type, bool reduces);

  KernelGroup &group;
  mlir::OpBuilder &outer;
  mlir::OpBuilder builder;
  std::map<std::pair<void *, int>, View> views;
  llvm::DenseMap<mlir::Value, View> made;
  llvm::DenseMap<mlir::Value, mlir::Value> scalarArguments;
};

} // namespace tessera

#endif // TESSERA_LIB_LOWER_KERNELS_KERNELWRITER_H
