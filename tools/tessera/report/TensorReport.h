//===- TensorReport.h - who holds which part of a tensor --------*- C++ -*-===//
// Parameters, their moments and inputs of an artifact's metadata, with how the
// mesh cuts them. What is alike in several layers is listed once.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_REPORT_TENSORREPORT_H
#define TESSERA_TOOLS_TESSERA_REPORT_TENSORREPORT_H

#include "llvm/Support/JSON.h"
#include <map>
#include <string>
#include <vector>

namespace tessera {

/// How axes of the mesh cut a dimension.
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
  /// Which stages (or owners) have the tensors; empty: all ranks do.
  std::vector<int64_t> stages;
  bool isFrozen = false;

  bool isAlike(const TensorGroup &other) const;
  int64_t bytesOfRank() const; ///< Of one tensor, padding included.
};

struct TensorReport {
  void read(const llvm::json::Object &root);
  llvm::json::Array json() const;

  std::vector<TensorGroup> groups;

private:
  void readTensor(const llvm::json::Object &tensor);

  std::map<std::string, int64_t> axes; ///< Sizes.
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_REPORT_TENSORREPORT_H
