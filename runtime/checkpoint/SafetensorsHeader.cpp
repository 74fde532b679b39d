//===- SafetensorsHeader.cpp - what a safetensors file says it holds ------===//
#include "runtime/artifact/Metadata.h"
#include "runtime/checkpoint/ForeignWeights.h"
#include "runtime/checkpoint/Safetensors.h"
#include "runtime/support/JsonLimits.h"
#include "runtime/support/Status.h"

#include <algorithm>

namespace tessera {

// The reference implementation has the same limit of bytes: a longer header is
// an attack or a mistake. A tensor has three keys and some ten numbers.
static constexpr const JsonLimits &limits = json_kinds::tensors;

static constexpr struct {
  const char *name;
  int64_t bits;
} types[] = {
    {"BOOL", 8},    {"U8", 8},          {"I8", 8},          {"I16", 16},
    {"U16", 16},    {"I32", 32},        {"U32", 32},        {"I64", 64},
    {"U64", 64},    {"F16", 16},        {"BF16", 16},       {"F32", 32},
    {"F64", 64},    {"C64", 64},        {"F8_E5M2", 8},     {"F8_E4M3", 8},
    {"F8_E8M0", 8}, {"F8_E5M2FNUZ", 8}, {"F8_E4M3FNUZ", 8}, {"F6_E2M3", 6},
    {"F6_E3M2", 6}, {"F4", 4}};

int64_t elementBits(const std::string &dtype) {
  for (const auto &type : types)
    if (dtype == type.name)
      return type.bits;
  return 0;
}

/// Returns the header, which begins with '{'. TSR_CORRUPT, TSR_UNSUPPORTED.
static std::string readTableHeader(const InputFile &file) {
  uint64_t length = 0;
  if (file.size() < sizeof length)
    fail(TSR_CORRUPT, "'", file.path(), "' has ", file.size(),
         " bytes, a safetensors file has at least ", sizeof length,
         "; copy it again");
  file.read(0, &length, sizeof length);
  uint64_t rest = file.size() - sizeof length;
  char first = ' ';
  if (rest > 0 && length > 0)
    file.read(sizeof length, &first, 1);
  if (first != '{' || length > limits.bytes)
    refuseForeignWeights(file);
  if (length > limits.bytes)
    fail(TSR_CORRUPT, "'", file.path(), "' says its header has ", length,
         " bytes, one has at most ", limits.bytes, " (the file has ",
         file.size(), "); it is torn or no safetensors file");
  if (length > rest)
    fail(TSR_CORRUPT, "'", file.path(), "' says its header has ", length,
         " bytes, the file has ", file.size(),
         "; it is torn or no safetensors file");
  if (first != '{')
    fail(TSR_CORRUPT, "'", file.path(), "' has a header of ", length,
         " bytes that does not begin with '{'; it is no safetensors file");
  std::string header(length, '\0');
  file.read(sizeof length, header.data(), length);
  return header;
}

/// Reads a number that has no sign.
static int64_t sizeIn(const JsonView &view) {
  if (!view.raw().is_number_unsigned())
    view.refuse("must be an integer from 0 to 9223372036854775807");
  return view.integer(0, INT64_MAX);
}

static std::vector<int64_t> sizesIn(const JsonView &view) {
  std::vector<int64_t> sizes;
  for (const JsonView &item : view.items())
    sizes.push_back(sizeIn(item));
  return sizes;
}

/// Returns the bytes of a tensor of this type and shape.
static uint64_t bytesOf(const JsonView &view, const FileTensor &tensor) {
  auto bits = static_cast<uint64_t>(elementBits(tensor.dtype));
  if (bits == 0)
    view.at("dtype").refuse(
        concat("is '", tensor.dtype, "', which is no type of the format"));
  uint64_t elements = 1, all = 0;
  for (int64_t size : tensor.shape)
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(size),
                               &elements))
      view.at("shape").refuse("has too many elements");
  if (__builtin_mul_overflow(elements, bits, &all) || all / 8 > INT64_MAX)
    view.at("shape").refuse("has too many elements");
  if (all % 8 != 0)
    view.at("shape").refuse(concat("has ", elements, " elements of ", bits,
                                   " bits, which are no whole bytes"));
  return all / 8;
}

static FileTensor parseEntry(const JsonView &view, const InputFile &file,
                             uint64_t begin) {
  FileTensor tensor;
  tensor.dtype = view.at("dtype").text();
  tensor.shape = sizesIn(view.at("shape"));
  JsonView offsets = view.at("data_offsets");
  std::vector<int64_t> range = sizesIn(offsets);
  if (range.size() != 2 || range[0] > range[1])
    offsets.refuse("must be [begin, end]");
  tensor.file = &file;
  tensor.offset = begin + static_cast<uint64_t>(range[0]);
  tensor.bytes = static_cast<uint64_t>(range[1] - range[0]);
  uint64_t expected = bytesOf(view, tensor);
  if (tensor.bytes != expected)
    offsets.refuse(concat("hold ", tensor.bytes, " bytes, ", tensor.dtype, " ",
                          describeShape(tensor.shape), " has ", expected));
  return tensor;
}

static void checkMetadata(const JsonView &view) {
  if (!view.raw().is_object() && !view.raw().is_null())
    view.refuse("must be an object of strings");
  for (const auto &[key, value] : view.raw().items())
    if (!value.is_string())
      view.refuse(concat("must be an object of strings, but '", key, "' is ",
                         value.type_name()));
}

//===----------------------------------------------------------------------===//
// The layout of tensors
//===----------------------------------------------------------------------===//

using PlacedTensor = std::pair<const std::string, FileTensor>;

/// Says where two neighbours do not meet. Offsets count from the first byte of
/// the data.
[[noreturn]] static void refuseNeighbours(const std::string &path,
                                          const PlacedTensor *before,
                                          const PlacedTensor &tensor,
                                          uint64_t end, uint64_t first) {
  bool overlaps = first < end;
  std::string previous =
      before ? concat("'", before->first, "' ends at byte ", end)
             : std::string("the data begins at byte 0");
  fail(TSR_CORRUPT, "'", path, "': ", previous, ", but '", tensor.first,
       "' begins at byte ", first, "; ",
       overlaps ? "tensors must not share bytes"
                : concat("the ", first - end, " bytes between belong to none"),
       ": save the file again");
}

/// Tensors lie after each other, in any order, and fill the file.
static void checkLayout(const InputFile &file, uint64_t begin,
                        const std::map<std::string, FileTensor> &entries) {
  std::vector<const PlacedTensor *> sorted;
  for (const PlacedTensor &entry : entries)
    sorted.push_back(&entry);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const PlacedTensor *a, const PlacedTensor *b) {
                     return std::pair(a->second.offset, a->second.bytes) <
                            std::pair(b->second.offset, b->second.bytes);
                   });
  uint64_t end = 0, size = file.size() - begin;
  const PlacedTensor *before = nullptr;
  for (const PlacedTensor *entry : sorted) {
    uint64_t first = entry->second.offset - begin;
    if (first != end)
      refuseNeighbours(file.path(), before, *entry, end, first);
    end += entry->second.bytes;
    before = entry;
  }
  if (end > size)
    fail(TSR_CORRUPT, "'", file.path(), "' has ", size,
         " bytes of data, its header says ", end, " (the last is '",
         before->first, "'); it was cut off: copy or download it again");
  if (end < size)
    fail(TSR_CORRUPT, "'", file.path(), "' has ", size,
         " bytes of data, its tensors have ", end, "; the ", size - end,
         " bytes after the last belong to none: save the file again");
}

SafetensorsFile::SafetensorsFile(const std::string &path) : input(path) {
  std::string header = readTableHeader(input);
  std::string source = concat("'", path, "' header");
  // The parser takes a zero byte for the end of the text.
  if (size_t zero = header.find('\0'); zero != header.npos)
    fail(TSR_CORRUPT, source, " has a zero byte at ", zero, " of ",
         header.size(), "; it is filled up with spaces alone");
  JsonTree parsed = parseJson(source, header, limits);
  JsonView root(parsed.root, source);
  uint64_t begin = sizeof(uint64_t) + header.size();
  for (const auto &[name, value] : parsed.root.items()) {
    if (name.find('\0') != std::string::npos)
      root.refuse("has a name with a zero byte; write it with other names");
    if (name == "__metadata__")
      checkMetadata(root.at(name.c_str()));
    else
      entries.emplace(name, parseEntry(root.at(name.c_str()), input, begin));
  }
  checkLayout(input, begin, entries);
}

} // namespace tessera
