//===- NNProducts.cpp - einsum, add, broadcast ----------------------------===//

#include "tessera/Dialect/NN/NN.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;
using namespace tessera;
using namespace tessera::nn;
using dist::Padding;
using dist::Paddings;
using dist::Signature;

static bool contains(StringRef letters, char f) {
  return letters.find(f) != StringRef::npos;
}

static LogicalResult verifyFactors(Operation *op, StringRef letters,
                                   StringRef where) {
  for (size_t k = 1; k < letters.size(); ++k)
    if (contains(letters.take_front(k), letters[k]))
      return op->emitOpError()
             << "names factor '" << letters[k] << "' twice in " << where;
  return success();
}

/// A spec has a word of letters per operand and one for the result.
static LogicalResult verifySpec(Operation *op, StringRef spec) {
  Signature sig = Signature::parse(spec);
  auto isWord = [](StringRef word) {
    return llvm::all_of(word, [](char c) { return llvm::isAlpha(c); });
  };
  if (!spec.contains("->") || !isWord(sig.out) ||
      !llvm::all_of(sig.ins, isWord))
    return op->emitOpError() << "has the malformed spec '" << spec
                             << "'; write it as 'bsh,hf->bsf'";
  if (sig.ins.size() != op->getNumOperands())
    return op->emitOpError()
           << "has " << op->getNumOperands() << " operands, but its spec '"
           << spec << "' names " << sig.ins.size();
  for (const std::string &letters : sig.ins)
    if (failed(verifyFactors(op, letters, "one operand")))
      return failure();
  return verifyFactors(op, sig.out, "the result");
}

/// Checks that the op keeps all factors: only sums drop some.
static LogicalResult verifyKeepsFactors(Operation *op, const Signature &sig) {
  for (auto [k, letters] : llvm::enumerate(sig.ins))
    for (char f : letters)
      if (!contains(sig.out, f))
        return op->emitOpError() << "operand " << k << " has factor '" << f
                                 << "', which the result lacks; sum it with "
                                    "nn.einsum first";
  return success();
}

//===----------------------------------------------------------------------===//
// einsum
//===----------------------------------------------------------------------===//

Signature EinsumOp::getSignature(unsigned) {
  Signature sig = Signature::parse(getSpec()).linearInEach();
  // Chunks are scaled before they are added: exactly, by a power of 2.
  int exponent;
  sig.addsInChunks =
      std::abs(std::frexp(getScale().convertToDouble(), &exponent)) == 0.5;
  return sig;
}

Padding EinsumOp::getPadding(unsigned, char, Paddings p) {
  return dist::productOf(p);
}

Type EinsumOp::getResultElementType(unsigned) {
  return getElementType().value_or(
      getElementTypeOrSelf(getInputs()[0].getType()));
}

LogicalResult EinsumOp::verify() {
  if (failed(verifySpec(*this, getSpec())))
    return failure();
  if (getCompute() && !isContraction())
    return emitOpError() << "has compute = " << *getCompute()
                         << ", but is no matrix product; remove it";
  auto chunks = (*this)->getAttrOfType<DictionaryAttr>(
      dist::DistDialect::kChunkedSumsAttr);
  if (!chunks)
    return success();
  Signature sig = Signature::parse(getSpec());
  for (NamedAttribute chunk : chunks)
    if (StringRef factor = chunk.getName().strref();
        contains(sig.out, factor[0]) ||
        llvm::none_of(sig.ins, [&](const std::string &in) {
          return contains(in, factor[0]);
        }))
      return emitOpError() << "has chunks of factor '" << factor << "', which '"
                           << getSpec()
                           << "' does not add; name a factor of the operands "
                              "that is not in the result";
  return success();
}

bool EinsumOp::isContraction() {
  if (getInputs().size() != 2)
    return false;
  Signature sig = Signature::parse(getSpec());
  bool contracts = false, ownsLeft = false, ownsRight = false;
  for (char f : sig.ins[0]) {
    bool shared = contains(sig.ins[1], f), kept = contains(sig.out, f);
    contracts |= shared && !kept;
    ownsLeft |= !shared && kept;
  }
  for (char f : sig.ins[1])
    ownsRight |= !contains(sig.ins[0], f) && contains(sig.out, f);
  return contracts && ownsLeft && ownsRight;
}

void EinsumOp::setResultElementType(Type type) { setElementType(type); }

/// A sum adds in f32; an elementwise product of rounded values is as good as
/// its rounded result.
bool EinsumOp::mayRoundOperands(bool resultIsRounded) {
  if (isContraction())
    return true;
  Signature sig = Signature::parse(getSpec());
  bool sums = llvm::any_of(sig.ins, [&](const std::string &letters) {
    return letters.size() > sig.out.size();
  });
  return resultIsRounded && !sums;
}

void EinsumOp::setOperandRounding(Type type) { setCompute(type); }

/// Counts the multiply-adds over the product of all factors; a single operand
/// only adds.
int64_t EinsumOp::getFlops() {
  Signature sig = Signature::parse(getSpec());
  llvm::SmallDenseMap<char, int64_t> sizes;
  for (auto [letters, input] : llvm::zip(sig.ins, getInputs()))
    for (auto [f, n] :
         llvm::zip(letters, cast<RankedTensorType>(input.getType()).getShape()))
      sizes[f] = n;
  int64_t work = 1;
  for (auto [f, n] : sizes)
    work *= n;
  return getInputs().size() > 1 ? 2 * work : work;
}

/// The gradient of operand j multiplies the result's gradient with the other
/// operands. Factors that only operand j has are broadcast first.
void EinsumOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                             ArrayRef<bool> wanted,
                             MutableArrayRef<Value> operandGrads) {
  Signature sig = Signature::parse(getSpec());
  for (unsigned j = 0; j < getInputs().size(); ++j) {
    if (!wanted[j])
      continue;
    std::string spec = sig.out, others = sig.out;
    SmallVector<Value> operands = {resultGrads[0]};
    for (unsigned k = 0; k < getInputs().size(); ++k) {
      if (k == j)
        continue;
      spec += "," + sig.ins[k];
      others += sig.ins[k];
      operands.push_back(getInputs()[k]);
    }
    Value wrt = getInputs()[j];
    auto element = TypeAttr::get(getElementTypeOrSelf(wrt.getType()));
    bool lost =
        llvm::any_of(sig.ins[j], [&](char f) { return !contains(others, f); });
    if (!lost) {
      operandGrads[j] = nn::create<EinsumOp>(
          builder, getLoc(), builder.getStringAttr(spec + "->" + sig.ins[j]),
          operands, getScaleAttr(), element, getComputeAttr());
      continue;
    }
    // Only the gradient itself can be scaled and broadcast; a product with
    // further operands follows.
    std::string kept;
    for (char f : sig.ins[j])
      if (contains(others, f))
        kept += f;
    Value grad = nn::create<EinsumOp>(
        builder, getLoc(), builder.getStringAttr(spec + "->" + kept), operands,
        getScaleAttr(), element, getComputeAttr());
    operandGrads[j] = nn::create<BroadcastOp>(
        builder, getLoc(),
        builder.getStringAttr(kept + "," + sig.ins[j] + "->" + sig.ins[j]),
        grad, wrt);
  }
}

//===----------------------------------------------------------------------===//
// add
//===----------------------------------------------------------------------===//

Signature AddOp::getSignature(unsigned) {
  Signature sig = Signature::parse(getSpec()).linearInAll();
  sig.moves = getInputs().size() == 1 && getCoefficient(0) == 1.0 &&
              getElementTypeOrSelf(getInputs()[0].getType()) ==
                  getElementTypeOrSelf(getOutput().getType());
  return sig;
}

Padding AddOp::getPadding(unsigned, char, Paddings p) {
  return dist::sumOf(p, getCoefs().value_or(ArrayRef<double>()));
}

LogicalResult AddOp::verify() {
  if (failed(verifySpec(*this, getSpec())))
    return failure();
  if (getCoefs() && getCoefs()->size() != getInputs().size())
    return emitOpError() << "has " << getInputs().size() << " operands and "
                         << getCoefs()->size()
                         << " coefficients; give every operand one";
  return verifyKeepsFactors(*this, Signature::parse(getSpec()));
}

/// An operand's gradient is the result's, summed over the factors it lacks, in
/// the operand's element type.
void AddOp::buildBackward(OpBuilder &builder, ArrayRef<Value> resultGrads,
                          ArrayRef<bool> wanted,
                          MutableArrayRef<Value> operandGrads) {
  Signature sig = Signature::parse(getSpec());
  for (unsigned j = 0; j < getInputs().size(); ++j) {
    if (!wanted[j])
      continue;
    double coefficient = getCoefficient(j);
    Type element = getElementTypeOrSelf(getInputs()[j].getType());
    bool same = element == getElementTypeOrSelf(getOutput().getType());
    if (sig.ins[j] == sig.out && coefficient == 1.0 && same) {
      operandGrads[j] = resultGrads[0];
      continue;
    }
    operandGrads[j] = nn::create<EinsumOp>(
        builder, getLoc(), builder.getStringAttr(sig.out + "->" + sig.ins[j]),
        ValueRange(resultGrads[0]), builder.getF64FloatAttr(coefficient),
        TypeAttr::get(element));
  }
}

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

Signature BroadcastOp::getSignature(unsigned) {
  Signature sig = Signature::parse(getSpec());
  sig.linear = {{0}};
  sig.shapeOnly = {1};
  sig.moves = true;
  return sig;
}

Padding BroadcastOp::getPadding(unsigned, char, Paddings p) { return p[0]; }

LogicalResult BroadcastOp::verify() {
  if (failed(verifySpec(*this, getSpec())))
    return failure();
  Signature sig = Signature::parse(getSpec());
  if (sig.ins[1] != sig.out)
    return emitOpError() << "has a result of factors '" << sig.out
                         << "', but 'like' has '" << sig.ins[1]
                         << "'; they must be the same";
  return verifyKeepsFactors(*this, sig);
}
