//===- SafetensorsTarget.cpp - weights and checkpoints' tensors -----------===//
#include "runtime/checkpoint/Safetensors.h"
#include "test/Fuzz/Runtime/Fuzzed.h"

using namespace tessera;
using namespace fuzzed;

static void checkEntry(const std::string &path, const std::string &name,
                       const FileTensor &tensor) {
  uint64_t size = tensor.file->size();
  require(tensor.offset <= size && tensor.bytes <= size - tensor.offset,
          "tensors lie in the file");
  int64_t count = tensor.elements(), element = fileElementBytes(tensor.dtype);
  if (element == 0)
    return;
  require(uint64_t(count * element) == tensor.bytes, "tensors have their size");
  std::vector<char> stored(tensor.bytes);
  readStored(tensor, 0, count, stored.data());
  std::vector<double> wide(count);
  widenFile(tensor, 0, count, wide.data());
  accepts([&] { checkFinite(path, name, tensor); });
}

/// Other files may name tensors in another order than they lie.
static void checkRoundTrip(const SafetensorsFile &opened) {
  std::vector<NewTensor> tensors;
  uint64_t bytes = 0;
  for (const auto &[name, tensor] : opened.tensors()) {
    tensors.push_back({name, tensor.dtype, tensor.shape, tensor.bytes});
    bytes += tensor.bytes;
  }
  require(bytes <= opened.file().size(), "tensors share no bytes");
  MemoryFile file(safetensorsHeader(tensors) + std::string(bytes, '\0'));
  SafetensorsFile again(file.path());
  require(again.tensors().size() == tensors.size(),
          "a file has the tensors that were written");
  for (const NewTensor &tensor : tensors) {
    const FileTensor *found = again.find(tensor.name);
    require(found && found->dtype == tensor.dtype &&
                found->shape == tensor.shape && found->bytes == tensor.bytes,
            "a tensor is read as it was written");
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 1 << 18) // more is checked by several threads
    return 0;
  MemoryFile file({reinterpret_cast<const char *>(data), size});
  accepts([&] {
    SafetensorsFile opened(file.path());
    for (const auto &[name, tensor] : opened.tensors()) {
      require(opened.find(name) == &tensor, "tensors are found");
      checkEntry(file.path(), name, tensor);
    }
    checkRoundTrip(opened);
  });
  return 0;
}
