//===- FileParts.cpp - tensors that files hold in slices ------------------===//
#include "runtime/checkpoint/Checkpoint.h"

#include <algorithm>

namespace tessera {

FileParts filePartsOf(const TensorInfo &tensor, const std::string &name) {
  size_t star = name.find('*');
  if (star == std::string::npos || tensor.fileShape.empty())
    return {{name}, tensor.fileShape};
  FileParts parts;
  parts.shape.assign(tensor.fileShape.begin() + 1, tensor.fileShape.end());
  for (int64_t k = 0; k < tensor.fileShape[0]; ++k)
    parts.names.push_back(
        concat(name.substr(0, star), k, name.substr(star + 1)));
  return parts;
}

void widenParts(const std::vector<const FileTensor *> &parts, int64_t first,
                int64_t count, double *out) {
  int64_t each = parts[0]->elements();
  while (count > 0) {
    int64_t at = first % each, length = std::min(count, each - at);
    widenFile(*parts[first / each], at, length, out);
    first += length;
    count -= length;
    out += length;
  }
}

} // namespace tessera
