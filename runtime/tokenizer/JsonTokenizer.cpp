//===- JsonTokenizer.cpp - the tokenizer of a tokenizer.json --------------===//
#include "runtime/support/JsonLimits.h"
#include "runtime/support/Status.h"
#include "runtime/tokenizer/AddedTokens.h"
#include "runtime/tokenizer/Decoder.h"
#include "runtime/tokenizer/Normalizer.h"
#include "runtime/tokenizer/PartReader.h"
#include "runtime/tokenizer/PostProcessor.h"
#include "runtime/tokenizer/PreTokenizer.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/tokenizer/Utf8.h"
#include "runtime/tokenizer/WordModel.h"

#include <algorithm>

namespace tessera {

namespace {

class JsonTokenizer final : public Tokenizer {
public:
  explicit JsonTokenizer(const JsonView &file);

  void encode(std::string_view text, tsr_special special,
              std::vector<int32_t> &ids) override;
  std::string decode(const std::vector<int32_t> &ids,
                     tsr_special special) const override;
  int32_t vocabularySize() const override {
    return std::max(model->vocabulary().end(), added.end());
  }
  int32_t idOf(std::string_view token) const override {
    int32_t id = added.idOf(token);
    return id != TokenTable::none ? id : model->vocabulary().find(token);
  }
  bool appendBytesOf(int32_t id, tsr_special special,
                     std::string &bytes) const override;
  int byteOf(int32_t id) const override;

private:
  void readSplitting(const JsonView &file);
  /// Leaves the parts of the text in `pieces`.
  void cut(std::string_view text);
  void normalize(const Piece &piece);
  void checkPieces(size_t original, const std::string &where) const;
  /// Returns whether decoding has this token, and its text.
  bool findText(int32_t id, tsr_special special, std::string_view &text) const;

  std::unique_ptr<Normalizer> normalizer; ///< May be null, as the others.
  AddedTokens added;
  PreTokenizers preTokenizers;
  std::unique_ptr<Model> model;
  PostProcessor around;
  std::unique_ptr<Decoder> decoder;

  static constexpr size_t mostDecoded = INT32_MAX;

  // Kept from text to text.
  std::string repaired;
  TextArena arena;
  NormalText normal;
  WorkLimit work; ///< Bounds the search for added tokens.
  Pieces pieces, next;
};

JsonTokenizer::JsonTokenizer(const JsonView &file) {
  requireKeys(file,
              {"version", "truncation", "padding", "added_tokens", "normalizer",
               "pre_tokenizer", "post_processor", "decoder", "model"});
  if (file.at("version").text() != "1.0")
    refusePart(file.at("version"), concat("is '", file.at("version").text(),
                                          "', supported is 1.0"));
  model = readModel(file.at("model"));
  if (file.has("normalizer"))
    normalizer = readNormalizer(file.at("normalizer"));
  if (file.has("added_tokens"))
    added = AddedTokens(file.at("added_tokens"), model->vocabulary(),
                        normalizer.get());
  readSplitting(file);
  if (file.has("post_processor"))
    around = readPostProcessor(file.at("post_processor"));
  if (file.has("decoder"))
    decoder = readDecoder(file.at("decoder"));
  for (const std::vector<int32_t> *ids : {&around.before, &around.after})
    for (int32_t id : *ids)
      if (id >= vocabularySize())
        file.at("post_processor")
            .refuse(concat("adds the token ", id, ", the vocabulary has ",
                           vocabularySize()));
}

void JsonTokenizer::readSplitting(const JsonView &file) {
  if (file.has("pre_tokenizer"))
    preTokenizers = readPreTokenizers(file.at("pre_tokenizer"));
  if (preTokenizers.endsInBytes && model->use(WordForm::Bytes))
    return;
  model->use(WordForm::Text);
  if (!preTokenizers.endsInBytes)
    return;
  preTokenizers.steps.push_back(makeByteStep());
  preTokenizers.places.push_back(file.at("pre_tokenizer").where());
}

void JsonTokenizer::normalize(const Piece &piece) {
  Piece changed = piece;
  if (normalizer) {
    normal.text = piece.text;
    normal.isFirst = piece.isFirst;
    normalizer->apply(normal);
    normal.limit.others += normal.text.size();
    changed.text = arena.join(normal.text, "");
    changed.isFirst = normal.isFirst;
  }
  added.split(changed, AddedTokens::Stage::Normalized, work, next);
}

void JsonTokenizer::cut(std::string_view text) {
  arena.clear();
  pieces.clear();
  next.clear();
  if (text.empty())
    return;
  work.reset(text.size());
  added.split(Piece{text}, AddedTokens::Stage::Original, work, pieces);
  auto pass = [&](const auto &visit) {
    for (const Piece &piece : pieces)
      if (piece.isToken())
        next.push_back(piece);
      else
        visit(piece);
    pieces.swap(next);
    next.clear();
  };
  normal.limit = {text.size(), 0};
  work.reset(text.size());
  if (normalizer)
    normalizer->begin(text.size());
  pass([&](const Piece &piece) { normalize(piece); });
  for (size_t i = 0; i < preTokenizers.steps.size(); ++i) {
    preTokenizers.steps[i]->begin(text.size());
    pass([&](const Piece &piece) {
      preTokenizers.steps[i]->apply(piece, next, arena);
    });
    checkPieces(text.size(), preTokenizers.places[i]);
  }
}

/// Bytes lengthen a text by a factor of two, and marks of spaces by four, so
/// that a check after each step is early enough.
void JsonTokenizer::checkPieces(size_t original,
                                const std::string &where) const {
  size_t bytes = 0;
  for (const Piece &piece : pieces)
    bytes += piece.text.size();
  TextLimit{original, 0}.require(where, bytes);
}

void JsonTokenizer::encode(std::string_view text, tsr_special special,
                           std::vector<int32_t> &ids) {
  bool isSpecial = special == TSR_WITH_SPECIAL;
  if (isSpecial)
    ids.insert(ids.end(), around.before.begin(), around.before.end());
  std::string_view valid = validUtf8(text, repaired);
  cut(valid);
  model->begin(valid.size(), ids.size());
  for (const Piece &piece : pieces)
    if (piece.isToken())
      ids.push_back(piece.token);
    else
      model->encode(piece.text, ids);
  if (isSpecial)
    ids.insert(ids.end(), around.after.begin(), around.after.end());
}

bool JsonTokenizer::findText(int32_t id, tsr_special special,
                             std::string_view &text) const {
  if (const AddedToken *token = added.find(id))
    text = token->normal;
  else if (model->vocabulary().has(id))
    text = model->vocabulary().text(id);
  else
    return false;
  return special == TSR_WITH_SPECIAL || !added.isSpecial(text);
}

std::string JsonTokenizer::decode(const std::vector<int32_t> &ids,
                                  tsr_special special) const {
  std::vector<std::string> texts;
  std::string_view text;
  size_t bytes = 0;
  for (int32_t id : ids)
    if (findText(id, special, text)) {
      if ((bytes += text.size() + 1) > mostDecoded)
        fail(TSR_UNSUPPORTED, "the text of ", ids.size(),
             " tokens has more than ", mostDecoded,
             " bytes; decode fewer at once");
      texts.emplace_back(text);
    }
  // Some decoders write a space for a token.
  if (decoder)
    decoder->apply(texts, {bytes, 0});
  std::string result;
  for (const std::string &part : texts) {
    if (!decoder && &part != &texts.front())
      result += ' '; // tokenizers joins them so
    result += part;
  }
  return result;
}

bool JsonTokenizer::appendBytesOf(int32_t id, tsr_special special,
                                  std::string &bytes) const {
  if (!decoder || !decoder->isOfBytes())
    return false;
  std::string_view text;
  if (findText(id, special, text))
    appendTokenBytes(bytes, text);
  return true;
}

int JsonTokenizer::byteOf(int32_t id) const {
  std::string_view text;
  bool isText = decoder && decoder->hasByteTokens() &&
                findText(id, TSR_WITH_SPECIAL, text);
  return isText ? byteOfToken(text) : -1;
}

} // namespace

/// Reads a tokenizer. The limits are several times as much as the largest
/// published files have.
std::unique_ptr<Tokenizer> readTokenizer(const std::string &source,
                                         std::string_view content) {
  JsonTree tree = parseJson(source, content, json_kinds::tokenizer);
  return std::make_unique<JsonTokenizer>(JsonView(tree.root, source));
}

} // namespace tessera
