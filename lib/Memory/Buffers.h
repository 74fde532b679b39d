//===- Buffers.h - which values share memory --------------------*- C++ -*-===//
// Groups the tensors of a lowered program into buffers by the alias rules of
// docs/MemoryPlan.md, and says where a rule cannot hold without a copy. Buffers
// whose positions overlap must not overlap in the arena.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_MEMORY_BUFFERS_H
#define TESSERA_LIB_MEMORY_BUFFERS_H

#include "lib/Memory/Liveness.h"
#include "tessera/Dialect/RT/RT.h"

namespace tessera::rt {

/// The place of a value in a buffer.
struct Place {
  unsigned buffer;
  int64_t offset; ///< Bytes from the buffer's start.
};

/// Values that share memory, and when it holds something that is needed.
struct Buffer {
  int64_t bytes = 0;
  int64_t begin = 0, end = 0;                ///< Positions, both included.
  llvm::SmallVector<mlir::Value, 2> members; ///< Empty: merged into another.
  mlir::BlockArgument argument; ///< The function argument that owns it.
};

/// An operand that breaks an alias rule.
struct Conflict {
  mlir::OpOperand *operand;
  std::string why;
  /// A copy right before the op, after the other copies there; or before them,
  /// where other values that the op takes are written over the operand.
  enum Remedy { CopyLast, CopyFirst, None } remedy = CopyLast;
};

class Buffers {
public:
  Buffers(mlir::func::FuncOp func, const Liveness &live);

  /// Places every value. Operands in conflict are treated as if they had been
  /// copied.
  llvm::SmallVector<Conflict> build();
  /// Lets launches write over inputs that die there.
  void shareDyingInputs();
  /// Keeps small inputs of launches of one kernel, which follow one another,
  /// until the last of these: their results then lie apart, and they may run at
  /// the same time (rt-batch-launches).
  void keepInputsOfNeighbours();

  llvm::ArrayRef<Buffer> all() const { return buffers; }
  Place placeOf(mlir::Value value) const { return places.at(value); }

private:
  void visit(mlir::Operation *op);
  void visitOperands(mlir::Operation *op);
  void visitResults(RuntimeCallOpInterface call);
  void visitView(ViewOp view);
  void visitConcat(ConcatOp concat);
  void visitLoop(LoopOp loop);
  void visitYield(LoopOp loop);
  void visitReturn();

  void add(mlir::Value value);
  void addTo(Place place, mlir::Value value);
  void merge(unsigned from, Place to);
  void keepInputs(llvm::ArrayRef<LaunchOp> neighbours);
  void shareAt(LaunchOp launch, mlir::OpResult result);
  std::string whyNotInPlace(mlir::OpOperand &operand) const;
  bool fillsBuffer(mlir::Value value) const;
  bool canTake(mlir::Value value, Place home, int64_t lastRead) const;
  bool mayWriteOver(mlir::Value first, Place home) const;
  bool isFreeSince(int64_t begin, mlir::Value value) const;
  int64_t lastReadInside(LoopOp loop, unsigned buffer) const;
  void report(mlir::OpOperand &operand, std::string why,
              Conflict::Remedy remedy = Conflict::CopyLast);

  mlir::func::FuncOp func;
  const Liveness &live;
  mlir::SymbolTable symbols;
  llvm::SmallVector<Buffer> buffers;
  llvm::DenseMap<mlir::Value, Place> places;
  /// Buffers that the loops around the visited op carry.
  llvm::DenseSet<unsigned> carried;
  llvm::SmallVector<Conflict> conflicts;
};

} // namespace tessera::rt

#endif // TESSERA_LIB_MEMORY_BUFFERS_H
