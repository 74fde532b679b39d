//===- Orthogonalize.cpp - the matrices of Muon ---------------------------===//

#include "lib/Train/Orthogonalize.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// Finding the parameters that are matrices
//===----------------------------------------------------------------------===//

namespace {

/// Returns whether all ops that read a value, through conversions, satisfy
/// `is`.
bool allReaders(Value value, function_ref<bool(Operation *)> is) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    auto convert = dyn_cast<dist::ConvertOp>(user);
    return convert ? allReaders(convert.getOutput(), is) : is(user);
  });
}

/// Returns the number of leading dimensions that the rows of the file are; 0 if
/// a row ends within a dimension, or the file holds no matrix.
unsigned rowDimsOf(ArrayRef<int64_t> shape, ArrayAttr fileShape) {
  if (!fileShape)
    return shape.size() == 2 ? 1 : 0;
  if (fileShape.size() != 2)
    return 0;
  int64_t rows = cast<IntegerAttr>(fileShape[0]).getInt(), product = 1;
  for (unsigned k = 0; k + 1 < shape.size(); ++k)
    if ((product *= shape[k]) == rows)
      return k + 1;
  return 0;
}

int64_t sizeOf(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<>());
}

} // namespace

FailureOr<std::optional<MatrixForm>> tessera::matrixFormOf(func::FuncOp func,
                                                           unsigned argument) {
  Value value = func.getArgument(argument);
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  auto name =
      func.getArgAttrOfType<StringAttr>(argument, nn::NNDialect::kParamAttr);
  auto dims =
      func.getArgAttrOfType<StringAttr>(argument, nn::NNDialect::kDimsAttr);
  auto isOfExperts = [](Operation *op) { return !isa<nn::ExpertLinearOp>(op); };
  if (!allReaders(value, isOfExperts))
    return func.emitError()
           << "--optimizer muon orthogonalizes matrices one by one, and '"
           << name.getValue() << "' holds those of " << shape[0]
           << " experts; use adamw, sgd or lion";
  unsigned rowDims =
      rowDimsOf(shape, func.getArgAttrOfType<ArrayAttr>(
                           argument, nn::NNDialect::kFileShapeAttr));
  bool isOutput = dims && dims.getValue().contains('v');
  auto isProduct = [](Operation *op) { return isa<nn::EinsumOp>(op); };
  if (rowDims == 0 || isOutput || !allReaders(value, isProduct))
    return std::optional<MatrixForm>();
  MatrixForm form;
  form.rowDims = rowDims;
  form.rows = sizeOf(shape.take_front(rowDims));
  form.columns = sizeOf(shape.drop_front(rowDims));
  // A square matrix may be summed over either side; the one that `tp` may split
  // needs no gather.
  bool mayBeSplit = dims && dims.getValue().take_front(rowDims).find_first_of(
                                "nfg") != StringRef::npos;
  form.multipliesRows =
      form.rows < form.columns || (form.rows == form.columns && !mayBeSplit);
  return std::optional<MatrixForm>(form);
}

//===----------------------------------------------------------------------===//
// Newton-Schulz
//===----------------------------------------------------------------------===//

namespace {

constexpr int kSteps = 5;
constexpr double kLinear = 3.4445, kCubic = -4.7750, kQuintic = 2.0315;
constexpr double kLeastNorm = 1e-7;

/// Letters of x, and of the products of its smaller side with itself.
class Iteration {
public:
  Iteration(OptimizerOps &ops, unsigned rank, const MatrixForm &form)
      : ops(ops), multipliesRows(form.multipliesRows) {
    std::string all = dist::Signature::elementwise(rank, 1).out;
    rows = all.substr(0, form.rowDims);
    columns = all.substr(form.rowDims);
    side = multipliesRows ? rows : columns;
    second = fresh(rank);
    third = fresh(rank + side.size());
  }

  Value step(Value x) {
    // Small: reduced once, it needs no more communication. Product by product
    // the fewest bytes would be slices of it, and then sums of the whole
    // matrix.
    Value gram = ops.reduced(multiply(x));
    Value squared =
        ops.product(side + second + "," + second + third + "->" + side + third,
                    {gram, gram});
    Value polynomial = ops.combined({gram, squared}, {kCubic, kQuintic});
    return ops.combined({x, apply(polynomial, x)}, {kLinear, 1});
  }

private:
  /// Returns as many letters as a side has, from a number on.
  std::string fresh(size_t first) const {
    std::string letters;
    for (size_t k = 0; k < side.size(); ++k)
      letters += static_cast<char>('a' + first + k);
    return letters;
  }

  /// Computes x x^T or x^T x.
  Value multiply(Value x) {
    std::string other = multipliesRows ? second + columns : rows + second;
    return ops.product(rows + columns + "," + other + "->" + side + second,
                       {x, x});
  }

  /// Computes p x or x p, for a symmetric p.
  Value apply(Value p, Value x) {
    std::string all = rows + columns;
    if (multipliesRows)
      return ops.product(rows + second + "," + second + columns + "->" + all,
                         {p, x});
    return ops.product(rows + second + "," + second + columns + "->" + all,
                       {x, p});
  }

  OptimizerOps &ops;
  bool multipliesRows;
  std::string rows, columns, side, second, third;
};

} // namespace

/// Returns how large rounding alone makes the gradient of one matrix, as a
/// share of the norm of all: a few terms as large as the largest are rounded
/// once each.
static double roundingOf(Value x) {
  constexpr double terms = 64;
  auto type = cast<FloatType>(getElementTypeOrSelf(x.getType()));
  return terms * std::ldexp(1.0, -static_cast<int>(type.getFPMantissaWidth()));
}

/// Computes 1 where the norm of a matrix is above the rounding of that of all,
/// else 0.
static Value hasDirection(OptimizerOps &ops, Value own, Value all, Value x) {
  Value above = ops.combined({own, all}, {1, -roundingOf(x)});
  return ops.map(nn::Function::Sign, ops.map(nn::Function::Relu, above));
}

Value tessera::orthogonalized(OptimizerOps &ops, Value x,
                              const MatrixForm &form, Value all) {
  std::string d = nn::lettersOf(x);
  Value norm =
      ops.map(nn::Function::Sqrt, ops.product(d + "," + d + "->", {x, x}));
  // 1 / max(norm, least): no singular value is above 1 then.
  Value factor = ops.map(nn::Function::ClipFactor, norm, kLeastNorm);
  factor = ops.product(",->", {factor, hasDirection(ops, norm, all, x)});
  x = ops.scaled(factor, x, 1 / kLeastNorm);
  Iteration iteration(ops, d.size(), form);
  for (int k = 0; k < kSteps; ++k)
    x = iteration.step(x);
  return x;
}
