//===- Tensors.cpp - which tensors programs hold --------------------------===//

#include "tessera/Dialect/Dist/Tensors.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tessera::dist;

static bool isNumber(Type element) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element))
    return true;
  auto integer = dyn_cast<IntegerType>(element);
  return integer && integer.isSignless() &&
         llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
}

std::string tessera::dist::refusalOfTensor(Type type) {
  if (!isa<TensorType>(type))
    return "";
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor ||
      llvm::any_of(tensor.getShape(), [](int64_t size) { return size < 1; }))
    return "all sizes must be static and above 0";
  if (!isNumber(tensor.getElementType()))
    return "its elements must be f64, f32, bf16, f16 or integers of 1, 8, 16, "
           "32 or 64 bits";
  int64_t bytes = 8;
  for (int64_t size : tensor.getShape())
    if (llvm::MulOverflow(bytes, size, bytes) || bytes > kMostBytes)
      return "it must have at most " + std::to_string(kMostBytes / 8) +
             " elements; use smaller sizes";
  return "";
}

LogicalResult tessera::dist::verifyTensors(Operation *op) {
  auto check = [&](TypeRange types, StringRef what) -> LogicalResult {
    for (auto [k, type] : llvm::enumerate(types))
      if (std::string why = refusalOfTensor(type); !why.empty())
        return op->emitOpError()
               << what << " " << k << " has type " << type << "; " << why;
    return success();
  };
  return success(succeeded(check(op->getOperandTypes(), "operand")) &&
                 succeeded(check(op->getResultTypes(), "result")));
}
