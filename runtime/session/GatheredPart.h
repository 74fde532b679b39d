//===- GatheredPart.h - a rank's part of a tensor, brought to rank 0 ------===//
#ifndef TESSERA_RUNTIME_SESSION_GATHEREDPART_H
#define TESSERA_RUNTIME_SESSION_GATHEREDPART_H

#include "runtime/device/HostTensor.h"
#include "runtime/session/TensorAccess.h"

#include <optional>

namespace tessera {

/// Every process makes one for the same rank and tensor: the rank's process
/// sends, the one with rank 0 receives, the others do nothing. All are inside
/// of one call of the session meanwhile (Communicator::entered): rank 0 may be
/// busy with files. Throws what the communicator reports.
class GatheredPart {
public:
  GatheredPart(const Ranks &own, int64_t rank, const TensorInfo &tensor);

  /// Null where it has not been brought to.
  const unsigned char *data() const { return bytes; }

private:
  std::optional<HostTensor> here;
  std::vector<unsigned char> arrived;
  const unsigned char *bytes = nullptr;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_SESSION_GATHEREDPART_H
