#include "runtime/data/Data.h"

#include "runtime/support/Status.h"
#include "tessera/abi.h"

#include <algorithm>
#include <cstring>

namespace tessera {

namespace {
// llm.c's token files: 256 int32, then uint16 tokens.
constexpr int32_t llmcMagic = 20240520;
constexpr int64_t llmcHeaderBytes = 1024;
// Keeps the order's random stream apart from those of the model.
constexpr int64_t orderStream = 0x64617461;

struct LlmcHeader {
  int32_t magic, version, tokens;
};

bool hasLlmcHeader(const InputFile &file) {
  int32_t magic = 0;
  if (file.size() >= sizeof magic)
    file.read(0, &magic, sizeof magic);
  return magic == llmcMagic;
}

bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string detectFormat(const InputFile &file) {
  if (!endsWith(file.path(), ".bin"))
    return "text";
  return hasLlmcHeader(file) ? "llmc" : "uint16";
}

void checkLlmc(const InputFile &file) {
  int64_t size = static_cast<int64_t>(file.size());
  if (size < llmcHeaderBytes || !hasLlmcHeader(file))
    fail(TSR_CORRUPT, "'", file.path(), "' has ", size,
         " bytes and no llm.c header (", llmcHeaderBytes,
         " bytes that begin with ", llmcMagic, "); try format 'uint16'");
  LlmcHeader header;
  file.read(0, &header, sizeof header);
  if (header.version != 1)
    fail(TSR_CORRUPT, "'", file.path(), "' is llm.c data of version ",
         header.version, ", supported is 1 (GPT-2 tokens)");
  int64_t tokens = (size - llmcHeaderBytes) / 2;
  if (header.tokens != tokens || size % 2 != 0)
    fail(TSR_CORRUPT, "'", file.path(), "' says it has ", header.tokens,
         " tokens, its ", size, " bytes hold ", tokens,
         "; it is torn, write it again");
}
} // namespace

Data::Part Data::openPart(const std::string &path) const {
  Part part;
  part.file = std::make_unique<InputFile>(path);
  const InputFile &file = *part.file;
  std::string format =
      options.format == "auto" ? detectFormat(file) : options.format;
  if (format != "text" && format != "uint16" && format != "llmc")
    fail(TSR_INVALID_ARGUMENT, "'", format,
         "' is no data format; use auto, text, uint16 or llmc");
  if (format == "llmc")
    checkLlmc(file);
  part.skipped = format == "llmc" ? llmcHeaderBytes : 0;
  int64_t bytes = static_cast<int64_t>(file.size()) - part.skipped;
  part.width = format == "text" ? 1 : 2;
  if (bytes % part.width != 0)
    fail(TSR_CORRUPT, "'", path, "' has ", bytes,
         " bytes, not a multiple of the 2 bytes of a token; it is torn or not "
         "of format '",
         format, "'");
  part.count = bytes / part.width;
  part.first = 0;
  return part;
}

Data::Data(const std::vector<std::string> &paths, const DataOptions &given)
    : options(given) {
  if (options.sequence < 1 || options.vocabulary < 1)
    fail(TSR_INVALID_ARGUMENT, "sequence is ", options.sequence,
         " and vocabulary is ", options.vocabulary, ", both must be positive");
  if (options.target < 0)
    fail(TSR_INVALID_ARGUMENT, "target is ", options.target,
         ", it must not be negative");
  if (paths.empty())
    fail(TSR_INVALID_ARGUMENT, "no data file is given");
  for (const std::string &path : paths) {
    Part part = openPart(path);
    part.first = total;
    total += part.count;
    if (part.count != 0)
      parts.push_back(std::move(part));
  }
  if (total < options.columns())
    fail(TSR_INVALID_ARGUMENT, "the data (", paths.size(), " files, first '",
         paths[0], "') has ", total, " tokens, one sequence needs ",
         options.sequence, " + ", options.columns() - options.sequence,
         "; use more data or a shorter sequence");
}

void Data::checkToken(const Part &part, int64_t position, int32_t token) const {
  if (token < options.vocabulary)
    return;
  fail(TSR_INVALID_ARGUMENT, "token ", token, " at position ", position,
       " of '", part.file->path(), "' is outside of the vocabulary of ",
       options.vocabulary, "; the data was made with another tokenizer");
}

void Data::copyPart(const Part &part, int64_t position, int64_t count,
                    int32_t *out) const {
  std::vector<char> bytes(count * part.width);
  part.file->read(part.skipped + position * part.width, bytes.data(),
                  bytes.size());
  for (int64_t i = 0; i < count; ++i) {
    uint16_t token = 0;
    std::memcpy(&token, bytes.data() + i * part.width, part.width);
    checkToken(part, position + i, token);
    out[i] = token;
  }
}

void Data::copyTokens(int64_t first, int64_t count, int32_t *out) const {
  auto after = [](int64_t position, const Part &part) {
    return position < part.first;
  };
  auto part = std::upper_bound(parts.begin(), parts.end(), first, after) - 1;
  for (; count != 0; ++part) {
    int64_t position = first - part->first;
    int64_t length = std::min(count, part->count - position);
    copyPart(*part, position, length, out);
    first += length;
    count -= length;
    out += length;
  }
}

void Data::batch(int64_t step, int64_t batch, int32_t *out) const {
  int64_t last;
  if (step < 0 || batch < 1 || __builtin_mul_overflow(step, batch, &last) ||
      __builtin_add_overflow(last, batch, &last))
    fail(TSR_INVALID_ARGUMENT, "step is ", step, " and batch is ", batch,
         ", steps count from 0 and a batch has at least one sequence");
  int64_t columns = options.columns();
  std::vector<int32_t> tokens(columns * batch);
  for (int64_t row = 0; row < batch; ++row) {
    int64_t visit = step * batch + row, epoch = visit / sequences();
    uint64_t key = tsr_abi_stream(options.seed, epoch, orderStream);
    int64_t sequence = permute(visit % sequences(), sequences(), key);
    copyTokens(sequence * options.stride(), columns,
               tokens.data() + row * columns);
  }
  std::copy(tokens.begin(), tokens.end(), out); // untouched on failure
}

} // namespace tessera
