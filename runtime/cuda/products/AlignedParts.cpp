#include "runtime/cuda/products/AlignedParts.h"

#include "runtime/support/DType.h"
#include "tessera/abi.h"

#include <type_traits>

namespace tessera::cuda {

namespace {
/// Elements of bf16 in 16 bytes.
constexpr int64_t multiple = 8;

template <class Pointer>
Pointer advance(Pointer data, int64_t elements, int64_t dtype) {
  using Byte =
      std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>,
                         const char, char>;
  return data ? static_cast<Byte *>(data) +
                    elements * dtypeBytes(static_cast<int>(dtype))
              : nullptr;
}

/// Rows [first, first + count) of the result.
GemmProblem rowsOf(GemmProblem p, int64_t first, int64_t count) {
  p.a = advance(p.a, p.transA ? first : first * p.lda, p.dtypeAB);
  p.c = advance(p.c, first * p.ldc, p.dtypeC);
  p.m = count;
  return p;
}

GemmProblem columnsOf(GemmProblem p, int64_t first, int64_t count) {
  p.b = advance(p.b, p.transB ? first * p.ldb : first, p.dtypeAB);
  p.c = advance(p.c, first, p.dtypeC);
  p.bias = advance(p.bias, first, p.dtypeC);
  p.n = count;
  return p;
}

GemmProblem termsOf(GemmProblem p, int64_t first, int64_t count) {
  p.a = advance(p.a, p.transA ? first * p.lda : first, p.dtypeAB);
  p.b = advance(p.b, p.transB ? first : first * p.ldb, p.dtypeAB);
  p.k = count;
  return p;
}

/// Returns whether a size leaves a rest over a multiple.
bool leavesSome(int64_t size) { return size > multiple && size % multiple; }

int64_t mostAligned(int64_t size) { return size / multiple * multiple; }
} // namespace

std::vector<GemmProblem> piecesOf(const GemmProblem &p) {
  if (p.batch == 1 || p.strideC != 0)
    return alignedParts(p);
  std::vector<GemmProblem> pieces(p.batch, p);
  for (int64_t i = 0; i < p.batch; ++i) {
    pieces[i].batch = 1;
    pieces[i].a = advance(p.a, i * p.strideA, p.dtypeAB);
    pieces[i].b = advance(p.b, i * p.strideB, p.dtypeAB);
  }
  return pieces;
}

std::vector<GemmProblem> alignedParts(const GemmProblem &p,
                                      int64_t leastTerms) {
  bool isPlain = p.batch == 1 && !p.epilogue && !p.sumsOf;
  if (p.dtypeAB != TSR_DTYPE_BF16 || !isPlain || p.m * p.n * p.k < leastTerms)
    return {p};
  std::vector<GemmProblem> parts;
  GemmProblem rest = p;
  auto takeOff = [&](auto part, int64_t size) {
    parts.push_back(part(rest, mostAligned(size), size % multiple));
    rest = part(rest, 0, mostAligned(size));
  };
  if (leavesSome(p.n))
    takeOff(columnsOf, p.n);
  if (leavesSome(p.m))
    takeOff(rowsOf, p.m);
  if (leavesSome(p.k)) {
    takeOff(termsOf, p.k);
    rest.accumulate = true;
    rest.bias = nullptr;
  }
  parts.push_back(rest);
  return parts;
}

} // namespace tessera::cuda
