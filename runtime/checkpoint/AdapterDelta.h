//===- AdapterDelta.h - what adapters add to weights ------------*- C++ -*-===//
// W + alpha / r B A, in f64: of each weight that has an adapter, the second
// term, for the elements that are asked for.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CHECKPOINT_ADAPTERDELTA_H
#define TESSERA_RUNTIME_CHECKPOINT_ADAPTERDELTA_H

#include "runtime/checkpoint/Adapter.h"

#include <map>
#include <string>
#include <vector>

namespace tessera {

/// What one layer's adapter adds.
class AdapterDelta {
public:
  AdapterDelta(const FileTensor &a, const FileTensor &b,
               const AdapterConfig &config);

  /// Of the weight, as its file holds it.
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

/// By the names of a model's weights the pairs that adapt them, all of the
/// adapter's. TSR_MISMATCH: it is of another model, or a pair lacks one.
std::map<std::string, AdapterPair> matchAdapter(const TensorFiles &weights,
                                                const AdapterFiles &adapter);

} // namespace tessera

#endif // TESSERA_RUNTIME_CHECKPOINT_ADAPTERDELTA_H
