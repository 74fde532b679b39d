//===- ProgramCall.h - one call of a compiled program -----------*- C++ -*-===//
// The compiler describes each op that runs as a call, and tools that read an
// artifact get the same description back: what a call is, in enums and numbers.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PROGRAM_PROGRAMCALL_H
#define TESSERA_PROGRAM_PROGRAMCALL_H

#include "tessera/Options/LayerRecompute.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tessera::program {

/// The part of the training step that a call belongs to.
enum class Phase { Forward, Backward, Recompute, Optimizer };

enum class CallKind {
  Kernel,            ///< Bound by memory: kernels, copies, optimizers.
  Product,           ///< A matrix product.
  Attention,         ///< Forward.
  AttentionGradient, ///< Backward.
  Collective,        ///< All ranks of a group take part.
  Send,
  Receive,
  Wait, ///< For a call that was started earlier.
};

/// Says what a call does in a model, beyond its kind.
enum class CallRole {
  None,
  Logits,  ///< The product of the head, forward.
  Loss,    ///< A kernel of the loss, forward or backward.
  Routing, ///< Chooses or moves rows of experts.
};

/// The operands of a matrix product that are stored transposed.
enum class ProductForm { Plain, TransposedA, TransposedB, TransposedBoth };

/// Ranks of a group do it together, which decides what a rank sends.
enum class Collective {
  None,
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Send,
  Broadcast,
  Shift,
  Zigzag
};

struct Call {
  CallKind kind = CallKind::Kernel;
  CallRole role = CallRole::None;
  Collective collective = Collective::None;
  std::string op;   ///< "all_reduce".
  std::string name; ///< The part of the model, "h.3.mlp"; may be empty.
  Phase phase = Phase::Forward;
  std::string kernel; ///< A launch has one.
  std::string reason; ///< Says why a collective or message exists.
  /// The number that the part's name has for its layer; -1: it is in none.
  int64_t layer = -1;
  int64_t times = 1; ///< Per optimizer step, in a loop over micro-batches.
  int64_t flops = 0; ///< One call has them; a multiply-add is two.
  /// The arrays on each rank have them in a collective or message. Other calls
  /// read and write them.
  int64_t bytes = 0;
  int64_t elements = 0;  ///< A collective or message has them in `bytes`.
  int64_t functions = 0; ///< exp, log, tanh, erf that a kernel evaluates.
  /// A product has m, n, k; attention has the queries of all heads and
  /// sequences, the keys of each, the size of a head; other calls have zeros.
  std::array<int64_t, 3> shape = {0, 0, 0};
  ProductForm form = ProductForm::Plain;
  /// A product writes its results, and reads what it adds to and what its
  /// epilogue needs; 0: an older artifact does not say.
  int64_t resultBytes = 0;
  int64_t experts = 0;           ///< Each has a product of this shape; 0: none.
  int64_t tensors = 1;           ///< A collective moves so many at once.
  std::vector<std::string> axes; ///< Ranks communicate over them.
  std::optional<int64_t> peer;   ///< A message names the other's coordinate.
  int64_t wait = 0; ///< The call that waits for this one; 0: this one blocks.
  std::optional<int64_t> stage; ///< Whose program it is in, where there are.
  bool isRoot = false;          ///< It broadcasts what the others get.

  // A program that was read knows these of its calls.
  llvm::SmallVector<size_t, 2> meshAxes; ///< `axes`, by places in the mesh.
  /// The layer by its place in the program: an encoder and a decoder have
  /// layers of equal numbers. -1: it is in none.
  int64_t layerInProgram = -1;
  Recompute layerMode = Recompute::None; ///< Its layer recomputes so.

  bool isForward() const { return phase == Phase::Forward; }
  bool isUpdate() const { return phase == Phase::Optimizer; }
  bool recomputes() const { return phase == Phase::Recompute; }
  bool communicates() const {
    return kind == CallKind::Collective || kind == CallKind::Send ||
           kind == CallKind::Receive;
  }
  bool hasShape() const { return shape[0] > 0; }
};

/// Returns the bytes that a rank sends, per byte of the array that is whole on
/// the axis, with ring algorithms over `ranks` ranks.
double ringShare(Collective collective, int64_t ranks);

/// Sets the kind, the collective and the role of a call by its op, shape, phase
/// and part. The compiler and readers both use this table of ops.
void classify(Call &call);

} // namespace tessera::program

namespace tessera {

template <> struct Names<program::Phase> {
  static constexpr Name<program::Phase> table[] = {
      {program::Phase::Forward, "forward"},
      {program::Phase::Backward, "backward"},
      {program::Phase::Recompute, "recompute"},
      {program::Phase::Optimizer, "optimizer"}};
};

template <> struct Names<program::ProductForm> {
  static constexpr Name<program::ProductForm> table[] = {
      {program::ProductForm::Plain, ""},
      {program::ProductForm::TransposedA, "a"},
      {program::ProductForm::TransposedB, "b"},
      {program::ProductForm::TransposedBoth, "ab"}};
};

} // namespace tessera

#endif // TESSERA_PROGRAM_PROGRAMCALL_H
