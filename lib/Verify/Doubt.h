//===- Doubt.h - what rounding may have decided -----------------*- C++ -*-===//
// Some values jump: ReLU's derivative where its input is 0, gates where two
// logits are equal. Where rounding carries an input across, two runs differ by
// the whole jump and both are right. A sum that leaves the range of f32 is
// infinite or NaN, as its order has it. f32 and bf16 leave these to f64.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_VERIFY_DOUBT_H
#define TESSERA_LIB_VERIFY_DOUBT_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

/// Inputs of a jump that two runs have on different sides of it, after a step
/// of training, or a value beyond the range of f32.
struct Doubt {
  int64_t step = 0;
  std::string input; ///< The value x; "": one that is not kept.
  /// The elements of x; empty if it is not kept.
  std::vector<int64_t> elements;
  /// The distance to which rounding may move x from the jump: from 0, or from
  /// the other elements of its row.
  double margin = 0;
  int64_t columns = 0; ///< Logits in a row; 0: x jumps at 0.
  /// x has an element of this size or more, whose sums may be infinite without
  /// f64; 0: not what the doubt is about.
  double beyond = 0;
};

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_DOUBT_H
