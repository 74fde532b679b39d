//===- ProductChoices.h - Measured choices of products' algorithms -*- C++
//-*-===//
// TESSERA_PRODUCTS names a file with the fastest way to each matrix product of
// a program on one kind of GPU. What the file lacks is measured when a session
// is created, and added. With the file, runs have the same bits as each other:
// without measuring again, every rank and every process makes the same choices.
// Needs no CUDA.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CUDA_PRODUCTS_PRODUCTCHOICES_H
#define TESSERA_RUNTIME_CUDA_PRODUCTS_PRODUCTCHOICES_H

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace tessera::cuda {

/// One way to a product.
struct ProductChoice {
  /// Whether the library computes the epilogue; kernels follow otherwise.
  bool hasEpilogue = false;
  std::array<uint64_t, 8> algorithm{}; ///< cublasLtMatmulAlgo_t
};

/// Those of a file. Ranks that are threads share one, so calls may be at the
/// same time.
class ProductChoices {
public:
  using Key = std::array<int64_t, 24>;

  /// `place`: the GPU and the library that the algorithms belong to. A file
  /// that does not exist has no choices yet. TSR_CORRUPT, TSR_IO, TSR_MISMATCH:
  /// the file is another place's.
  ProductChoices(std::string path, std::string place);

  /// The file that TESSERA_PRODUCTS names, one per process and place; null
  /// where the variable is not set or empty.
  static ProductChoices *ofProcess(const std::string &place);

  /// What `measure` returns the first time. Measurements wait for each other.
  ProductChoice get(const Key &key,
                    const std::function<ProductChoice()> &measure);
  bool has(const Key &key) const;
  /// Writes the file if there is anything new. TSR_IO.
  void save();
  const std::string &path() const { return file; }

private:
  void read();

  std::string file, place;
  mutable std::recursive_mutex mutex; ///< a measurement needs other products
  std::map<Key, ProductChoice> choices;
  bool isNew = false;
};

} // namespace tessera::cuda

#endif // TESSERA_RUNTIME_CUDA_PRODUCTS_PRODUCTCHOICES_H
