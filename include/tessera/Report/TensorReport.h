//===- TensorReport.h - who holds which part of a tensor --------*- C++ -*-===//
// Parameters, their moments and inputs of an artifact's metadata, with how the
// mesh cuts them. What is alike in several layers is listed once.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_REPORT_TENSORREPORT_H
#define TESSERA_REPORT_TENSORREPORT_H

#include "tessera/Program/Program.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace tessera {

/// The axes of the mesh that cut a dimension.
struct TensorCut {
  int64_t dim = 0;
  std::vector<std::string> axes; ///< The outermost first.
  /// Chunk k has the elements from `bounds[k]` to before `bounds[k + 1]`: of
  /// ranks with coordinates that read k, the outermost axis first.
  std::vector<int64_t> bounds;

  bool operator==(const TensorCut &other) const {
    return dim == other.dim && axes == other.axes && bounds == other.bounds;
  }
};

/// Equal tensors of equal layers.
struct TensorGroup {
  std::string name; ///< With a "#" for the layer's number: "h.#.mlp.bias".
  std::string role, dtype;
  std::vector<int64_t> shape, localShape, layers;
  std::vector<TensorCut> cuts;
  /// The stages (or owners) that have the tensors; empty: all ranks do.
  std::vector<int64_t> stages;
  bool isFrozen = false;
  int64_t bytesOfRank = 0; ///< One tensor takes them, padding included.

  bool isAlike(const TensorGroup &other) const;
};

struct TensorReport {
  void read(const program::Program &program);
  llvm::json::Array json() const;

  std::vector<TensorGroup> groups;

private:
  void add(const program::Tensor &tensor, const program::Mesh &mesh);
};

} // namespace tessera

#endif // TESSERA_REPORT_TENSORREPORT_H
