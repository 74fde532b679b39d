#include "runtime/tokenizer/Decoder.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/ByteAlphabet.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/PreTokenizer.h"
#include "runtime/tokenizer/Utf8.h"

#include <charconv>

namespace tessera {

static std::unique_ptr<Decoder> readDecoderStep(const JsonView &part);

void Decoder::apply(std::vector<std::string> &tokens,
                    const TextLimit &limit) const {
  change(tokens, limit);
  size_t bytes = 0;
  for (const std::string &token : tokens) {
    if (validPrefix(token) != token.size())
      fail(TSR_CORRUPT, where, " makes a text that is no UTF-8");
    bytes += token.size();
  }
  limit.require(where, bytes);
}

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
  size_t at = text.find(old), done = 0;
  if (at == std::string::npos)
    return;
  std::string result;
  for (; at != std::string::npos; at = text.find(old, done)) {
    result.append(text, done, at - done) += now;
    done = at + old.size();
  }
  text = result.append(text, done);
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
  explicit ByteDecoder(const JsonView &part) : Decoder(part) {
    requireKeys(part,
                {"type", "add_prefix_space", "trim_offsets", "use_regex"});
  }
  void change(std::vector<std::string> &tokens,
              const TextLimit &) const override {
    std::string bytes, storage;
    for (const std::string &token : tokens)
      appendTokenBytes(bytes, token);
    tokens = {std::string(validUtf8(bytes, storage))};
  }
  bool isOfBytes() const override { return true; }
};

class WordPieceDecoder final : public Decoder {
public:
  explicit WordPieceDecoder(const JsonView &part) : Decoder(part) {
    requireKeys(part, {"type", "prefix", "cleanup"});
    prefix = part.at("prefix").text();
    cleansUp = part.at("cleanup").boolean();
  }
  void change(std::vector<std::string> &tokens,
              const TextLimit &) const override {
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
  explicit MetaspaceDecoder(const JsonView &part)
      : Decoder(part), options(part) {}
  void change(std::vector<std::string> &tokens,
              const TextLimit &) const override {
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
      : Decoder(part), pattern(compilePattern(part, patternOf(part))) {
    requireKeys(part, {"type", "pattern", "content"});
    content = part.at("content").text();
  }
  void change(std::vector<std::string> &tokens,
              const TextLimit &limit) const override {
    TextLimit left = limit;
    pattern.begin(limit.original);
    for (std::string &token : tokens) {
      std::string text;
      size_t done = 0;
      pattern.forEachMatch(token, [&](size_t begin, size_t end) {
        text.append(token, done, begin - done);
        left.require(where, text.size() + content.size());
        text += content;
        done = end;
      });
      token = text.append(token, done);
      left.others += token.size();
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
  explicit ByteFallbackDecoder(const JsonView &part) : Decoder(part) {
    requireKeys(part, {"type"});
  }
  bool hasByteTokens() const override { return true; }
  void change(std::vector<std::string> &tokens,
              const TextLimit &) const override {
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
  explicit FuseDecoder(const JsonView &part) : Decoder(part) {
    requireKeys(part, {"type"});
  }
  void change(std::vector<std::string> &tokens,
              const TextLimit &) const override {
    tokens = {joined(tokens)};
  }
};

class StripDecoder final : public Decoder {
public:
  explicit StripDecoder(const JsonView &part) : Decoder(part) {
    requireKeys(part, {"type", "content", "start", "stop"});
    content = characterOf(part, "content");
    start = part.at("start").integer(0, INT32_MAX);
    stop = part.at("stop").integer(0, INT32_MAX);
  }
  void change(std::vector<std::string> &tokens,
              const TextLimit &) const override {
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
  explicit SuffixDecoder(const JsonView &part) : Decoder(part) {
    requireKeys(part, {"type", "suffix"});
    suffix = part.at("suffix").text();
    if (suffix.empty())
      part.refuse("has an empty suffix");
  }
  void change(std::vector<std::string> &tokens,
              const TextLimit &) const override {
    for (size_t i = 0; i < tokens.size(); ++i)
      replaceAll(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
  }

private:
  std::string suffix;
};

class DecoderSequence final : public Decoder {
public:
  explicit DecoderSequence(const JsonView &part) : Decoder(part) {
    requireKeys(part, {"type", "decoders"});
    for (const JsonView &item : part.at("decoders").items())
      parts.push_back(readDecoderStep(item));
  }
  void change(std::vector<std::string> &tokens,
              const TextLimit &limit) const override {
    for (const auto &part : parts)
      part->apply(tokens, limit);
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

static std::unique_ptr<Decoder> readDecoderStep(const JsonView &part) {
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

std::unique_ptr<Decoder> readDecoder(const JsonView &part) {
  constexpr size_t most = 2048; // published files have less than 100
  requireFewValues(part, most);
  return readDecoderStep(part);
}

} // namespace tessera
