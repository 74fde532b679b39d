//===- Polynomials.h - f32 functions from arithmetic ------------*- C++ -*-===//
// Builds exp, log, tanh, erf, cos and sin of f32 scalars or vectors: range
// reduction (Cody and Waite 1980), then a polynomial interpolated at Chebyshev
// nodes of its interval; errors were measured in
// test/Codegen/Kernels/MathTest.cpp.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_CODEGEN_KERNELS_POLYNOMIALS_H
#define TESSERA_LIB_CODEGEN_KERNELS_POLYNOMIALS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tessera {

constexpr llvm::StringLiteral kPowerOfTwoIntrinsic =
    "llvm.nvvm.ex2.approx.ftz.f32";

/// Arithmetic on values of one f32 shape.
class FloatBuilder {
public:
  FloatBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type);

  mlir::Value constant(float value);
  mlir::Value integer(int32_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value abs(mlir::Value a);
  mlir::Value copySign(mlir::Value magnitude, mlir::Value sign);
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                      mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// A NaN stays one.
  mlir::Value atMost(mlir::Value a, float limit);
  mlir::Value atLeast(mlir::Value a, float limit);
  /// A NaN stays one.
  mlir::Value minimum(mlir::Value a, mlir::Value b);
  mlir::Value maximum(mlir::Value a, mlir::Value b);
  /// Returns an NVIDIA GPU's ex2.approx.ftz: 2^a with an error of 2 ulp, and 0
  /// for what is below the smallest normal number.
  mlir::Value powerOfTwoOnGpu(mlir::Value a);
  mlir::Value toBits(mlir::Value a);
  mlir::Value fromBits(mlir::Value bits);
  mlir::Value toFloat(mlir::Value integer);
  template <typename Op> mlir::Value onBits(mlir::Value a, mlir::Value b) {
    return Op::create(builder, loc, a, b);
  }
  /// Evaluates a polynomial by Horner's rule; coefficients start with the
  /// constant term.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<float> coefficients);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type type, intType;
};

mlir::Value emitExp(FloatBuilder &b, mlir::Value x);
/// Emits exp with the GPU's instruction for powers of two: exact to 4 ulp where
/// it is a normal number, and 0 below.
mlir::Value emitExpOnGpu(FloatBuilder &b, mlir::Value x);
mlir::Value emitLog(FloatBuilder &b, mlir::Value x);
mlir::Value emitTanh(FloatBuilder &b, mlir::Value x);
mlir::Value emitTanhPlusOne(FloatBuilder &b, mlir::Value x);
mlir::Value emitErf(FloatBuilder &b, mlir::Value x);
/// These are accurate for |x| up to 1e5; the error is 1e-7 absolute.
mlir::Value emitCos(FloatBuilder &b, mlir::Value x);
mlir::Value emitSin(FloatBuilder &b, mlir::Value x);

} // namespace tessera

#endif // TESSERA_LIB_CODEGEN_KERNELS_POLYNOMIALS_H
