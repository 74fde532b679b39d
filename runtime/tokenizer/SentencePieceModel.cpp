#include "runtime/tokenizer/SentencePieceModel.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/Decoder.h"
#include "runtime/tokenizer/ProtoReader.h"
#include "runtime/tokenizer/TextLimit.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera {

namespace {

using Wire = ProtoReader::Wire;
using Field = ProtoReader::Field;

enum PieceType { Normal = 1, Unknown, Control, UserDefined, Unused, Byte };

struct SentencePiece {
  std::string_view text;
  float score = 0;
  uint64_t type = Normal;
};

class ModelReader {
public:
  ModelReader(const std::string &source, SentencePieceModel &model)
      : source(source), model(model) {}

  void read(std::string_view content);

private:
  static constexpr size_t mostPieces = size_t(1) << 22;
  static constexpr size_t longestPiece = 1024; // trained ones have 64 or so
  static constexpr size_t mostNestedRules = 32, mostNestedPieces = 64;
  static constexpr size_t mostSurfaceBytes = 64; // for "<unk>"

  void readPiece(const Field &field);
  void checkPiece(const SentencePiece &piece, const std::string &where);
  void readTrainer(const Field &field);
  void readRules(const Field &field, std::string_view &rules);
  std::unique_ptr<CharacterMap> checkRules(std::string_view rules,
                                           const char *name) const;
  void checkPieces();
  void checkBytes() const;
  void refuseRepeated(std::vector<std::string_view> &texts) const;
  void refuseNested(std::vector<std::string_view> &texts) const;
  template <class... Parts>
  [[noreturn]] void refuse(const Parts &...parts) const {
    fail(TSR_CORRUPT, source, parts...);
  }

  const std::string &source;
  SentencePieceModel &model;
  size_t unknowns = 0;
  std::vector<std::string_view> ordinary, reserved, userDefined;
  std::array<bool, 256> hasByte = {};
  size_t byteCount = 0;
  std::array<int64_t, 4> ids = {0, 1, 2, -1}; ///< unk, bos, eos, pad.
  std::string_view rules, rulesOfDecoding;
};

void ModelReader::read(std::string_view content) {
  constexpr size_t most = size_t(1) << 26;
  if (content.size() > most)
    refuse(" has ", content.size(), " bytes, at most ", most,
           " are read of a model of sentencepiece");
  ProtoReader reader(content, source + " is no model of sentencepiece: it");
  size_t begin = 0;
  for (Field field; reader.next(field); begin = reader.at()) {
    if (field.is(4, Wire::Bytes)) // tests of itself
      continue;
    model.content += content.substr(begin, reader.at() - begin);
    if (field.is(1, Wire::Bytes))
      readPiece(field);
    else if (field.is(2, Wire::Bytes))
      readTrainer(field);
    else if (field.is(3, Wire::Bytes))
      readRules(field, rules);
    else if (field.is(5, Wire::Bytes))
      readRules(field, rulesOfDecoding);
  }
  checkPieces();
  model.rules = checkRules(rules, "normalizer_spec");
  std::unique_ptr<CharacterMap> decoding =
      checkRules(rulesOfDecoding, "denormalizer_spec");
  for (const auto *map : {model.rules.get(), decoding.get()})
    if (map)
      model.growth = std::max(model.growth, map->growth());
}

void ModelReader::readPiece(const Field &field) {
  if (model.pieceCount == mostPieces)
    refuse(" has more than ", mostPieces, " pieces, the most that are read");
  std::string where = concat(" has the piece ", model.pieceCount);
  ProtoReader reader(field.bytes,
                     source + ": piece " + std::to_string(model.pieceCount));
  SentencePiece piece;
  for (Field part; reader.next(part);)
    if (part.is(1, Wire::Bytes))
      piece.text = part.bytes;
    else if (part.is(2, Wire::Fixed32))
      piece.score = part.asFloat();
    else if (part.is(3, Wire::Number))
      piece.type = part.value;
  checkPiece(piece, where);
  ++model.pieceCount;
  model.longestPiece = std::max(model.longestPiece, piece.text.size());
}

void ModelReader::checkPiece(const SentencePiece &piece,
                             const std::string &where) {
  std::string_view text = piece.text;
  if (text.empty() || text.size() > longestPiece)
    refuse(where, " of ", text.size(), " bytes, pieces have 1 to ",
           longestPiece);
  if (validPrefix(text) != text.size() || text.find('\0') != text.npos)
    refuse(where, ", which is no UTF-8 without zeros: '", excerpt(text), "'");
  if (!std::isfinite(piece.score))
    refuse(where, " '", excerpt(text), "' whose score is not finite");
  if (piece.type < Normal || piece.type > Byte)
    refuse(where, " of type ", piece.type, ", types are 1 to 6");
  unknowns += piece.type == Unknown;
  bool isReserved =
      piece.type == Unknown || piece.type == Control || piece.type == Byte;
  (isReserved ? reserved : ordinary).push_back(text);
  if (!isReserved)
    model.pieces.push_back({std::string(text), piece.type != Unused});
  if (piece.type == UserDefined)
    userDefined.push_back(text);
  if (piece.type != Byte)
    return;
  int byte = byteOfToken(text);
  if (byte < 0)
    refuse(where, " '", excerpt(text), "', which is no byte such as <0x0A>");
  hasByte[static_cast<size_t>(byte)] = true;
  ++byteCount;
}

void ModelReader::readTrainer(const Field &field) {
  ProtoReader reader(field.bytes, source + ": trainer_spec");
  for (Field part; reader.next(part);) {
    bool isId = part.number >= 40 && part.number <= 43;
    if (part.is(3, Wire::Number) && part.value != 1 && part.value != 2)
      fail(TSR_UNSUPPORTED, source, " is of the model_type ", part.value,
           ", supported are 1 (unigram) and 2 (bpe)");
    if (part.is(35, Wire::Number))
      model.fallsBackToBytes = part.value != 0;
    if (isId && part.wire == Wire::Number)
      ids[part.number - 40] = static_cast<int32_t>(part.value);
    if (!part.is(44, Wire::Bytes))
      continue;
    if (part.bytes.size() > mostSurfaceBytes ||
        validPrefix(part.bytes) != part.bytes.size())
      refuse(" has an unk_surface of ", part.bytes.size(),
             " bytes, it must be UTF-8 of at most ", mostSurfaceBytes);
  }
}

void ModelReader::readRules(const Field &field, std::string_view &found) {
  ProtoReader reader(field.bytes, source + ": normalizer_spec");
  for (Field part; reader.next(part);)
    if (part.is(2, Wire::Bytes))
      found = part.bytes;
}

std::unique_ptr<CharacterMap> ModelReader::checkRules(std::string_view found,
                                                      const char *name) const {
  if (found.empty())
    return nullptr;
  std::string where = concat(source, ": '", name, ".precompiled_charsmap'");
  auto map = std::make_unique<CharacterMap>(
      found, where, CharacterMap::Reader::SentencePiece);
  if (map->nestedRules() > mostNestedRules)
    fail(TSR_CORRUPT, where, " has ", map->nestedRules(),
         " rules that begin with each other, at most ", mostNestedRules,
         " are taken");
  if (map->growth() > TextLimit::factor)
    fail(TSR_UNSUPPORTED, where, " lengthens a text ", map->growth(),
         " times, at most ", TextLimit::factor, " times is done");
  return map;
}

void ModelReader::checkPieces() {
  if (unknowns != 1)
    refuse(" has ", unknowns, " unknown pieces, a model has one");
  if (ordinary.empty())
    refuse(" has no piece of a text");
  constexpr const char *names[] = {"unk_id", "bos_id", "eos_id", "pad_id"};
  auto count = static_cast<int64_t>(model.pieceCount);
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] >= count && ids[i] > 2) // the first ones are defaults
      refuse(" has the ", names[i], " ", ids[i], ", but ", count, " pieces");
  checkBytes();
  refuseRepeated(ordinary);
  refuseRepeated(reserved);
  refuseNested(userDefined);
}

void ModelReader::checkBytes() const {
  if (!model.fallsBackToBytes && byteCount > 0)
    refuse(" has ", byteCount, " pieces of bytes, but no byte_fallback");
  auto found =
      static_cast<size_t>(std::count(hasByte.begin(), hasByte.end(), true));
  if (model.fallsBackToBytes && found != hasByte.size())
    refuse(" has pieces of ", found, " bytes, its byte_fallback needs ",
           hasByte.size());
}

void ModelReader::refuseRepeated(std::vector<std::string_view> &texts) const {
  std::sort(texts.begin(), texts.end());
  auto twice = std::adjacent_find(texts.begin(), texts.end());
  if (twice != texts.end())
    refuse(" has the piece '", excerpt(*twice), "' twice");
}

/// Refuses pieces if more begin at one place than the library has room for.
void ModelReader::refuseNested(std::vector<std::string_view> &texts) const {
  std::sort(texts.begin(), texts.end());
  std::vector<std::string_view> open; // each begins with those before it
  for (std::string_view text : texts) {
    while (!open.empty() && text.substr(0, open.back().size()) != open.back())
      open.pop_back();
    open.push_back(text);
    if (open.size() > mostNestedPieces)
      refuse(" has more than ", mostNestedPieces,
             " user-defined pieces that begin with each other, the last is '",
             excerpt(text), "'");
  }
}

} // namespace

SentencePieceModel::SentencePieceModel(const std::string &source,
                                       std::string_view content) {
  ModelReader(source, *this).read(content);
}

} // namespace tessera
