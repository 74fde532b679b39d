//===- DescribeTensor.h - named buffers of the arena ------------*- C++ -*-===//

#ifndef TESSERA_LIB_TARGET_DESCRIBETENSOR_H
#define TESSERA_LIB_TARGET_DESCRIBETENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "tessera/Program/Program.h"

namespace tessera {

/// A named buffer of the arena.
struct TensorEntry {
  llvm::StringRef role, name;
  mlir::Value value;
  /// The type on all ranks together; null: each rank has all of the tensor.
  mlir::RankedTensorType global;
  mlir::DictionaryAttr attributes; ///< A parameter's init and shape in files.
  mlir::DictionaryAttr keep = {};  ///< A kept value's entry in rt.keep.
};

/// Returns the name of an element type in metadata; "" if artifacts do not know
/// it.
llvm::StringRef dtypeNameOf(mlir::Type type);
/// Describes all of a tensor but where it lies.
program::Tensor describeTensor(const TensorEntry &entry,
                               mlir::RankedTensorType global,
                               llvm::ArrayRef<int64_t> localShape);

} // namespace tessera

#endif // TESSERA_LIB_TARGET_DESCRIBETENSOR_H
