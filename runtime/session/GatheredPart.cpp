#include "runtime/session/GatheredPart.h"

namespace tessera {

GatheredPart::GatheredPart(const Ranks &own, int64_t rank,
                           const TensorInfo &tensor) {
  bool isFirst = own[0]->number == 0;
  Message message;
  message.bytes = tensor.localBytes();
  for (const auto &candidate : own)
    if (candidate->number == rank)
      here.emplace(HostTensor::toRead(*candidate, tensor));
  if (here && isFirst) {
    bytes = here->data();
    return;
  }
  if (!here && !isFirst)
    return;
  Communicator &communicator = *own[0]->communicator;
  Status status;
  if (isFirst) {
    arrived.resize(message.bytes);
    message.peer = rank;
    status = communicator.receive(message, arrived.data());
    bytes = arrived.data();
  } else {
    status = communicator.send(message, here->data());
  }
  if (!status.ok())
    throw Error(status);
}

} // namespace tessera
