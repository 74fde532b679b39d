#include "runtime/tokenizer/Decoder.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/ByteAlphabet.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/PreTokenizer.h"
#include "runtime/tokenizer/Utf8.h"

#include <charconv>

namespace tessera {

void appendTokenBytes(std::string &out, std::string_view token) {
  if (!appendBytes(out, token))
    out += token;
}

int byteOfToken(std::string_view token) {
  if (token.size() != 6 || token.substr(0, 3) != "<0x" || token[5] != '>')
    return -1;
  std::string_view digits = token.substr(3, 2);
  if (digits[0] == '+') // Rust's from_str_radix takes a sign
    digits.remove_prefix(1);
  int byte = 0;
  auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
  bool isByte = error == std::errc() && end == digits.data() + digits.size() &&
                digits[0] != '-';
  return isByte ? byte : -1;
}

static void replaceAll(std::string &text, std::string_view old,
                       std::string_view now) {
  for (size_t at = 0; (at = text.find(old, at)) != std::string::npos;
       at += now.size())
    text.replace(at, old.size(), now);
}

/// All tokens become one.
static std::string joined(const std::vector<std::string> &tokens) {
  std::string text;
  for (const std::string &token : tokens)
    text += token;
  return text;
}

namespace {

class ByteDecoder final : public Decoder {
public:
  explicit ByteDecoder(const JsonView &part) {
    requireKeys(part,
                {"type", "add_prefix_space", "trim_offsets", "use_regex"});
  }
  void apply(std::vector<std::string> &tokens) const override {
    std::string bytes, storage;
    for (const std::string &token : tokens)
      appendTokenBytes(bytes, token);
    tokens = {std::string(validUtf8(bytes, storage))};
  }
  bool isOfBytes() const override { return true; }
};

class WordPieceDecoder final : public Decoder {
public:
  explicit WordPieceDecoder(const JsonView &part) {
    requireKeys(part, {"type", "prefix", "cleanup"});
    prefix = part.at("prefix").text();
    cleansUp = part.at("cleanup").boolean();
  }
  void apply(std::vector<std::string> &tokens) const override {
    bool isFirst = true;
    for (std::string &token : tokens) {
      if (!isFirst && token.compare(0, prefix.size(), prefix) == 0)
        token.erase(0, prefix.size());
      else if (!isFirst)
        token.insert(0, 1, ' ');
      isFirst = false;
      if (cleansUp)
        cleanUp(token);
    }
  }

private:
  static void cleanUp(std::string &text) {
    static constexpr const char *changes[][2] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
        {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
        {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (const auto &change : changes)
      replaceAll(text, change[0], change[1]);
  }

  std::string prefix;
  bool cleansUp;
};

class MetaspaceDecoder final : public Decoder {
public:
  explicit MetaspaceDecoder(const JsonView &part) : options(part) {}
  void apply(std::vector<std::string> &tokens) const override {
    bool drops = options.prepend != MetaspaceOptions::Prepend::Never;
    for (size_t i = 0; i < tokens.size(); ++i)
      replaceAll(tokens[i], options.replacement, i == 0 && drops ? "" : " ");
  }

private:
  MetaspaceOptions options;
};

class ReplaceDecoder final : public Decoder {
public:
  explicit ReplaceDecoder(const JsonView &part)
      : pattern(compilePattern(part, patternOf(part))) {
    requireKeys(part, {"type", "pattern", "content"});
    content = part.at("content").text();
  }
  void apply(std::vector<std::string> &tokens) const override {
    for (std::string &token : tokens) {
      std::string text;
      size_t done = 0;
      pattern.forEachMatch(token, [&](size_t begin, size_t end) {
        text.append(token, done, begin - done) += content;
        done = end;
      });
      token = text.append(token, done);
    }
  }

private:
  Pattern pattern;
  std::string content;
};

/// "<0x0A>" becomes its byte; bytes beside each other that are no UTF-8 become
/// as many U+FFFD.
class ByteFallbackDecoder final : public Decoder {
public:
  explicit ByteFallbackDecoder(const JsonView &part) {
    requireKeys(part, {"type"});
  }
  bool hasByteTokens() const override { return true; }
  void apply(std::vector<std::string> &tokens) const override {
    std::vector<std::string> result;
    std::string bytes;
    for (std::string &token : tokens) {
      int byte = byteOfToken(token);
      if (byte >= 0) {
        bytes += static_cast<char>(byte);
        continue;
      }
      flush(bytes, result);
      result.push_back(std::move(token));
    }
    flush(bytes, result);
    tokens = std::move(result);
  }

private:
  static void flush(std::string &bytes, std::vector<std::string> &result) {
    if (bytes.empty())
      return;
    if (validPrefix(bytes) == bytes.size())
      result.push_back(bytes);
    else
      for (size_t i = 0; i < bytes.size(); ++i)
        result.push_back("\xEF\xBF\xBD");
    bytes.clear();
  }
};

class FuseDecoder final : public Decoder {
public:
  explicit FuseDecoder(const JsonView &part) { requireKeys(part, {"type"}); }
  void apply(std::vector<std::string> &tokens) const override {
    tokens = {joined(tokens)};
  }
};

class StripDecoder final : public Decoder {
public:
  explicit StripDecoder(const JsonView &part) {
    requireKeys(part, {"type", "content", "start", "stop"});
    content = characterOf(part, "content");
    start = part.at("start").integer(0, INT32_MAX);
    stop = part.at("stop").integer(0, INT32_MAX);
  }
  void apply(std::vector<std::string> &tokens) const override {
    for (std::string &token : tokens) {
      size_t begin = 0, end = token.size(), bytes = content.size();
      for (int64_t i = 0;
           i < start && token.compare(begin, bytes, content) == 0; ++i)
        begin += bytes;
      for (int64_t i = 0; i < stop && end >= begin + bytes &&
                          token.compare(end - bytes, bytes, content) == 0;
           ++i)
        end -= bytes;
      token = token.substr(begin, end - begin);
    }
  }

private:
  std::string content;
  int64_t start, stop;
};

class SuffixDecoder final : public Decoder {
public:
  explicit SuffixDecoder(const JsonView &part) {
    requireKeys(part, {"type", "suffix"});
    suffix = part.at("suffix").text();
    if (suffix.empty())
      part.refuse("has an empty suffix");
  }
  void apply(std::vector<std::string> &tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i)
      replaceAll(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
  }

private:
  std::string suffix;
};

class DecoderSequence final : public Decoder {
public:
  explicit DecoderSequence(const JsonView &part) {
    requireKeys(part, {"type", "decoders"});
    for (const JsonView &item : part.at("decoders").items())
      parts.push_back(readDecoder(item));
  }
  void apply(std::vector<std::string> &tokens) const override {
    for (const auto &part : parts)
      part->apply(tokens);
  }
  bool hasByteTokens() const override {
    for (const auto &part : parts)
      if (part->hasByteTokens())
        return true;
    return false;
  }

private:
  std::vector<std::unique_ptr<Decoder>> parts;
};

} // namespace

std::unique_ptr<Decoder> readDecoder(const JsonView &part) {
  std::string type = typeOf(part);
  if (type == "ByteLevel")
    return std::make_unique<ByteDecoder>(part);
  if (type == "WordPiece")
    return std::make_unique<WordPieceDecoder>(part);
  if (type == "Metaspace")
    return std::make_unique<MetaspaceDecoder>(part);
  if (type == "Replace")
    return std::make_unique<ReplaceDecoder>(part);
  if (type == "ByteFallback")
    return std::make_unique<ByteFallbackDecoder>(part);
  if (type == "Fuse")
    return std::make_unique<FuseDecoder>(part);
  if (type == "Strip")
    return std::make_unique<StripDecoder>(part);
  if (type == "BPEDecoder")
    return std::make_unique<SuffixDecoder>(part);
  if (type == "Sequence")
    return std::make_unique<DecoderSequence>(part);
  refusePart(part, concat("is of type '", type,
                          "', which is no decoder that is supported"));
}

} // namespace tessera
