//===- ForwardRun.h - sequences as a whole, by the model --------*- C++ -*-===//
// Runs the forward program that programs for generation are compared with.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_VERIFY_FORWARDRUN_H
#define TESSERA_LIB_VERIFY_FORWARDRUN_H

#include "mlir/IR/BuiltinOps.h"
#include "tessera/Options/PlanOptions.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tessera {

/// Identifies one of the values that a program keeps.
struct ForwardValue {
  std::string name;   ///< Behind its number.
  int64_t before = 0; ///< Values of this name and size before it.
};

/// Counts what nn-decompose-layers has replaced in a program.
struct Formulation {
  int64_t replaced = 0;           ///< Ops.
  std::vector<std::string> whole; ///< Ops that it left, and why.
};

/// Reads it from a module that has gone through the pass.
Formulation formulationOf(mlir::ModuleOp module);

/// The serial training step without dropout, every value kept. In f64 its
/// attention, norms and rotations are formulas.
struct ForwardProgram {
  std::string path;
  ForwardValue logits;
  ForwardValue hidden; ///< An encoder's last hidden states.
  /// It is of an encoder-decoder model: no logits are the encoder's.
  bool isEncoderAlone = false;
  Formulation formulas = {}; ///< None but in f64.
};

/// Compiles it of an imported model to `path`. Errors are diagnostics of the
/// module's context.
mlir::FailureOr<ForwardProgram> compileForward(mlir::ModuleOp model,
                                               Precision precision,
                                               const std::string &path);

using NamedValues = std::map<std::string, std::vector<double>>;

/// Changes the parameters of which logits are made; may be empty.
using StoreParameters = std::function<llvm::Error(NamedValues &)>;

struct ForwardResult {
  int64_t sequences = 0, length = 0, vocabulary = 0;
  std::vector<int32_t> tokens; ///< [sequences, length]
  std::vector<double> logits;  ///< [sequences, length, vocabulary], or none
  /// The length of sources of an encoder-decoder model, whose decoder reads the
  /// tokens; else 0.
  int64_t sourceLength = 0;
  std::vector<int32_t> sources; ///< [sequences, sourceLength]
  /// The size of an encoder's hidden states.
  int64_t hiddenSize = 0;
  std::vector<int32_t> tokenTypes; ///< [sequences, length]
  std::vector<int64_t> lengths;    ///< [sequences], without padding; of sources
  std::vector<double> hidden;      ///< [sequences, length, hiddenSize]
  /// The parameters that made them, by name.
  NamedValues parameters;
  /// The first value of the program that has NaN, if what is compared has; else
  /// empty.
  std::string firstNaN;

  /// Returns why nothing can be compared with it; "" if something can.
  std::string refusal() const {
    return firstNaN.empty()
               ? ""
               : "value " + firstNaN + " of the forward program has NaN";
  }

  const double *logitsAt(int64_t sequence, int64_t position) const {
    return &logits[(sequence * length + position) * vocabulary];
  }
};

/// Runs random sequences, after a step of training: then biases are not 0.
llvm::Expected<ForwardResult> runForward(const ForwardProgram &program,
                                         const StoreParameters &store);

/// Does the same with an encoder, whose sequences are padded where the model
/// has a mask of padding.
llvm::Expected<ForwardResult> runEncoderForward(const ForwardProgram &program,
                                                const StoreParameters &store);

/// Returns how different logits and hidden states of a shrunk model may be,
/// relative to the largest of their position. f64 and f32: sums in another
/// order, through the forward pass of 2 layers, 5000 to 10000 rounding units.
/// bf16: as in training.
double forwardTolerance(Precision precision);

} // namespace tessera

#endif // TESSERA_LIB_VERIFY_FORWARDRUN_H
