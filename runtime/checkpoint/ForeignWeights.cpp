//===- ForeignWeights.cpp - weights that are no safetensors ---------------===//
#include "runtime/checkpoint/ForeignWeights.h"

#include "runtime/support/Status.h"

#include <algorithm>
#include <string_view>

namespace tessera {

namespace {
struct Format {
  const char *what, *remedy;
};

constexpr const char *saveAgain =
    "load it with transformers and save it with "
    "model.save_pretrained(DIRECTORY, safe_serialization=True)";

constexpr Format pickle = {
    "weights of PyTorch in a pickle, which is a program and is not run",
    saveAgain};
constexpr Format original = {
    "weights in the format of the model's authors",
    "use the files that transformers reads, or convert them with the script of "
    "the model in transformers"};
constexpr Format quantized = {
    "a GGUF file of llama.cpp, whose weights are rounded for it",
    "use the safetensors from which it was made"};
constexpr Format keras = {"weights of TensorFlow in HDF5", saveAgain};
constexpr Format flax = {"weights of Flax in MessagePack", saveAgain};
constexpr Format exported = {"an ONNX graph",
                             "use the safetensors from which it was made"};
constexpr Format numpy = {
    "arrays of NumPy", "write them with safetensors.numpy.save_file, under the "
                       "names that transformers gives them"};
constexpr Format zip = {
    "a zip archive, as torch.save writes pickles, which are programs and are "
    "not run",
    saveAgain};
constexpr Format page = {"a page of HTML and no weights",
                         "download the file itself, where a web site may ask "
                         "for a token first"};

struct KnownName {
  const char *begin, *end; ///< The begin and end of a file's name.
  const Format &format;
};

/// The first row that fits a name counts.
constexpr KnownName byName[] = {
    {"consolidated", ".pth", original},
    {"consolidated", ".safetensors", original},
    {"tf_model", ".h5", keras},
    {"pytorch_model", ".bin", pickle},
    {"pytorch_model", ".bin.index.json", pickle},
    {"adapter_model", ".bin", pickle},
    {"", ".pt", pickle},
    {"", ".pth", pickle},
    {"", ".ckpt", pickle},
    {"", ".gguf", quantized},
    {"", ".h5", keras},
    {"", ".msgpack", flax},
    {"", ".onnx", exported},
    {"", ".npz", numpy},
};

struct Magic {
  std::string_view bytes;
  const Format &format;
};

constexpr Magic byMagic[] = {
    {"PK\x03\x04", zip},          {"\x80\x02", pickle}, {"\x80\x03", pickle},
    {"\x80\x04", pickle},         {"\x80\x05", pickle}, {"GGUF", quantized},
    {"\x89HDF\r\n\x1A\n", keras}, {"\x93NUMPY", numpy}, {"<!DOCTYPE", page},
    {"<!doctype", page},          {"<html", page},
};

bool hasEnding(const std::string &name, const std::string &end) {
  return name.size() >= end.size() &&
         name.compare(name.size() - end.size(), end.size(), end) == 0;
}

bool fits(const std::string &name, const KnownName &known) {
  const std::string begin = known.begin;
  return name.compare(0, begin.size(), begin) == 0 &&
         hasEnding(name.substr(begin.size()), known.end);
}

const Format *formatOfName(const std::string &name) {
  for (const KnownName &known : byName)
    if (fits(name, known))
      return &known.format;
  return nullptr;
}

const Format *formatOfContent(const InputFile &file) {
  std::string head(std::min<uint64_t>(file.size(), 16), '\0');
  file.read(0, head.data(), head.size());
  for (const Magic &known : byMagic)
    if (head.compare(0, known.bytes.size(), known.bytes) == 0)
      return &known.format;
  return nullptr;
}
} // namespace

void refuseForeignWeights(const InputFile &file) {
  const std::string &path = file.path();
  const Format *format = formatOfContent(file);
  if (!format)
    format = formatOfName(path.substr(path.rfind('/') + 1));
  if (format)
    fail(TSR_UNSUPPORTED, "'", path, "' is ", format->what,
         ", not safetensors; ", format->remedy);
}

/// Says what a safetensors file holds that is not named like a whole model.
static std::string describeSafetensors(const std::string &name) {
  const std::string shard = "model-0", adapter = "adapter_model";
  if (name.compare(0, shard.size(), shard) == 0)
    return concat("'", name,
                  "', a shard without its index; put "
                  "model.safetensors.index.json beside it");
  if (name.compare(0, adapter.size(), adapter) == 0)
    return concat("'", name,
                  "', an adapter alone; give its model, and the adapter with "
                  "--load-adapter");
  return concat("'", name,
                "', which has another name; name that file, if its tensors are "
                "the model's");
}

std::string describeOtherWeights(const std::string &directory) {
  std::string foreign, other;
  for (const std::string &name : listDirectory(directory)) {
    const Format *format = formatOfName(name);
    if (format && foreign.empty())
      foreign =
          concat("'", name, "', which is ", format->what, "; ", format->remedy);
    if (!format && hasEnding(name, ".safetensors") && other.empty())
      other = describeSafetensors(name);
  }
  return other.empty() ? foreign : other;
}

} // namespace tessera
