//===- Tokenize.cpp - tessera tokenize ------------------------------------===//

#include "tessera/Json/ParseJson.h"
#include "tessera/Json/ReadText.h"
#include "tessera/Options/Counted.h"
#include "tessera/tokenizer.h"
#include "tools/tessera/Commands.h"
#include "tools/tessera/report/Output.h"
#include "tools/tessera/report/PrintError.h"
#include "tools/tessera/tokenize/Documents.h"
#include "tools/tessera/tokenize/TokenOutput.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

using namespace tessera;

namespace {

struct Destroy {
  void operator()(tsr_tokenizer *object) const {
    tsr_tokenizer_destroy(object);
  }
};

class Tokenizing {
public:
  explicit Tokenizing(const DriverOptions &options)
      : options(options.tokenize), output(options.output) {}

  /// What is wrong, or "".
  std::string run() {
    for (auto step : {&Tokenizing::load, &Tokenizing::checkModel,
                      &Tokenizing::findEnd, &Tokenizing::encodeAll})
      if (std::string why = (this->*step)(); !why.empty())
        return why;
    return tokens.finish();
  }
  void print() const;

private:
  std::string load();
  std::string checkModel();
  std::string findEnd();
  std::string encodeAll();
  Visit encode(const std::string &text);
  void endDocument();
  int64_t vocabulary() const {
    return tsr_tokenizer_vocabulary_size(tokenizer.get());
  }

  const TokenizeOptions &options;
  const std::string &output;
  std::unique_ptr<tsr_tokenizer, Destroy> tokenizer;
  TokenOutput tokens;
  std::vector<int32_t> ids;
  int32_t end = -1; ///< Is added to each document; -1: none is.
  /// A separator here would be a document of its own: this is the beginning, or
  /// it would follow another one.
  bool isBetween = true;
  int64_t bytes = 0, repeated = 0;
  LeftOut leftOut;
};

std::string Tokenizing::load() {
  tsr_tokenizer *loaded = nullptr;
  if (tsr_tokenizer_load(options.tokenizer.c_str(), &loaded) != TSR_OK)
    return tsr_last_error();
  tokenizer.reset(loaded);
  return "";
}

/// The tokenizer must be of the model, as far as sizes can tell.
std::string Tokenizing::checkModel() {
  if (options.model.empty())
    return "";
  std::string path = options.model;
  if (llvm::sys::fs::is_directory(path))
    path += "/config.json";
  auto file = readText(path, json_kinds::config);
  if (!file)
    return llvm::toString(file.takeError());
  llvm::Expected<llvm::json::Value> config =
      parseJson((*file)->getBuffer(), json_kinds::config);
  if (!config)
    return "'" + path + "' is not JSON: " + llvm::toString(config.takeError());
  const llvm::json::Object *object = config->getAsObject();
  std::optional<int64_t> size =
      object ? object->getInteger("vocab_size") : std::nullopt;
  if (!size)
    return "'" + path + "' has no vocab_size; give the config.json of a model";
  if (vocabulary() > *size)
    return "the tokenizer '" + options.tokenizer + "' has a vocabulary of " +
           std::to_string(vocabulary()) + ", the model '" + options.model +
           "' one of " + std::to_string(*size) +
           "; use the tokenizer of this model";
  return "";
}

std::string Tokenizing::findEnd() {
  if (!options.appendsEnd)
    return "";
  std::string token = options.endToken;
  if (token.empty())
    token = tsr_tokenizer_end_token(tokenizer.get());
  if (token.empty())
    return "--append-eod needs to know the token: '" + options.tokenizer +
           "' has no tokenizer_config.json with an eos_token; name it with "
           "--eod-token";
  if (tsr_tokenizer_find(tokenizer.get(), token.c_str(), &end) != TSR_OK)
    return "the token '" + token + "' that ends documents is not in '" +
           options.tokenizer + "'; name another with --eod-token";
  return "";
}

std::string Tokenizing::encodeAll() {
  if (std::string why = tokens.open(output, options.format, vocabulary());
      !why.empty())
    return why;
  return visitDocuments(
      options, [&](const std::string &text) { return encode(text); }, leftOut);
}

Visit Tokenizing::encode(const std::string &text) {
  const int32_t *first = nullptr;
  size_t count = 0;
  tsr_special special =
      options.addsSpecial ? TSR_WITH_SPECIAL : TSR_WITHOUT_SPECIAL;
  if (tsr_tokenizer_encode(tokenizer.get(), text.data(), text.size(), special,
                           &first, &count) != TSR_OK)
    return {tsr_last_error()};
  ids.assign(first, first + count);
  if (end >= 0 && count > 0)
    endDocument();
  if (ids.empty())
    return {"", true};
  bytes += static_cast<int64_t>(text.size());
  return {tokens.addDocument(ids)};
}

/// Ends the document once, also if its text holds separators, or the tokenizer
/// adds them: no two of them follow each other, and none begins the data.
void Tokenizing::endDocument() {
  ids.push_back(end);
  size_t given = ids.size();
  llvm::erase_if(ids, [&](int32_t id) {
    bool isRepeated = id == end && isBetween;
    isBetween = id == end;
    return isRepeated;
  });
  repeated += static_cast<int64_t>(given - ids.size());
}

void Tokenizing::print() const {
  auto ratio = static_cast<double>(bytes) / tokens.tokens();
  standardOutput() << "wrote " << printable(tokens.path()) << ": "
                   << tokens.tokens() << " tokens (" << tokens.type()
                   << ", vocabulary " << vocabulary() << ") of "
                   << tokens.documents()
                   << (tokens.documents() == 1 ? " document" : " documents")
                   << ", " << llvm::format("%.2f", ratio)
                   << " bytes per token\n";
  if (std::string left = leftOut.text(); !left.empty())
    standardOutput() << "left out: " << left << "; --strict refuses them\n";
  if (repeated)
    standardOutput() << "left out: " << counted(repeated, "repeated separator")
                     << "\n";
  if (std::string flags = tokens.readingFlags(); !flags.empty())
    standardOutput() << "train on it with: --data "
                     << printable(shellWord(tokens.path())) << " " << flags
                     << "\n";
}

} // namespace

int tessera::runTokenize(const DriverOptions &options) {
  Tokenizing tokenizing(options);
  if (std::string why = tokenizing.run(); !why.empty())
    return printError(why);
  tokenizing.print();
  return 0;
}
