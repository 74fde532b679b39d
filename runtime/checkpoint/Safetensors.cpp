//===- Safetensors.cpp - the values of tensors in files -------------------===//
#include "runtime/checkpoint/Safetensors.h"

#include "runtime/artifact/Metadata.h"
#include "runtime/support/DType.h"
#include "runtime/support/Json.h"
#include "runtime/support/Status.h"
#include "runtime/support/ThreadTeam.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

namespace tessera {

int64_t FileTensor::elements() const { return elementsOf(shape); }

const FileTensor *SafetensorsFile::find(const std::string &name) const {
  auto it = entries.find(name);
  return it == entries.end() ? nullptr : &it->second;
}

int64_t fileElementBytes(const std::string &dtype) {
  bool isFloat =
      dtype == "F32" || dtype == "F64" || dtype == "BF16" || dtype == "F16";
  return isFloat ? elementBits(dtype) / 8 : 0;
}

void readStored(const FileTensor &tensor, int64_t first, int64_t count,
                char *out) {
  uint64_t element = elementBits(tensor.dtype) / 8;
  tensor.file->read(tensor.offset + first * element, out, count * element);
}

/// Bytes of a type of fileElementBytes to f64.
static void widenBytes(const std::string &dtype, const char *bytes,
                       int64_t count, double *out) {
  if (dtype == "F32")
    return widen(TSR_DTYPE_F32, bytes, out, count);
  if (dtype == "F64")
    return widen(TSR_DTYPE_F64, bytes, out, count);
  if (dtype == "BF16")
    return widen(TSR_DTYPE_BF16, bytes, out, count);
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, bytes + i * sizeof bits, sizeof bits);
    out[i] = f16ToFloat(bits);
  }
}

// Elements that are read at a time.
static constexpr int64_t blockElements = 8192;

void widenFile(const FileTensor &tensor, int64_t first, int64_t count,
               double *out) {
  char bytes[blockElements * sizeof(double)];
  for (int64_t done = 0; done < count;) {
    int64_t length = std::min(blockElements, count - done);
    readStored(tensor, first + done, length, bytes);
    widenBytes(tensor.dtype, bytes, length, out + done);
    done += length;
  }
}

/// Returns the first element of [begin, end) that is NaN or infinite, or `end`.
static int64_t firstNonFinite(const FileTensor &tensor, int64_t begin,
                              int64_t end) {
  double values[blockElements];
  for (int64_t first = begin; first < end; first += blockElements) {
    int64_t length = std::min(blockElements, end - first);
    widenFile(tensor, first, length, values);
    for (int64_t i = 0; i < length; ++i)
      if (!std::isfinite(values[i]))
        return first + i;
  }
  return end;
}

void checkFinite(const std::string &path, const std::string &name,
                 const FileTensor &tensor) {
  // Fewer are checked before a thread has started.
  constexpr int64_t elementsPerThread = int64_t(1) << 18;
  int64_t count = tensor.elements();
  if (fileElementBytes(tensor.dtype) == 0)
    return;
  int pieces = static_cast<int>(
      std::clamp<int64_t>(count / elementsPerThread, 1,
                          std::max(1u, std::thread::hardware_concurrency())));
  std::vector<int64_t> found(pieces);
  inParallel(pieces, [&](int64_t piece) {
    int64_t end = count * (piece + 1) / pieces;
    int64_t at = firstNonFinite(tensor, count * piece / pieces, end);
    found[piece] = at < end ? at : count;
  });
  int64_t bad = *std::min_element(found.begin(), found.end());
  if (bad == count)
    return;
  double value;
  widenFile(tensor, bad, 1, &value);
  fail(TSR_CORRUPT, "'", path, "': element ", bad, " of ", count, " of '", name,
       "' is ", value, "; load an older checkpoint");
}

static std::string listOf(const std::vector<int64_t> &numbers) {
  std::string text = "[";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += concat(i == 0 ? "" : ",", numbers[i]);
  return text + "]";
}

std::string safetensorsHeader(const std::vector<NewTensor> &tensors) {
  std::string text = "{\"__metadata__\":{\"format\":\"pt\"}";
  uint64_t offset = 0;
  for (const NewTensor &tensor : tensors) {
    text +=
        concat(",", nlohmann::json(tensor.name).dump(), ":{\"dtype\":\"",
               tensor.dtype, "\",\"shape\":", listOf(tensor.shape),
               ",\"data_offsets\":[", offset, ",", offset + tensor.bytes, "]}");
    offset += tensor.bytes;
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' '); // aligns the data
  uint64_t length = text.size();
  return std::string(reinterpret_cast<const char *>(&length), sizeof length) +
         text;
}

} // namespace tessera
