#include "runtime/checkpoint/Safetensors.h"

#include "runtime/artifact/Metadata.h"
#include "runtime/support/DType.h"
#include "runtime/support/JsonLimits.h"
#include "runtime/support/Status.h"
#include "runtime/support/ThreadTeam.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

namespace tessera {

// As the reference implementation: a longer header is an attack or a mistake.
// A tensor has three keys and some ten numbers.
static constexpr JsonLimits limits = {100'000'000, 4, 20'000'000,
                                      RepeatedKey::Refused};

int64_t FileTensor::elements() const { return elementsOf(shape); }

static std::string readTableHeader(const InputFile &file) {
  uint64_t length = 0;
  if (file.size() < sizeof length)
    fail(TSR_CORRUPT, "'", file.path(), "' has ", file.size(),
         " bytes, a safetensors file has at least ", sizeof length);
  file.read(0, &length, sizeof length);
  if (length > std::min<uint64_t>(file.size() - sizeof length, limits.bytes))
    fail(TSR_CORRUPT, "'", file.path(), "' says its header has ", length,
         " bytes, the file has ", file.size(),
         "; it is torn or no safetensors file");
  std::string header(length, '\0');
  file.read(sizeof length, header.data(), length);
  return header;
}

/// Bytes of any type of the format; 0 for those of the future.
static uint64_t anyElementBytes(const std::string &dtype) {
  static const std::map<std::string, uint64_t> sizes = {
      {"F64", 8}, {"I64", 8}, {"U64", 8},  {"F32", 4},     {"I32", 4},
      {"U32", 4}, {"F16", 2}, {"BF16", 2}, {"I16", 2},     {"U16", 2},
      {"I8", 1},  {"U8", 1},  {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
  auto it = sizes.find(dtype);
  return it == sizes.end() ? 0 : it->second;
}

static FileTensor parseEntry(const JsonView &view, const InputFile &file,
                             uint64_t begin) {
  FileTensor tensor;
  tensor.dtype = view.at("dtype").text();
  tensor.shape = view.at("shape").integers(0, int64_t(1) << 40);
  JsonView offsets = view.at("data_offsets");
  std::vector<int64_t> range = offsets.integers(0, file.size() - begin);
  if (range.size() != 2 || range[0] > range[1])
    offsets.refuse("must be [begin, end]");
  bool known = anyElementBytes(tensor.dtype) != 0;
  // Elements of an unknown type have at least some bits.
  uint64_t expected = known ? anyElementBytes(tensor.dtype) : 1;
  for (int64_t size : tensor.shape)
    if (__builtin_mul_overflow(expected, static_cast<uint64_t>(size),
                               &expected) ||
        expected > INT64_MAX)
      view.at("shape").refuse("has too many elements");
  tensor.file = &file;
  tensor.offset = begin + range[0];
  tensor.bytes = range[1] - range[0];
  if (known && tensor.bytes != expected)
    offsets.refuse(concat("hold ", tensor.bytes, " bytes, ", tensor.dtype, " ",
                          describeShape(tensor.shape), " has ", expected));
  return tensor;
}

SafetensorsFile::SafetensorsFile(const std::string &path) : input(path) {
  std::string header = readTableHeader(input);
  std::string source = concat("'", path, "' header");
  JsonTree parsed =
      parseJson(source, header.data(), header.data() + header.size(), limits);
  JsonView root(parsed.root, source);
  if (!parsed.root.is_object())
    root.refuse("must be an object");
  uint64_t begin = sizeof(uint64_t) + header.size();
  for (const auto &[name, value] : parsed.root.items()) {
    if (name.find('\0') != std::string::npos)
      root.refuse("has a name with a zero byte; write it with other names");
    if (name != "__metadata__")
      entries.emplace(name, parseEntry(root.at(name.c_str()), input, begin));
  }
}

const FileTensor *SafetensorsFile::find(const std::string &name) const {
  auto it = entries.find(name);
  return it == entries.end() ? nullptr : &it->second;
}

int64_t fileElementBytes(const std::string &dtype) {
  bool known =
      dtype == "F32" || dtype == "F64" || dtype == "BF16" || dtype == "F16";
  return known ? anyElementBytes(dtype) : 0;
}

void readStored(const FileTensor &tensor, int64_t first, int64_t count,
                char *out) {
  uint64_t element = anyElementBytes(tensor.dtype);
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

/// The first element of [begin, end) that is NaN or infinite, or `end`.
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
