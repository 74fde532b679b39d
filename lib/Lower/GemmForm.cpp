//===- GemmForm.cpp - an einsum as one matrix product ---------------------===//

#include "lib/Lower/GemmForm.h"

using namespace mlir;
using namespace tessera;

namespace {

/// Letters of `from` that are (not) in `in`, in order.
std::string select(StringRef from, StringRef in, bool wanted) {
  std::string found;
  for (char f : from)
    if (in.contains(f) == wanted)
      found += f;
  return found;
}

int64_t sizeOf(StringRef factors, StringRef letters, Value operand) {
  auto shape = cast<RankedTensorType>(operand.getType()).getShape();
  int64_t size = 1;
  for (auto [f, n] : llvm::zip(letters, shape))
    if (factors.contains(f))
      size *= n;
  return size;
}

} // namespace

std::optional<GemmForm> tessera::gemmForm(nn::EinsumOp op) {
  dist::Signature sig = dist::Signature::parse(op.getSpec());
  GemmForm form;
  // The operand that owns the result's first factor gives the rows.
  if (!StringRef(sig.ins[0]).contains(sig.out[0]))
    std::swap(form.a, form.b);
  StringRef a = sig.ins[form.a], b = sig.ins[form.b];
  std::string k = select(a, b, true), m = select(a, b, false),
              n = select(b, a, false);
  bool fits = sig.out == m + n && (a == m + k || a == k + m) &&
              (b == k + n || b == n + k);
  if (!fits || !select(k, sig.out, true).empty() ||
      !op.getScale().isExactlyValue(1.0))
    return std::nullopt;
  Value va = op.getInputs()[form.a], vb = op.getInputs()[form.b];
  form.m = sizeOf(m, a, va);
  form.k = sizeOf(k, a, va);
  form.n = sizeOf(n, b, vb);
  form.transA = a != m + k;
  form.transB = b != k + n;
  form.nFactors = n;
  form.kFactors = k;
  for (char factor : k)
    form.kSizes.push_back(sizeOf(StringRef(&factor, 1), a, va));
  return form;
}
