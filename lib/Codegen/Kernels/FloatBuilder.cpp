//===- FloatBuilder.cpp - arithmetic on one f32 shape ---------------------===//

#include "lib/Codegen/Kernels/Polynomials.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tessera {

static Type withElement(Type shape, Type element) {
  auto shaped = dyn_cast<ShapedType>(shape);
  return shaped ? Type(shaped.clone(element)) : element;
}

FloatBuilder::FloatBuilder(OpBuilder &builder, Location loc, Type type)
    : builder(builder), loc(loc), type(type),
      intType(withElement(type, builder.getI32Type())) {}

static Value splat(OpBuilder &builder, Location loc, Type type,
                   TypedAttr value) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    value = DenseElementsAttr::get(shaped, Attribute(value));
  return arith::ConstantOp::create(builder, loc, value);
}

Value FloatBuilder::constant(float value) {
  return splat(builder, loc, type, builder.getF32FloatAttr(value));
}
Value FloatBuilder::integer(int32_t value) {
  return splat(builder, loc, intType, builder.getI32IntegerAttr(value));
}
Value FloatBuilder::add(Value a, Value b) {
  return arith::AddFOp::create(builder, loc, a, b);
}
Value FloatBuilder::sub(Value a, Value b) {
  return arith::SubFOp::create(builder, loc, a, b);
}
Value FloatBuilder::mul(Value a, Value b) {
  return arith::MulFOp::create(builder, loc, a, b);
}
Value FloatBuilder::div(Value a, Value b) {
  return arith::DivFOp::create(builder, loc, a, b);
}
Value FloatBuilder::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(builder, loc, a, b, c);
}
Value FloatBuilder::abs(Value a) {
  return math::AbsFOp::create(builder, loc, a);
}
Value FloatBuilder::copySign(Value magnitude, Value sign) {
  return math::CopySignOp::create(builder, loc, magnitude, sign);
}
Value FloatBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, predicate, a, b);
}
Value FloatBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}
Value FloatBuilder::atMost(Value a, float limit) {
  Value bound = constant(limit);
  return select(compare(arith::CmpFPredicate::OGT, a, bound), bound, a);
}
Value FloatBuilder::atLeast(Value a, float limit) {
  Value bound = constant(limit);
  return select(compare(arith::CmpFPredicate::OLT, a, bound), bound, a);
}
Value FloatBuilder::minimum(Value a, Value b) {
  return arith::MinimumFOp::create(builder, loc, a, b);
}
Value FloatBuilder::maximum(Value a, Value b) {
  return arith::MaximumFOp::create(builder, loc, a, b);
}

/// Computes each lane alone: the instruction has no vectors.
Value FloatBuilder::powerOfTwoOnGpu(Value a) {
  Type f32 = builder.getF32Type();
  auto power = [&](Value lane) {
    return LLVM::CallIntrinsicOp::create(
               builder, loc, f32, builder.getStringAttr(kPowerOfTwoIntrinsic),
               ValueRange{lane})
        .getResults();
  };
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return power(a);
  Value result = a;
  for (int64_t lane = 0; lane < vector.getNumElements(); ++lane) {
    Value element = vector::ExtractOp::create(builder, loc, a, lane);
    result =
        vector::InsertOp::create(builder, loc, power(element), result, lane);
  }
  return result;
}

Value FloatBuilder::toBits(Value a) {
  return arith::BitcastOp::create(builder, loc, intType, a);
}
Value FloatBuilder::fromBits(Value bits) {
  return arith::BitcastOp::create(builder, loc, type, bits);
}
Value FloatBuilder::toFloat(Value integer) {
  return arith::SIToFPOp::create(builder, loc, type, integer);
}

Value FloatBuilder::polynomial(Value x, ArrayRef<float> coefficients) {
  Value sum = constant(coefficients.back());
  for (float coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, constant(coefficient));
  return sum;
}

} // namespace tessera
