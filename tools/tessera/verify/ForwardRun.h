//===- ForwardRun.h - sequences as a whole, by the model --------*- C++ -*-===//
// What programs for generation are compared with.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_VERIFY_FORWARDRUN_H
#define TESSERA_TOOLS_TESSERA_VERIFY_FORWARDRUN_H

#include "tessera/Options/PlanOptions.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mlir {
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace tessera {

/// The serial training step without dropout, every value kept.
struct ForwardProgram {
  std::string path;
  std::string logits; ///< What kept logits are called behind their number.
};

/// Compiles it of an imported model to `program.path`. False after an error of
/// the module's context.
bool compileForward(mlir::ModuleOp model, Precision precision,
                    ForwardProgram &program);

using NamedValues = std::map<std::string, std::vector<double>>;

struct ForwardResult {
  int64_t sequences = 0, length = 0, vocabulary = 0;
  std::vector<int32_t> tokens; ///< [sequences, length]
  std::vector<double> logits;  ///< [sequences, length, vocabulary]
  /// That made them, by name.
  NamedValues parameters;

  const double *logitsAt(int64_t sequence, int64_t position) const {
    return &logits[(sequence * length + position) * vocabulary];
  }
};

/// Random sequences, after a step of training: then biases are not 0. False
/// after an error that has been printed.
/// `store` may change the parameters of which the logits are made.
bool runForward(const ForwardProgram &program,
                const std::function<bool(NamedValues &)> &store,
                ForwardResult &result);

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_VERIFY_FORWARDRUN_H
