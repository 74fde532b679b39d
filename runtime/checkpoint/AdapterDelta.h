//===- AdapterDelta.h - what adapters add to weights ------------*- C++ -*-===//
// The weight of an adapted layer is W + alpha / r B A. This computes the second
// term, in f64, for the elements that are asked for.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CHECKPOINT_ADAPTERDELTA_H
#define TESSERA_RUNTIME_CHECKPOINT_ADAPTERDELTA_H

#include "runtime/checkpoint/Adapter.h"

#include <map>
#include <string>
#include <vector>

namespace tessera {

/// Computes the values that one layer's adapter adds to its weight.
class AdapterDelta {
public:
  AdapterDelta(const FileTensor &a, const FileTensor &b,
               const AdapterConfig &config);

  /// Returns the shape of the weight as its file holds it.
  std::vector<int64_t> shape() const {
    return transposed ? std::vector<int64_t>{in, out}
                      : std::vector<int64_t>{out, in};
  }
  /// Adds it to elements [first, first + count) of the weight.
  void addTo(int64_t first, int64_t count, double *values) const;

private:
  std::vector<double> a, b;
  int64_t rank, in, out;
  double scale;
  bool transposed;
};

/// A layer's two matrices, in the files of an adapter.
struct AdapterPair {
  const FileTensor *a = nullptr, *b = nullptr;
};

/// Returns all pairs of the adapter by the names of the weights that they
/// adapt. TSR_MISMATCH: the adapter is of another model, or one of a pair is
/// missing.
std::map<std::string, AdapterPair> matchAdapter(const TensorFiles &weights,
                                                const AdapterFiles &adapter);

} // namespace tessera

#endif // TESSERA_RUNTIME_CHECKPOINT_ADAPTERDELTA_H
