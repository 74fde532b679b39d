//===- TokenOutput.cpp - files of tokens that train reads -----------------===//
// The formats are described where they are read: runtime/data.
//===----------------------------------------------------------------------===//

#include "tools/tessera/tokenize/TokenOutput.h"
#include "tessera/tessera.h"
#include "llvm/Support/FileSystem.h"
#include <vector>

using namespace tessera;
using llvm::StringRef;

static constexpr int64_t kNarrowIds = 1 << 16;
static constexpr size_t kLlmcHeader = 1024, kMegatronHeader = 34;

template <class Integer> static void append(std::string &out, Integer value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}

static std::string cannotWrite(const std::string &path, std::error_code error) {
  return "cannot write '" + path + "': " + error.message();
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

std::string TokenOutput::open(const std::string &path, const std::string &name,
                              int64_t ids) {
  vocabulary = ids;
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
  isRegular =
      !llvm::sys::fs::exists(file) || llvm::sys::fs::is_regular_file(file);
  if (std::string why = checkNames(); !why.empty())
    return why;
  if (std::error_code error = content.open(file))
    return cannotWrite(file, error);
  if (format == Format::Megatron)
    if (std::error_code error = index.open(indexPath()))
      return cannotWrite(indexPath(), error);
  // Headers are written last, in the place of these.
  std::string header(format == Format::Llmc ? kLlmcHeader : 0, '\0');
  (void)content.append(header);
  (void)index.append(std::string(kMegatronHeader, '\0'));
  return "";
}

std::string TokenOutput::indexPath() const {
  return StringRef(file).drop_back(4).str() + ".idx";
}

/// Returns why the file would be misread by its name, or cannot be written.
std::string TokenOutput::checkNames() const {
  bool isFolder = llvm::sys::fs::is_directory(file);
  if (!isRegular && !isFolder && format == Format::Megatron)
    return "--format megatron writes two files, but '" + file +
           "' is a device or a pipe; name a file";
  if (!isRegular && !isFolder && format == Format::Llmc)
    return "--format llmc says first how many tokens follow, which is known "
           "last, but '" +
           file + "' is a device or a pipe; name a file";
  if (!isRegular)
    return "";
  if (format == Format::Raw && !StringRef(file).ends_with(".bin"))
    return "'" + file +
           "' is not named .bin, so that tessera train would take it for "
           "text; name it .bin, or use --format llmc";
  if (format != Format::Megatron && StringRef(file).ends_with(".bin") &&
      llvm::sys::fs::exists(indexPath()))
    return "'" + indexPath() + "' would be taken for the index of '" + file +
           "'; remove it, name another file, or use --format megatron";
  return "";
}

//===----------------------------------------------------------------------===//
// Documents
//===----------------------------------------------------------------------===//

std::string TokenOutput::addDocument(llvm::ArrayRef<int32_t> ids) {
  if (ids.size() > INT32_MAX)
    return "has " + std::to_string(ids.size()) +
           " tokens, a document has at most " + std::to_string(INT32_MAX) +
           "; cut it";
  total += static_cast<int64_t>(ids.size());
  ++count;
  if (format == Format::Llmc && total > INT32_MAX)
    return "llm.c's files hold at most " + std::to_string(INT32_MAX) +
           " tokens, these are more; write several files, or use --format "
           "megatron";
  block.clear();
  for (int32_t id : ids)
    block.append(reinterpret_cast<const char *>(&id), width);
  if (std::error_code error = content.append(block))
    return cannotWrite(file, error);
  if (format != Format::Megatron)
    return "";
  block.clear();
  append(block, static_cast<int32_t>(ids.size()));
  std::error_code error = index.append(block);
  return error ? cannotWrite(indexPath(), error) : "";
}

//===----------------------------------------------------------------------===//
// Completing the files
//===----------------------------------------------------------------------===//

std::string TokenOutput::llmcHeader() const {
  std::string header;
  append<int32_t>(header, width == 2 ? 20240520 : 20240801);
  append<int32_t>(header, width == 2 ? 1 : 7);
  append<int32_t>(header, static_cast<int32_t>(total));
  header.resize(kLlmcHeader);
  return header;
}

std::string TokenOutput::megatronHeader() const {
  std::string header("MMIDIDX\0\0", 9);
  append<uint64_t>(header, 1);
  append<uint8_t>(header, width == 2 ? 8 : 4);
  append<uint64_t>(header, count);
  append<uint64_t>(header, count + 1);
  return header;
}

/// Appends where documents begin, and their numbers, to the lengths, which are
/// there already.
std::error_code TokenOutput::writeIndex() {
  constexpr int64_t most = 1 << 16; // documents at a time
  int64_t begin = 0;
  std::vector<int32_t> lengths;
  for (int64_t first = 0; first < count; first += most) {
    lengths.resize(std::min(most, count - first));
    llvm::MutableArrayRef<char> bytes(reinterpret_cast<char *>(lengths.data()),
                                      lengths.size() * sizeof(int32_t));
    if (auto error = index.read(kMegatronHeader + 4 * first, bytes))
      return error;
    std::string begins;
    for (int32_t length : lengths) {
      append(begins, begin);
      begin += int64_t(width) * length;
    }
    if (auto error = index.append(begins))
      return error;
  }
  for (int64_t i = 0; i <= count; ++i) {
    block.clear();
    append(block, i);
    if (auto error = index.append(block))
      return error;
  }
  return index.overwrite(0, megatronHeader());
}

std::string TokenOutput::writeHeaders() {
  if (format == Format::Llmc)
    if (auto error = content.overwrite(0, llmcHeader()))
      return cannotWrite(file, error);
  if (format == Format::Megatron)
    if (auto error = writeIndex())
      return cannotWrite(indexPath(), error);
  return "";
}

const char *TokenOutput::dataFormat() const {
  return format == Format::Llmc ? "llmc" : width == 2 ? "uint16" : "uint32";
}

std::string TokenOutput::refusalOf(const std::string &path,
                                   const char *dataFormat) const {
  tsr_data_options options = {};
  options.size = sizeof options;
  options.format = dataFormat;
  options.sequence = 1;
  options.vocabulary = vocabulary;
  const char *paths[] = {path.c_str()};
  tsr_data *data = nullptr;
  std::string why;
  if (tsr_data_open(paths, 1, &options, &data) != TSR_OK)
    why = tsr_last_error();
  tsr_data_destroy(data);
  return why;
}

/// Runs before the files are replaced: tokens that train would refuse are an
/// error here.
std::string TokenOutput::checkTokens() {
  constexpr int64_t fewest = 2; // a sequence of one token, and its label
  if (total < fewest)
    return "the texts have " + std::to_string(total) +
           (total == 1 ? " token" : " tokens") + ", of which no sequence of " +
           std::to_string(fewest) + " can be made; give more text";
  if (!isRegular)
    return "";
  if (std::error_code error = content.flush())
    return cannotWrite(file, error);
  std::string why = refusalOf(content.temporaryPath(), dataFormat());
  return why.empty() ? "" : "tessera train would refuse these tokens: " + why;
}

std::string TokenOutput::finish() {
  if (std::string why = writeHeaders(); !why.empty())
    return why;
  if (std::string why = checkTokens(); !why.empty())
    return why;
  std::vector<StreamedOutput *> files = {&content};
  // The index is replaced together with its tokens.
  if (format == Format::Megatron)
    files.push_back(&index);
  auto [error, path] = StreamedOutput::commit(files);
  if (error)
    return cannotWrite(path, error);
  // Ids may look like text, or like wider ones.
  needsFormat =
      isRegular && format == Format::Raw && !refusalOf(file, "auto").empty();
  return "";
}

std::string TokenOutput::type() const {
  return width == 2                   ? "uint16"
         : format == Format::Megatron ? "int32"
                                      : "uint32";
}

std::string TokenOutput::readingFlags() const {
  return needsFormat || (format == Format::Raw && width == 4)
             ? std::string("--data-format ") + dataFormat()
             : "";
}
