//===- JsonMutator.cpp - changes of JSON that keep its structure ----------===//
// libFuzzer changes bytes, after which a text is hardly ever JSON. This changes
// values instead: their types, numbers, lengths, depth and encodings, and which
// members there are. It is linked to each target whose input holds JSON, which
// begins at the first bracket; of safetensors the header is changed, and the
// length before it kept right.
//===----------------------------------------------------------------------===//
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

namespace {

/// The place of a value in a text, with its key if it is a member.
struct Span {
  size_t begin, end, member;
};

/// Finds the values of a text. It keeps a stack of its own, because a text may
/// nest as deep as it is long.
class Values {
public:
  explicit Values(std::string_view text) : text(text) {
    while (at < text.size())
      next();
  }

  std::vector<Span> found;

private:
  struct Open {
    size_t begin, member;
  };

  void next() {
    const char c = text[at];
    if (c == '{' || c == '[') {
      open.push_back({at, takeMember()});
      ++at;
    } else if (c == '}' || c == ']') {
      ++at;
      if (open.empty())
        return;
      found.push_back({open.back().begin, at, open.back().member});
      open.pop_back();
    } else if (c == '"') {
      string();
    } else if (c == ',' || c == ':' || c == ' ' || c == '\n' || c == '\t') {
      ++at;
    } else {
      const size_t begin = at;
      at = std::min(text.find_first_of(",:]}[{\" \n\t", at), text.size());
      found.push_back({begin, at, takeMember()});
    }
  }
  void string() {
    const size_t begin = at++;
    while (at < text.size() && text[at] != '"')
      at += text[at] == '\\' ? 2 : 1;
    at = std::min(at + 1, text.size());
    const size_t after = text.find_first_not_of(" \n\t", at);
    if (after != std::string_view::npos && text[after] == ':')
      key = begin;
    else
      found.push_back({begin, at, takeMember()});
  }
  /// Returns where the member begins whose value stands here.
  size_t takeMember() {
    const size_t begin = key == kNone ? at : key;
    key = kNone;
    return begin;
  }

  static constexpr size_t kNone = ~size_t(0);
  std::string_view text;
  size_t at = 0, key = kNone;
  std::vector<Open> open;
};

class Mutation {
public:
  Mutation(std::string_view text, unsigned seed) : text(text), random(seed) {}

  std::string make() {
    const std::vector<Span> values = Values(text).found;
    if (values.empty())
      return edge();
    const Span &one = values[below(values.size())];
    const Span &other = values[below(values.size())];
    switch (below(8)) {
    case 0:
    case 1:
      return with(one.begin, one.end, edge());
    case 2:
      return with(one.begin, one.end, of(other));
    case 3: // a second member or element, which may have the same key
      return with(
          one.end, one.end,
          "," + std::string(text.substr(one.member, one.end - one.member)));
    case 4: // without it, and without the comma before or after it
      return without(one);
    case 5:
      return with(one.begin, one.end, nested(of(one)));
    case 6:
      return with(one.begin, one.end, encoded(of(one)));
    default:
      return with(one.begin, one.end, longer(of(one)));
    }
  }

private:
  size_t below(size_t limit) { return limit == 0 ? 0 : random() % limit; }
  std::string of(const Span &span) const {
    return std::string(text.substr(span.begin, span.end - span.begin));
  }
  std::string with(size_t begin, size_t end, const std::string &part) const {
    return std::string(text.substr(0, begin)) + part +
           std::string(text.substr(end));
  }

  std::string without(const Span &span) const {
    size_t begin = span.member, end = span.end;
    if (end < text.size() && text[end] == ',')
      ++end;
    else if (begin > 0 && text[begin - 1] == ',')
      --begin;
    return with(begin, end, "");
  }

  /// Returns a value at which readers go wrong.
  std::string edge() {
    static const char *const edges[] = {"null",
                                        "true",
                                        "false",
                                        "0",
                                        "-1",
                                        "1",
                                        "2147483647",
                                        "2147483648",
                                        "4294967296",
                                        "9007199254740993",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "-9223372036854775808",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "1e308",
                                        "1e309",
                                        "-0.0",
                                        "1e-400",
                                        "0.5",
                                        "1.0",
                                        "1e2",
                                        "01",
                                        "+1",
                                        "NaN",
                                        "Infinity",
                                        "\"\"",
                                        "\"\\u0000\"",
                                        "\"\\ud800\"",
                                        "\"\\udc00\\ud800\"",
                                        "\"\xff\xfe\"",
                                        "\"\xc0\x80\"",
                                        "\"\xed\xa0\x80\"",
                                        "\"\\u001b[2J\"",
                                        "\"\\u202e\"",
                                        "\"../../x\"",
                                        "\"/dev/zero\"",
                                        "\"1\"",
                                        "[]",
                                        "{}",
                                        "[null]",
                                        "{\"\":null}",
                                        "[[]]",
                                        "[0,-1]",
                                        "[1,1,1,1,1,1,1,1,1]"};
    return edges[below(std::size(edges))];
  }

  std::string nested(const std::string &value) {
    static const size_t depths[] = {1, 2, 8, 63, 64, 65, 128, 512, 1024, 5000};
    const size_t depth = depths[below(std::size(depths))];
    std::string before, after;
    const bool isObject = below(2);
    for (size_t k = 0; k < depth; ++k) {
      before += isObject ? "{\"a\":" : "[";
      after += isObject ? "}" : "]";
    }
    // A text that lacks its ends is like a file that was cut.
    return before + value + (below(8) == 0 ? "" : after);
  }

  /// A string whose characters are written as escapes, or as UTF-16.
  std::string encoded(const std::string &value) {
    static const char digits[] = "0123456789abcdef";
    std::string result;
    const bool isWide = below(4) == 0;
    for (size_t k = 0; k < value.size(); ++k) {
      const auto c = static_cast<unsigned char>(value[k]);
      if (isWide)
        result += value.substr(k, 1) + std::string(1, '\0');
      else if (c >= ' ' && c < 0x7f && c != '"' && c != '\\' && value[0] == '"')
        result += std::string("\\u00") + digits[c >> 4] + digits[c & 15];
      else
        result += value[k];
    }
    return result;
  }

  std::string longer(const std::string &value) {
    const size_t count = size_t(1) << below(10);
    const bool isText = value.size() >= 2 && value[0] == '"';
    const std::string part = isText ? value.substr(1, value.size() - 2) : value;
    std::string result = isText ? "\"" : "[";
    for (size_t k = 0; k < count && result.size() < 65536; ++k)
      result += (isText || k == 0 ? "" : ",") + part;
    return result + (isText ? "\"" : "]");
  }

  std::string_view text;
  std::minstd_rand random;
};

} // namespace

/// A target that has a mutator of its own keeps it.
extern "C" [[gnu::weak]] size_t LLVMFuzzerCustomMutator(uint8_t *data,
                                                        size_t size,
                                                        size_t most,
                                                        unsigned seed) {
  const std::string_view all(reinterpret_cast<const char *>(data), size);
  const size_t begin = all.find_first_of("{[");
  if (begin == std::string_view::npos || seed % 3 == 0)
    return LLVMFuzzerMutate(data, size, most);
  uint64_t length = 0;
  const bool hasLength = begin == 8;
  if (hasLength)
    std::memcpy(&length, data, 8);
  const bool isHeader = hasLength && length <= size - 8;
  std::string_view text = all.substr(begin);
  std::string after;
  if (isHeader) {
    after = std::string(text.substr(length));
    text = text.substr(0, length);
  }
  std::string made = Mutation(text, seed).make();
  std::string result(all.substr(0, begin));
  if (isHeader) {
    length = made.size();
    std::memcpy(result.data(), &length, 8);
  }
  result += made + after;
  if (result.size() > most)
    return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, result.data(), result.size());
  return result.size();
}
