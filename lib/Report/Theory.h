//===- Theory.h - collectives against published formulas --------*- C++ -*-===//
// Compares what papers say that tensor, sequence, data and pipeline parallelism
// communicate in a training step with what the program communicates. Sizes come
// from the model, the mesh and the shapes of parameters, never from the
// collectives themselves.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_REPORT_THEORY_H
#define TESSERA_LIB_REPORT_THEORY_H

#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace tessera {

struct Report;

/// One formula. Bytes are those of whole buffers on a rank and in a step, as in
/// `bytes_of_step` of a collective; with stages, of a rank of each together.
struct Theory {
  /// The collectives that it is about.
  enum Kind { Layers, Gradients, Parameters, Boundaries };
  Kind kind = Layers;
  std::string collective, axis, phase;
  std::string scheme, formula, sizes, source;
  std::optional<int64_t> calls; ///< Nothing: buckets may be of any size.
  int64_t bytes = 0;
  // These are the program's.
  int64_t ourCalls = 0, ourBytes = 0;
  std::vector<size_t> rows; ///< Indices of `collectives`.

  bool isEqual() const {
    return ourBytes == bytes && (!calls || ourCalls == *calls);
  }
  llvm::json::Object json() const;
};

/// Returns the formulas that hold for the program; none for one that does not
/// train all of its parameters, for experts, encoder-decoders and parameter
/// servers, and for sizes that do not divide.
std::vector<Theory> theoryOf(const Report &report);

} // namespace tessera

#endif // TESSERA_LIB_REPORT_THEORY_H
