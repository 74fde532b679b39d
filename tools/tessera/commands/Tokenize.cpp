//===- Tokenize.cpp - tessera tokenize ------------------------------------===//

#include "tessera/Json/ParseJson.h"
#include "tessera/Json/ReadText.h"
#include "tessera/Options/Counted.h"
#include "tessera/tokenizer.h"
#include "tools/tessera/options/Command.h"
#include "tools/tessera/options/FileChecks.h"
#include "tools/tessera/options/GroupDeclarations.h"
#include "tools/tessera/output/Output.h"
#include "tools/tessera/output/PrintError.h"
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
  explicit Tokenizing(const TokenizeOptions &options) : options(options) {}

  /// Returns what is wrong, or "".
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
  if (std::string why =
          tokens.open(options.output, options.format, vocabulary());
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

class Tokenize : public Command {
public:
  void declare(CLI::App &app) override;
  /// A token is named to be appended.
  void check(CLI::App &) override {
    options.appendsEnd |= !options.endToken.empty();
  }
  int run() override;

private:
  void declareDocuments(CLI::App &app);

  TokenizeOptions options;
};

const CommandRegistration<Tokenize>
    registration({120, "tokenize", "Make tokens of text, for --data of train",
                  " README.md --tokenizer path/to/model -o data.bin"});

} // namespace

void Tokenize::declare(CLI::App &app) {
  app.add_option("text", options.texts,
                 "Files of text, or of JSON (.jsonl: an object per line; "
                 ".json); -: standard input")
      ->required();
  beginGroup(app, "Tokenizer", "--tokenizer path/to/model");
  app.add_option("--tokenizer", options.tokenizer,
                 "Hugging Face folder with tokenizer.json or tokenizer.model, "
                 "or that file")
      ->required()
      ->type_name("DIR");
  app.add_option("--model", options.model,
                 "config.json, or its directory, whose vocabulary the "
                 "tokenizer must fit")
      ->type_name("PATH");
  app.add_flag("--special-tokens,!--no-special-tokens", options.addsSpecial,
               "Add the tokens around each document that the tokenizer's "
               "post-processor adds")
      ->default_str("on");
  declareDocuments(app);
  beginGroup(app, "Output", "-o data.bin");
  app.add_option("--format", options.format,
                 "Raw uint16 or uint32; llmc: with llm.c's header; megatron: "
                 ".bin and .idx; auto: the smaller raw one that fits")
      ->check(oneOf({"auto", "uint16", "uint32", "llmc", "megatron"}))
      ->type_name("auto|uint16|uint32|llmc|megatron")
      ->capture_default_str();
  app.add_option("-o,--output", options.output, "Output file")
      ->required()
      ->type_name("FILE");
}

void Tokenize::declareDocuments(CLI::App &app) {
  beginGroup(app, "Documents", "--documents line --append-eod");
  app.add_option("--documents", options.documents,
                 "What a document is: a file, a line, the text of a JSON "
                 "object per line (jsonl), or of each object of a JSON array "
                 "or of objects that follow each other (json); auto: by the "
                 "name, else file")
      ->check(oneOf({"auto", "file", "line", "jsonl", "json"}))
      ->type_name("auto|file|line|jsonl|json")
      ->capture_default_str();
  app.add_option("--json-key", options.jsonKey, "Where an object's text is")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--append-eod", options.appendsEnd,
               "End each document with the tokenizer's eos_token");
  app.add_option("--eod-token", options.endToken,
                 "End each document with this token instead")
      ->type_name("TOKEN");
  app.add_flag("--strict", options.isStrict,
               "Refuse empty texts and blank lines, which are else left out "
               "and counted");
}

int Tokenize::run() {
  for (const std::string &path : options.texts)
    if (std::string why = path == "-" ? ""
                                      : checkInput("text", path,
                                                   "name files of text, or - "
                                                   "for the standard input");
        !why.empty())
      return printError(why);
  if (std::string why = firstOf({checkTokenizer(options.tokenizer),
                                 checkOutput(options.output, "data.bin")});
      !why.empty())
    return printError(why);
  Tokenizing tokenizing(options);
  if (std::string why = tokenizing.run(); !why.empty())
    return printError(why);
  tokenizing.print();
  return 0;
}
