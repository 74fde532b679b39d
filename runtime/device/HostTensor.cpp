#include "runtime/device/HostTensor.h"

#include "runtime/support/DType.h"

#include <cstring>

namespace tessera {

PieceWriter::PieceWriter(const Rank &rank, const TensorInfo &tensor)
    : device(*rank.device), offset(rank.offsetOf(tensor)),
      element(dtypeBytes(tensor.dtype)) {}

int64_t PieceWriter::mostBytes() const {
  return device.hostArena() ? INT64_MAX : pieceBytes;
}

void PieceWriter::begin(int64_t first, int64_t count, bool zero) {
  if (unsigned char *arena = device.hostArena()) {
    host = arena + offset;
    return;
  }
  start = first * element;
  bytes = count * element;
  unsigned char *piece = device.stagePiece(bytes);
  if (!piece) {
    if (static_cast<int64_t>(copy.size()) < bytes)
      copy.resize(bytes);
    piece = copy.data();
  }
  if (zero)
    std::memset(piece, 0, bytes);
  host = piece - start;
}

void PieceWriter::end() {
  if (!device.hostArena())
    device.write(offset + start, bytes, host + start);
}

HostTensor::HostTensor(const Rank &rank, const TensorInfo &tensor, Use use)
    : device(*rank.device), tensor(tensor), offset(rank.offsetOf(tensor)) {
  if (unsigned char *arena = device.hostArena()) {
    host = arena + offset;
    return;
  }
  host = use == Use::Write ? device.stage(tensor.localBytes()) : nullptr;
  if (host)
    return;
  copy.resize(tensor.localBytes());
  host = copy.data();
  if (use == Use::Read)
    device.read(offset, tensor.localBytes(), host);
}

HostTensor HostTensor::toRead(const Rank &rank, const TensorInfo &tensor) {
  return HostTensor(rank, tensor, Use::Read);
}

HostTensor HostTensor::toWrite(const Rank &rank, const TensorInfo &tensor) {
  return HostTensor(rank, tensor, Use::Write);
}

void HostTensor::zero() { std::memset(data(), 0, tensor.localBytes()); }

void HostTensor::store() {
  if (!device.hostArena())
    device.write(offset, tensor.localBytes(), host);
}

} // namespace tessera
