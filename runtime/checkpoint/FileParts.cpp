//===- FileParts.cpp - under which names files hold a tensor --------------===//
#include "runtime/checkpoint/Checkpoint.h"

#include <algorithm>

namespace tessera {

std::string checkpointName(const TensorInfo &tensor) {
  if (tensor.role == Role::Parameter)
    return tensor.name;
  return concat(tensor.name, ".", roleName(tensor.role));
}

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

/// read(part, first, count, done): what lies in one part, after `done` elements
/// of others.
template <class Read>
static void forEachPart(const std::vector<const FileTensor *> &parts,
                        int64_t first, int64_t count, const Read &read) {
  int64_t each = parts[0]->elements();
  for (int64_t done = 0; done < count;) {
    int64_t at = (first + done) % each;
    int64_t length = std::min(count - done, each - at);
    read(*parts[(first + done) / each], at, length, done);
    done += length;
  }
}

void widenParts(const std::vector<const FileTensor *> &parts, int64_t first,
                int64_t count, double *out) {
  forEachPart(parts, first, count,
              [&](const FileTensor &part, int64_t at, int64_t length,
                  int64_t done) { widenFile(part, at, length, out + done); });
}

void readParts(const std::vector<const FileTensor *> &parts, int64_t first,
               int64_t count, char *out) {
  int64_t element = fileElementBytes(parts[0]->dtype);
  forEachPart(
      parts, first, count,
      [&](const FileTensor &part, int64_t at, int64_t length, int64_t done) {
        readStored(part, at, length, out + done * element);
      });
}

} // namespace tessera
