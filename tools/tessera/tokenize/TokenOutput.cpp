//===- TokenOutput.cpp - files of tokens that train reads -----------------===//
// The formats are described where they are read: runtime/data.
//===----------------------------------------------------------------------===//

#include "tools/tessera/tokenize/TokenOutput.h"
#include "tessera/Target/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include <cstring>

using namespace tessera;
using llvm::StringRef;

static constexpr int64_t kNarrowIds = 1 << 16;
static constexpr size_t kBlockBytes = 1 << 22;

template <class Integer> static void append(std::string &out, Integer value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}

std::string TokenOutput::open(const std::string &path, const std::string &name,
                              int64_t vocabulary) {
  format = name == "llmc"       ? Format::Llmc
           : name == "megatron" ? Format::Megatron
                                : Format::Raw;
  bool isNarrow = vocabulary <= kNarrowIds;
  if (name == "uint16" && !isNarrow)
    return "--format uint16 holds ids below " + std::to_string(kNarrowIds) +
           ", the tokenizer's vocabulary is " + std::to_string(vocabulary) +
           "; use --format uint32";
  width = isNarrow && name != "uint32" ? 2 : 4;
  file = path;
  if (format == Format::Megatron && !StringRef(path).ends_with(".bin"))
    file += ".bin"; // a prefix, as Megatron's --output-prefix
  return checkNames();
}

std::string TokenOutput::indexPath() const {
  return StringRef(file).drop_back(4).str() + ".idx";
}

/// What would be misread because of how it is called.
std::string TokenOutput::checkNames() const {
  bool isNew = !llvm::sys::fs::exists(file);
  bool isRegular = isNew || llvm::sys::fs::is_regular_file(file);
  if (format == Format::Megatron)
    return isRegular ? ""
                     : "--format megatron writes two files, but '" + file +
                           "' is a device or a pipe; name a file";
  if (!isRegular)
    return "";
  if (format == Format::Raw && !StringRef(file).ends_with(".bin"))
    return "'" + file +
           "' is not named .bin, so that tessera train would take it for "
           "text; name it .bin, or use --format llmc";
  if (StringRef(file).ends_with(".bin") && llvm::sys::fs::exists(indexPath()))
    return "'" + indexPath() + "' would be taken for the index of '" + file +
           "'; remove it, name another file, or use --format megatron";
  return "";
}

std::string TokenOutput::addDocument(llvm::ArrayRef<int32_t> ids) {
  if (ids.size() > INT32_MAX)
    return "has " + std::to_string(ids.size()) +
           " tokens, a document has at most " + std::to_string(INT32_MAX) +
           "; cut it";
  for (int32_t id : ids) {
    if (blocks.empty() || blocks.back().size() + width > kBlockBytes) {
      blocks.emplace_back();
      blocks.back().reserve(kBlockBytes);
    }
    blocks.back().append(reinterpret_cast<const char *>(&id), width);
  }
  total += static_cast<int64_t>(ids.size());
  lengths.push_back(static_cast<int32_t>(ids.size()));
  return "";
}

std::string TokenOutput::type() const {
  return width == 2                   ? "uint16"
         : format == Format::Megatron ? "int32"
                                      : "uint32";
}

std::string TokenOutput::readingFlags() const {
  return format == Format::Raw && width == 4 ? "--data-format uint32" : "";
}

std::string TokenOutput::llmcHeader() const {
  std::string header;
  append<int32_t>(header, width == 2 ? 20240520 : 20240801);
  append<int32_t>(header, width == 2 ? 1 : 7);
  append<int32_t>(header, static_cast<int32_t>(total));
  header.resize(1024);
  return header;
}

std::string TokenOutput::megatronIndex() const {
  std::string index("MMIDIDX\0\0", 9);
  append<uint64_t>(index, 1);
  append<uint8_t>(index, width == 2 ? 8 : 4);
  append<uint64_t>(index, lengths.size());
  append<uint64_t>(index, lengths.size() + 1);
  for (int32_t length : lengths)
    append(index, length);
  int64_t begin = 0;
  for (int32_t length : lengths) {
    append(index, begin);
    begin += int64_t(width) * length;
  }
  for (size_t i = 0; i <= lengths.size(); ++i)
    append(index, static_cast<int64_t>(i));
  return index;
}

std::string TokenOutput::write() {
  if (format == Format::Llmc && total > INT32_MAX)
    return "llm.c's files hold at most " + std::to_string(INT32_MAX) +
           " tokens, these are " + std::to_string(total) +
           "; write several files, or use --format megatron";
  std::string header = format == Format::Llmc ? llmcHeader() : "", index;
  std::vector<OutputFile> files = {{file, {header}}};
  files[0].parts.append(blocks.begin(), blocks.end());
  // An index of other tokens would make others of them.
  if (format == Format::Megatron) {
    index = megatronIndex();
    files.push_back({indexPath(), {index}});
  }
  auto [error, path] = writeOutputs(files);
  return error ? "cannot write '" + path + "': " + error.message() : "";
}
