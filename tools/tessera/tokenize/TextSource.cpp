//===- TextSource.cpp - the text of a file, block by block ----------------===//

#include "tools/tessera/tokenize/TextSource.h"
#include "tessera/tessera.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace tessera;
using llvm::StringRef;

static constexpr size_t kBlockBytes = 1 << 20, kHeadBytes = 1 << 12;

TextSource::~TextSource() {
  if (file > STDIN_FILENO)
    ::close(file);
}

std::string TextSource::name() const {
  return path == "-" ? "standard input" : "'" + path + "'";
}

std::string TextSource::open() {
  file =
      path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return file < 0 ? "cannot read " + name() + ": " + std::strerror(errno) : "";
}

/// Appends a block to what is held.
std::string TextSource::fill() {
  size_t before = held.size();
  held.resize(before + kBlockBytes);
  size_t end = before;
  while (end < held.size() && !isAtEnd) {
    ssize_t done = ::read(file, held.data() + end, held.size() - end);
    if (done < 0 && errno != EINTR)
      return "cannot read " + name() + ": " + std::strerror(errno);
    isAtEnd = done == 0;
    end += std::max<ssize_t>(done, 0);
  }
  held.resize(end);
  return "";
}

std::string TextSource::read(StringRef &block) {
  offset += static_cast<int64_t>(given);
  line += StringRef(held).take_front(given).count('\n');
  held.erase(0, given);
  given = 0;
  block = "";
  if (std::string why = isAtEnd ? "" : fill(); !why.empty())
    return why;
  bool isFirst = offset == 0;
  if (isFirst) {
    head = held.substr(0, kHeadBytes);
    // A pointer of Git LFS is the only foreign content that is legal text.
    const char *foreign = tsr_data_foreign(head.data(), head.size());
    if (foreign && StringRef(foreign).contains("Git LFS"))
      return name() + " is " + foreign + "; fetch that with git lfs pull";
  }
  if (std::string why = check(given); !why.empty())
    return why;
  block = StringRef(held).take_front(given);
  if (isFirst)
    block.consume_front("\xEF\xBB\xBF");
  // A block that is only the mark would be taken for the end.
  return block.empty() && given > 0 ? read(block) : "";
}

/// Sets `whole` to how many bytes are whole characters: a block may end within
/// one.
std::string TextSource::check(size_t &whole) const {
  const char *zero =
      static_cast<const char *>(std::memchr(held.data(), 0, held.size()));
  size_t text = zero ? zero - held.data() : held.size();
  auto *begin = reinterpret_cast<const llvm::UTF8 *>(held.data());
  const llvm::UTF8 *at = begin, *end = begin + text;
  bool isLegal = llvm::isLegalUTF8String(&at, end);
  whole = at - begin;
  if (isLegal)
    return zero ? wrongAt(text) : "";
  // A character that the block cuts is right if more bytes could complete it.
  size_t left = text - whole;
  constexpr size_t longest = 4;
  bool isCut = !zero && !isAtEnd && left < longest &&
               llvm::getNumBytesForUTF8(*at) > left;
  return isCut ? "" : wrongAt(whole);
}

/// Names an encoding that is not UTF-8; "": none is known.
std::string TextSource::otherEncoding() const {
  StringRef text = head;
  if (text.starts_with(StringRef("\xFF\xFE\0\0", 4)) ||
      text.starts_with(StringRef("\0\0\xFE\xFF", 4)))
    return "UTF-32";
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return "UTF-16";
  // Without a mark, one byte of most characters is 0 in UTF-16, and two or
  // three of four are in UTF-32.
  size_t zeros[4] = {}, most = text.size() / 4;
  for (size_t i = 0; i < text.size(); ++i)
    zeros[i % 4] += text[i] == '\0';
  auto isZero = [&](size_t i) { return most > 1 && 4 * zeros[i] > 3 * most; };
  if ((isZero(2) && isZero(3) && !isZero(0)) ||
      (isZero(0) && isZero(1) && !isZero(3)))
    return "UTF-32";
  if (isZero(0) != isZero(1) && isZero(0) == isZero(2) &&
      isZero(1) == isZero(3))
    return isZero(1) ? "UTF-16LE" : "UTF-16BE";
  return "";
}

std::string TextSource::wrongAt(size_t at) const {
  const char *foreign = tsr_data_foreign(head.data(), head.size());
  if (foreign && StringRef(foreign).starts_with("compressed"))
    return name() + " is " + foreign +
           ", not text; decompress it, or pipe it in: zcat, zstdcat, bzcat or "
           "xzcat FILE | tessera tokenize - ...";
  if (foreign)
    return name() + " is " + foreign +
           ", not text; write its texts as JSON lines ({\"text\": ...})";
  if (std::string other = otherEncoding(); !other.empty())
    return name() + " is " + other + ", not UTF-8; convert it: iconv -f " +
           other + " -t UTF-8";
  auto byte = static_cast<unsigned>(static_cast<unsigned char>(held[at]));
  int64_t lines = line + StringRef(held).take_front(at).count('\n');
  std::string where =
      llvm::formatv("line {0} of {1} (byte {2}, counted from 0)", lines, name(),
                    offset + static_cast<int64_t>(at));
  if (byte == 0)
    return where + " has a byte of 0, so it is binary, not text; give text";
  return where + " has the byte " + llvm::formatv("{0:x2}", byte).str() +
         ", which is not UTF-8; convert the file: iconv -f LATIN1 -t UTF-8, or "
         "from whatever it is";
}
