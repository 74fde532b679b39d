//===- ArgumentPlaces.h - where arguments of programs lie -------*- C++ -*-===//
#ifndef TESSERA_LIB_MEMORY_ARGUMENTPLACES_H
#define TESSERA_LIB_MEMORY_ARGUMENTPLACES_H

#include "lib/Memory/BufferKind.h"
#include "llvm/ADT/DenseMap.h"

namespace tessera::rt {

/// The places of the arguments of a rank's programs. An argument that several
/// have is at the same place, and no program's values lie over another's
/// arguments.
class ArgumentPlaces {
public:
  /// Places them. An error if two programs have an argument in different types.
  llvm::LogicalResult add(llvm::ArrayRef<mlir::func::FuncOp> programs);
  int64_t offsetOf(mlir::BlockArgument argument) const {
    return known.lookup(nameOf(argument)).offset;
  }
  int64_t bytes() const { return end; }
  const KindBytes &bytesByKind() const { return byKind; }

private:
  struct Known {
    mlir::BlockArgument argument;
    int64_t offset = 0;
  };
  static mlir::Attribute nameOf(mlir::BlockArgument argument);
  llvm::LogicalResult add(mlir::BlockArgument argument, BufferKind kind);

  llvm::DenseMap<mlir::Attribute, Known> known; ///< Keyed by name.
  int64_t end = 0;
  KindBytes byKind{};
};

} // namespace tessera::rt

#endif // TESSERA_LIB_MEMORY_ARGUMENTPLACES_H
