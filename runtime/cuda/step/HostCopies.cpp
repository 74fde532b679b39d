#include "runtime/cuda/step/HostCopies.h"

#include <cstring>

namespace tessera::cuda {

namespace {
// Every piece begins at a multiple; larger outputs stay on the GPU.
constexpr int64_t alignment = 64;
constexpr int64_t largestResult = 64;

int64_t padded(int64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}
} // namespace

Uploads::Uploads(const Rank &rank) {
  for (const TensorInfo &tensor : rank.metadata->tensors)
    if (tensor.role == Role::Input && !tensor.init && rank.holds(tensor))
      size += padded(tensor.localBytes());
  if (size > 0)
    memory.allocate(size);
}

unsigned char *Uploads::take(int64_t bytes) {
  if (padded(bytes) > size - taken)
    return nullptr;
  auto *piece = static_cast<unsigned char *>(memory.data()) + taken;
  taken += padded(bytes);
  return piece;
}

unsigned char *Pieces::take(int64_t bytes) {
  if (bytes > pieceBytes)
    return nullptr;
  if (pieces.size() < stagedPieces) {
    auto piece = std::make_unique<Piece>();
    piece->memory.allocate(pieceBytes);
    pieces.push_back(std::move(piece));
    return static_cast<unsigned char *>(pieces.back()->memory.data());
  }
  Piece &piece = *pieces[next];
  next = (next + 1) % stagedPieces;
  piece.read.wait();
  return static_cast<unsigned char *>(piece.memory.data());
}

void Pieces::sent(const void *host, cudaStream_t stream) {
  for (const auto &piece : pieces)
    if (piece->memory.data() == host)
      piece->read.record(stream);
}

void Pieces::release() {
  pieces.clear();
  next = 0;
}

StepResults::StepResults(const Rank &rank) {
  int64_t size = 0;
  for (const TensorInfo &tensor : rank.metadata->tensors) {
    bool isSmall = tensor.localBytes() <= largestResult;
    if (tensor.role != Role::Output || !isSmall || !rank.holds(tensor))
      continue;
    results.push_back({rank.offsetOf(tensor), tensor.localBytes(), size});
    size += alignment;
  }
  if (size > 0)
    memory.allocate(size);
}

void StepResults::queue(const unsigned char *arena, cudaStream_t stream) const {
  auto *to = static_cast<unsigned char *>(memory.data());
  for (const Result &result : results)
    check(cudaMemcpyAsync(to + result.at, arena + result.offset, result.bytes,
                          cudaMemcpyDeviceToHost, stream),
          "copying the step's results");
}

bool StepResults::read(int64_t offset, int64_t bytes, void *host) const {
  for (const Result &result : results)
    if (isHeld && result.offset == offset && result.bytes == bytes) {
      std::memcpy(host, static_cast<unsigned char *>(memory.data()) + result.at,
                  bytes);
      return true;
    }
  return false;
}

} // namespace tessera::cuda
