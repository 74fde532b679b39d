//===- MegatronIndex.cpp - documents of Megatron's data -------------------===//
// Magic, version (u64), type (u8), sequences (u64), entries of documents (u64);
// then of each sequence its length in tokens (i32), of each the byte where it
// begins (i64), and of each document its first sequence (i64), with the number
// of sequences as the last entry (Megatron-LM, core/datasets/indexed_dataset).
//===----------------------------------------------------------------------===//
#include "runtime/data/MegatronIndex.h"

#include "runtime/data/HeaderInteger.h"
#include "runtime/support/Status.h"

#include <algorithm>
#include <iterator>

namespace tessera {

static constexpr std::string_view magic("MMIDIDX\0\0", 9);
static constexpr int64_t headerBytes = 34;
static constexpr const char *torn = "it is torn, write the data again";

bool MegatronIndex::isIndex(std::string_view head) {
  return head.substr(0, magic.size()) == magic;
}

bool MegatronIndex::isTornIndex(std::string_view head) {
  return head.size() < magic.size() && magic.substr(0, head.size()) == head;
}

/// Integers of a file that are read from the first to the last.
template <class Integer> class MegatronIndex::Column {
public:
  Column(const InputFile &file, uint64_t offset, int64_t count)
      : file(file), offset(offset), count(count) {}

  Integer at(int64_t i) {
    if (i < first || i >= first + held) {
      first = i;
      held = std::min<int64_t>(count - i, std::size(values));
      file.read(offset + sizeof(Integer) * static_cast<uint64_t>(i), values,
                sizeof(Integer) * static_cast<size_t>(held));
    }
    return values[i - first];
  }

private:
  const InputFile &file;
  uint64_t offset;
  int64_t count, first = 0, held = 0;
  Integer values[2048];
};

MegatronIndex::MegatronIndex(const std::string &path, const InputFile &tokens)
    : file(path) {
  readHeader();
  readType();
  checkSequences(tokens);
  checkDocuments();
}

void MegatronIndex::readHeader() {
  auto size = static_cast<int64_t>(file.size());
  uint64_t version = 0;
  if (size >= headerBytes)
    version = integerAt<uint64_t>(file, magic.size());
  if (version != 1)
    fail(TSR_CORRUPT, "'", path(), "' has ", size, " bytes and version ",
         version, ", an index of Megatron data has at least ", headerBytes,
         " and version 1; write the data again");
  sequences = integerAt<int64_t>(file, 18);
  auto entries = integerAt<int64_t>(file, 26);
  int64_t most = size / 8; // so that sums do not overflow
  bool fits =
      sequences >= 0 && entries >= 0 && sequences <= most && entries <= most;
  int64_t wanted = fits ? headerBytes + 12 * sequences + 8 * entries : -1;
  if (fits && size == wanted + sequences && sequences != 0)
    fail(TSR_INVALID_ARGUMENT, "'", path(), "' has ", size - wanted,
         " bytes after the first sequences of its documents: modes of a "
         "multimodal data set, which is not supported; write data of text "
         "alone");
  if (!fits || size != wanted)
    fail(TSR_CORRUPT, "'", path(), "' says it has ", sequences,
         " sequences and ", entries, " entries of documents, its ", size,
         " bytes are not ", headerBytes,
         " + 12 for each of these + 8 for each "
         "of those; ",
         torn);
  last = entries - 1;
}

void MegatronIndex::readType() {
  constexpr struct {
    const char *name;
    int64_t width; ///< 0: these are no tokens.
    bool isSigned;
  } types[] = {
      {"", 0, false},        {"uint8", 1, false},   {"int8", 1, true},
      {"int16", 2, true},    {"int32", 4, true},    {"int64", 8, true},
      {"float64", 0, false}, {"float32", 0, false}, {"uint16", 2, false}};
  size_t code = integerAt<uint8_t>(file, 17);
  const char *name = code < std::size(types) ? types[code].name : "";
  if (!*name)
    fail(TSR_INVALID_ARGUMENT, "'", path(), "' says that tokens are of type ",
         code,
         ", supported are 1 (uint8), 2 (int8), 3 (int16), 4 (int32), "
         "5 (int64) and 8 (uint16); write the data again");
  if (types[code].width == 0)
    fail(TSR_INVALID_ARGUMENT, "'", path(), "' says that tokens are of type ",
         code, " (", name,
         "), but tokens are integers; write them as type 4 "
         "(int32) or 8 (uint16)");
  tokenBytes = types[code].width;
  hasSign = types[code].isSigned;
}

uint64_t MegatronIndex::lengthsAt() const { return headerBytes; }

uint64_t MegatronIndex::beginsAt() const {
  return lengthsAt() + 4 * static_cast<uint64_t>(sequences);
}

uint64_t MegatronIndex::documentsAt() const {
  return beginsAt() + 8 * static_cast<uint64_t>(sequences);
}

/// Sequences lie one after the other and fill the file.
void MegatronIndex::checkSequences(const InputFile &tokens) {
  Column<int32_t> lengths(file, lengthsAt(), sequences);
  Column<int64_t> begins(file, beginsAt(), sequences);
  auto size = static_cast<int64_t>(tokens.size());
  int64_t end = 0;
  for (int64_t i = 0; i < sequences; ++i) {
    int64_t length = lengths.at(i), begin = begins.at(i);
    if (length < 0)
      fail(TSR_CORRUPT, "'", path(), "' says that sequence ", i, " of ",
           sequences, " has ", length, " tokens; ", torn);
    if (begin != end)
      fail(TSR_CORRUPT, "'", path(), "' says that sequence ", i, " of ",
           sequences, " begins at byte ", begin, ", the one before ends at ",
           end, "; ", torn);
    end += length * tokenBytes;
    if (end > size)
      break; // also where sums of larger lengths would overflow
  }
  if (end != size)
    fail(TSR_CORRUPT, "'", path(), "' says that '", tokens.path(), "' has ",
         end > size ? "at least " : "", end, " bytes, it has ", size,
         " (of tokens of ", tokenBytes,
         "); they are not of one data set, or one is torn");
  total = end / tokenBytes;
}

int64_t MegatronIndex::begin(int64_t document) const {
  auto sequence = integerAt<int64_t>(
      file, documentsAt() + 8 * static_cast<uint64_t>(document));
  if (sequence < 0 || sequence > sequences)
    fail(TSR_CORRUPT, "'", path(), "' was changed while it is read: document ",
         document, " begins with sequence ", sequence, " of ", sequences);
  if (sequence == sequences) // the end, and documents without sequences there
    return total;
  return integerAt<int64_t>(file,
                            beginsAt() + 8 * static_cast<uint64_t>(sequence)) /
         tokenBytes;
}

/// Returns the first document that does not begin before `token`: empty ones
/// begin where the next one does.
int64_t MegatronIndex::firstFrom(int64_t token) const {
  int64_t low = 0, high = last; // all before `low` begin before the token
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (begin(middle) < token)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int64_t MegatronIndex::nearest(int64_t token) const {
  int64_t after = firstFrom(token);
  if (after == 0)
    return 0;
  int64_t before = begin(after - 1);
  return token - before <= begin(after) - token ? firstFrom(before) : after;
}

/// Checks that every sequence is of one document. A document may have none, or
/// have sequences without tokens, as Megatron writes them for empty texts.
void MegatronIndex::checkDocuments() const {
  Column<int64_t> firsts(file, documentsAt(), last + 1);
  int64_t previous = 0;
  for (int64_t i = 0; i <= last; ++i) {
    int64_t first = firsts.at(i);
    if (first < previous || first > sequences || (i == 0 && first != 0))
      fail(TSR_CORRUPT, "'", path(), "' says that document ", i, " of ", last,
           " begins with sequence ", first, ", which is not between ", previous,
           " and ", i == 0 ? 0 : sequences, "; ", torn);
    previous = first;
  }
  if (last < 0 || previous != sequences)
    fail(TSR_CORRUPT, "'", path(), "' says that its documents have ", previous,
         " sequences, it has ", sequences, "; ", torn);
}

} // namespace tessera
