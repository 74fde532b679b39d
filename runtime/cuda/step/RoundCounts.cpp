#include "runtime/cuda/step/RoundCounts.h"

#include "runtime/cuda/Check.h"

#include <algorithm>
#include <cstring>

namespace tessera::cuda {

void RoundCounts::allocate() {
  counts.allocate(bytes(), "rounds of experts");
  copies.allocate(bytes());
  std::memset(copies.data(), 0, static_cast<size_t>(bytes()));
}

int *RoundCounts::at(int64_t op) const {
  return reinterpret_cast<int *>(counts.data()) + places.at(op);
}

void RoundCounts::clear(cudaStream_t stream) const {
  if (bytes() > 0)
    check(cudaMemsetAsync(counts.data(), 0, bytes(), stream),
          "clearing the rounds of experts");
}

void RoundCounts::queue(cudaStream_t stream) const {
  if (bytes() > 0)
    check(cudaMemcpyAsync(copies.data(), counts.data(), bytes(),
                          cudaMemcpyDeviceToHost, stream),
          "copying the rounds of experts");
}

int64_t RoundCounts::of(int64_t op) const {
  auto place = places.find(op);
  return place == places.end()
             ? 0
             : static_cast<const int *>(copies.data())[place->second];
}

int64_t RoundCounts::most() const {
  int64_t most = 0;
  for (const auto &[op, place] : places)
    most = std::max(most, of(op));
  return most;
}

} // namespace tessera::cuda
