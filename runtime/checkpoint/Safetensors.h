//===- Safetensors.h - the checkpoint file format ---------------*- C++ -*-===//
// Eight bytes of header length, a JSON header, raw little-endian data
// (https://github.com/huggingface/safetensors, README "Format"). Reading trusts
// nothing; writing is tensor by tensor.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CHECKPOINT_SAFETENSORS_H
#define TESSERA_RUNTIME_CHECKPOINT_SAFETENSORS_H

#include "runtime/support/File.h"

#include <map>
#include <string>
#include <vector>

namespace tessera {

struct FileTensor {
  std::string dtype; ///< "F32", "BF16", ...
  std::vector<int64_t> shape;
  const InputFile *file;
  uint64_t offset; ///< place of its first byte in the file
  uint64_t bytes;

  int64_t elements() const;
};

/// A file whose header was read and checked as the `safetensors` package checks
/// it: tensors of known types fill the data from its first byte to its last,
/// none lies over another one. TSR_NOT_FOUND, TSR_IO, TSR_CORRUPT;
/// TSR_UNSUPPORTED: the weights are in another format, or they are not there.
class SafetensorsFile {
public:
  explicit SafetensorsFile(const std::string &path);

  const InputFile &file() const { return input; }
  const std::map<std::string, FileTensor> &tensors() const { return entries; }
  /// Returns the tensor of this name; null if there is none.
  const FileTensor *find(const std::string &name) const;

private:
  InputFile input;
  std::map<std::string, FileTensor> entries;
};

/// Bits of an element of any type of the format; 0 for others.
int64_t elementBits(const std::string &dtype);
/// Element types that can be widened: F32, F64, BF16, F16. 0 for others.
int64_t fileElementBytes(const std::string &dtype);
/// Elements [first, first + count) as they are stored, of whole bytes.
void readStored(const FileTensor &tensor, int64_t first, int64_t count,
                char *out);
/// The same of a tensor of a type that can be widened.
void widenFile(const FileTensor &tensor, int64_t first, int64_t count,
               double *out);
/// Fails with TSR_CORRUPT, which names the first element that is NaN or
/// infinite.
void checkFinite(const std::string &path, const std::string &name,
                 const FileTensor &tensor);

struct NewTensor {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  uint64_t bytes;
};

/// Returns the length and header of a file with these tensors, in this order;
/// their data follows in the same order.
std::string safetensorsHeader(const std::vector<NewTensor> &tensors);

} // namespace tessera

#endif // TESSERA_RUNTIME_CHECKPOINT_SAFETENSORS_H
