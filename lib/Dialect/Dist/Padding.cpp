//===- Padding.cpp - what the padding of uneven shards holds --------------===//

#include "tessera/Dialect/Dist/Padding.h"
#include "tessera/Dialect/Dist/Dist.h"
#include "tessera/Dialect/Dist/LocalShape.h"

using namespace mlir;
using namespace tessera::dist;

bool tessera::dist::isWithin(Padding small, Padding large) {
  return small == large || large == Padding::Any ||
         (small == Padding::Zero && large == Padding::Finite);
}

//===----------------------------------------------------------------------===//
// The padding of results
//===----------------------------------------------------------------------===//

Padding tessera::dist::joinOf(Paddings choices) {
  Padding joined = choices.front();
  for (Padding choice : choices.drop_front()) {
    if (isWithin(choice, joined))
      continue;
    joined = isWithin(joined, choice) ? choice : Padding::Any;
  }
  return joined;
}

Padding tessera::dist::productOf(Paddings factors) {
  if (llvm::is_contained(factors, Padding::Any) ||
      llvm::is_contained(factors, Padding::NegInfinity))
    return Padding::Any;
  return llvm::is_contained(factors, Padding::Zero) ? Padding::Zero
                                                    : Padding::Finite;
}

Padding tessera::dist::sumOf(Paddings terms, ArrayRef<double> coefficients) {
  bool hasNegInfinity = false;
  for (auto [k, term] : llvm::enumerate(terms)) {
    bool isInfinite = term == Padding::NegInfinity;
    hasNegInfinity |= isInfinite;
    if (term == Padding::Any ||
        (isInfinite && !coefficients.empty() && coefficients[k] <= 0))
      return Padding::Any;
  }
  return hasNegInfinity ? Padding::NegInfinity : joinOf(terms);
}

Padding tessera::dist::finiteOf(Paddings operands) {
  return productOf(operands) == Padding::Any ? Padding::Any : Padding::Finite;
}

/// Returns the padding of a selected value. If the gate's is unknown, nothing
/// is known: where the paddings of two dimensions meet, the gate may be
/// anything even if it is 0 in one of them.
Padding tessera::dist::selectOf(Padding gate, Padding value) {
  if (productOf(gate) == Padding::Any)
    return Padding::Any;
  return gate == Padding::Zero ? Padding::Zero : productOf(value);
}

Padding tessera::dist::throughOf(StringRef table, Padding padding) {
  if (padding == Padding::Any)
    return Padding::Any;
  return *symbolizePadding(table.substr(static_cast<size_t>(padding), 1));
}

/// Settles the padding of an element that is in the padding of several
/// dimensions, like a product's. Zeros and -inf never stand side by side.
static void settle(DimPaddings &paddings) {
  bool hasZero = llvm::any_of(
      paddings, [](auto &p) { return p.padding == Padding::Zero; });
  for (DimPadding &p : paddings)
    if (hasZero && p.padding == Padding::NegInfinity)
      p.padding = Padding::Any;
}

//===----------------------------------------------------------------------===//
// Padding in types
//===----------------------------------------------------------------------===//

bool tessera::dist::isPadded(RankedTensorType type, int64_t dim,
                             MeshAttr mesh) {
  int64_t size = type.getDimSize(dim), ranks = 1;
  for (StringAttr axis : axesOf(type, dim)) {
    size = llvm::divideCeil(size, mesh.getSize(axis));
    ranks *= mesh.getSize(axis);
  }
  return size * ranks != type.getDimSize(dim);
}

SmallVector<int64_t> tessera::dist::paddedDims(RankedTensorType type,
                                               MeshAttr mesh) {
  SmallVector<int64_t> dims;
  if (!mesh || !type.getEncoding())
    return dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (isPadded(type, dim, mesh))
      dims.push_back(dim);
  return dims;
}

Padding tessera::dist::paddingIn(ArrayRef<DimPadding> paddings, int64_t dim) {
  for (const DimPadding &p : paddings)
    if (p.dim == dim)
      return p.padding;
  return Padding::Any;
}

ArrayRef<DimPadding> tessera::dist::paddingsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto sharding =
      tensor ? dyn_cast_or_null<ShardingAttr>(tensor.getEncoding()) : nullptr;
  return sharding ? sharding.getPaddings() : ArrayRef<DimPadding>();
}

Padding tessera::dist::paddingOf(Type type, int64_t dim) {
  return paddingIn(paddingsOf(type), dim);
}

/// A dimension that is not named holds anything, so equal types have equal
/// paddings.
RankedTensorType tessera::dist::withPaddings(RankedTensorType type,
                                             ArrayRef<DimPadding> paddings) {
  auto sharding = dyn_cast_or_null<ShardingAttr>(type.getEncoding());
  if (!sharding)
    return type;
  DimPaddings known;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (Padding p = paddingIn(paddings, dim);
        p != Padding::Any && !axesOf(type, dim).empty())
      known.push_back({dim, p});
  return RankedTensorType::get(
      type.getShape(), type.getElementType(),
      ShardingAttr::get(type.getContext(), sharding.getStates(), known));
}

bool tessera::dist::isWithin(Type small, Type large) {
  if (small == large)
    return true;
  auto left = dyn_cast<RankedTensorType>(small);
  auto right = dyn_cast<RankedTensorType>(large);
  if (!left || !right || withPaddings(left, {}) != withPaddings(right, {}))
    return false;
  for (const DimPadding &p : paddingsOf(right))
    if (!isWithin(paddingOf(left, p.dim), p.padding))
      return false;
  return true;
}

bool tessera::dist::isMasked(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  return module && module->hasAttr(DistDialect::kMaskedAttr);
}

//===----------------------------------------------------------------------===//
// Results of ops
//===----------------------------------------------------------------------===//

namespace {

/// One op, as its result sees the paddings of its operands.
class PaddingRule {
public:
  PaddingRule(DistributableOpInterface op, unsigned result,
              OperandPaddings operands)
      : op(op), result(result), operands(operands),
        sig(op.getSignature(result)) {}

  std::optional<DimPaddings> infer(MeshAttr mesh, std::string &why);

private:
  bool reads(unsigned operand) const {
    return sig.reads(operand) && !llvm::is_contained(sig.shapeOnly, operand);
  }
  SmallVector<Padding> statesOf(char factor) const;
  std::string refusal(char factor, Padding found) const;

  DistributableOpInterface op;
  unsigned result;
  OperandPaddings operands;
  Signature sig;
};

/// An operand without the factor holds numbers, and not zeros.
SmallVector<Padding> PaddingRule::statesOf(char factor) const {
  SmallVector<Padding> states(sig.ins.size(), Padding::Finite);
  for (auto [k, letters] : llvm::enumerate(sig.ins))
    if (size_t dim = letters.find(factor); dim != std::string::npos && reads(k))
      states[k] = paddingIn(operands[k], dim);
  return states;
}

std::string PaddingRule::refusal(char factor, Padding found) const {
  bool isMaximum = sig.reduces == State::M;
  std::string text = "contracts factor '";
  text += factor;
  text += "' over padding that holds ";
  text += stringifyPadding(found);
  text += isMaximum ? ", but only N (-inf) leaves a maximum as it is"
                    : ", but only Z (zeros) adds nothing";
  return text + "; mask an operand with dist.mask";
}

std::optional<DimPaddings> PaddingRule::infer(MeshAttr mesh, std::string &why) {
  std::string seen;
  DimPaddings found;
  for (auto [k, letters] : llvm::enumerate(sig.ins)) {
    auto type = cast<RankedTensorType>(op->getOperand(k).getType());
    for (int64_t dim : paddedDims(type, mesh)) {
      char factor = letters[dim];
      if (seen.find(factor) != std::string::npos)
        continue;
      seen += factor;
      Padding padding = op.getPadding(result, factor, statesOf(factor));
      size_t place = sig.out.find(factor);
      if (place != std::string::npos) {
        found.push_back({static_cast<int64_t>(place), padding});
        continue;
      }
      // Means and candidates are of what their op reads, which is no padding.
      Padding neutral =
          sig.reduces == State::M ? Padding::NegInfinity : Padding::Zero;
      if (padding == neutral || sig.reduces == State::L ||
          sig.reduces == State::C)
        continue;
      why = refusal(factor, padding);
      return std::nullopt;
    }
  }
  settle(found);
  return found;
}

} // namespace

std::optional<DimPaddings>
tessera::dist::inferPaddings(Operation *op, unsigned result,
                             OperandPaddings operands, MeshAttr mesh,
                             std::string &why) {
  if (auto convert = dyn_cast<ConvertOp>(op))
    return convertedPaddings(convert, operands[0], mesh);
  if (auto mask = dyn_cast<MaskOp>(op))
    return maskedPaddings(operands[0], mask.getDim(), mask.getFill());
  return PaddingRule(cast<DistributableOpInterface>(op), result, operands)
      .infer(mesh, why);
}

/// A slice and a reduce-scatter fill new padding with zeros, a gather cuts
/// padding off. Zeros that other ranks add leave no -inf.
DimPaddings tessera::dist::convertedPaddings(ConvertOp op,
                                             ArrayRef<DimPadding> input,
                                             MeshAttr mesh) {
  auto before = cast<RankedTensorType>(op.getInput().getType());
  auto after = cast<RankedTensorType>(op.getOutput().getType());
  State from = op.getFrom(), to = op.getTo();
  bool isPartial =
      from.kind == State::P || from.kind == State::L || to.kind == State::P;
  DimPaddings result;
  for (int64_t dim : paddedDims(after, mesh)) {
    std::optional<Padding> padding;
    if (isPadded(before, dim, mesh)) {
      padding = paddingIn(input, dim);
      if (*padding == Padding::NegInfinity && isPartial)
        padding = Padding::Any;
    }
    bool isNew = to.isSharded() && to.where == dim;
    bool isSpread =
        from.isSharded() && from.where == dim && to.kind == State::P;
    if (isNew || isSpread)
      padding = padding ? joinOf({Padding::Zero, *padding}) : Padding::Zero;
    result.push_back({dim, padding.value_or(Padding::Any)});
  }
  settle(result);
  return result;
}

/// Returns what a dimension still says once another one was filled: where the
/// paddings of both meet, the fill stands now.
static Padding weakened(Padding padding, Padding fill) {
  bool isZero = padding == Padding::Zero;
  bool isNegInfinity = padding == Padding::NegInfinity;
  if (isZero && (fill == Padding::NegInfinity || fill == Padding::Finite))
    return Padding::Finite;
  if (isNegInfinity && (fill == Padding::Zero || fill == Padding::Finite))
    return Padding::Any;
  return padding;
}

DimPaddings tessera::dist::maskedPaddings(ArrayRef<DimPadding> input,
                                          int64_t dim, Padding fill) {
  DimPaddings result = {{dim, fill}};
  for (const DimPadding &p : input)
    if (p.dim != dim)
      result.push_back({p.dim, weakened(p.padding, fill)});
  return result;
}
