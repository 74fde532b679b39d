//===- KernelWriter.h - a group of ops as one kernel function ---*- C++ -*-===//

#ifndef TESSERA_LIB_LOWER_KERNELS_KERNELWRITER_H
#define TESSERA_LIB_LOWER_KERNELS_KERNELWRITER_H

#include "lib/Lower/Kernels/KernelGroups.h"
#include "tessera/Dialect/NN/NN.h"
#include "tessera/Lower/Passes.h"
#include "tessera/Partition/Factors.h"
#include <map>

namespace tessera {

/// Builds the private function of a group: linalg ops over [rows, columns],
/// each nn op as one or two of them. Collects what the launch must pass.
class KernelWriter {
public:
  /// `outer` is where the launch will stand: scalars are computed there.
  KernelWriter(KernelGroup &group, mlir::OpBuilder &outer,
               mlir::ModuleOp module);

  mlir::LogicalResult emit();

  mlir::func::FuncOp func;
  llvm::SmallVector<mlir::Value> inputs;  ///< Tensors of the launch.
  llvm::SmallVector<mlir::Value> scalars; ///< Scalars of the launch.
  llvm::SmallVector<mlir::Value> outputs; ///< Values the launch replaces.

private:
  friend class OpBody;
  /// A value inside the kernel.
  struct View {
    mlir::Value tensor;
    ViewKind kind;
    int64_t cycle = 0; ///< Cycle: rows of the view.
  };

  void findOutputs();
  mlir::LogicalResult emitMember(const KernelMember &member);
  View operandView(const KernelMember &member, unsigned operand);
  ViewKind operandKind(const KernelMember &member, unsigned operand);
  ViewKind resultKind(const KernelMember &member);
  mlir::RankedTensorType viewType(ViewKind kind, mlir::Type element,
                                  int64_t cycle);
  View argument(mlir::Value outer, ViewKind kind, int64_t cycle);
  mlir::Value scalar(mlir::Value outer);
  mlir::AffineMap mapOf(ViewKind kind, bool perRow);
  mlir::Value startValue(mlir::Type type, double initial);

  KernelGroup &group;
  mlir::OpBuilder &outer;
  mlir::OpBuilder builder;
  std::map<std::pair<void *, int>, View> views;
  llvm::DenseMap<mlir::Value, View> made;
  llvm::DenseMap<mlir::Value, mlir::Value> scalarArguments;
};

/// Widens a bf16 scalar for computing; the identity for others.
mlir::Value widen(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value value);
/// Rounds a computed scalar to an element type.
mlir::Value narrow(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value value, mlir::Type type);
/// f(x) and f'(x) on a scalar (nn.map).
mlir::Value emitFunction(mlir::OpBuilder &builder, mlir::Location loc,
                         nn::Function function, mlir::Value x, double bound);
mlir::Value emitDerivative(mlir::OpBuilder &builder, mlir::Location loc,
                           nn::Function function, mlir::Value x);
/// First word of Philox4x32-10 for a 64-bit counter and key (i64), as i32.
mlir::Value emitPhilox(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value index, mlir::Value key);

} // namespace tessera

#endif // TESSERA_LIB_LOWER_KERNELS_KERNELWRITER_H
