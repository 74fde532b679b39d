//===- AddedTokens.h - tokens that are found in the text itself -*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_ADDEDTOKENS_H
#define TESSERA_RUNTIME_TOKENIZER_ADDEDTOKENS_H

#include "runtime/support/Json.h"
#include "runtime/tokenizer/Normalizer.h"
#include "runtime/tokenizer/Pieces.h"
#include "runtime/tokenizer/TokenTable.h"
#include "runtime/tokenizer/Trie.h"

namespace tessera {

struct AddedToken {
  std::string content;
  /// The text that is looked for in normalized texts.
  std::string normal;
  int32_t id;
  bool isSpecial, isNormalized, isSingleWord, stripsLeft, stripsRight;
};

class AddedTokens {
public:
  AddedTokens() = default;
  /// `normalizer` may be null. TSR_CORRUPT: an id is not that which the
  /// vocabulary, or the order of the list, gives the token.
  AddedTokens(const JsonView &list, const TokenTable &vocabulary,
              const Normalizer *normalizer);

  /// Cuts the pieces that are no tokens: before normalization those tokens
  /// that are found in the text as it is, after it the others. TSR_UNSUPPORTED:
  /// that takes too much work for the length of the text.
  enum class Stage { Original, Normalized };
  void split(const Piece &piece, Stage stage, WorkLimit &work,
             Pieces &out) const;

  /// Finds an added token; null if the id is of none.
  const AddedToken *find(int32_t id) const;
  /// Returns the id of a text; TokenTable::none if there is no such token.
  int32_t idOf(std::string_view content) const;
  bool isSpecial(std::string_view content) const;
  /// Returns the largest id and one; 0: there are none.
  int32_t end() const { return static_cast<int32_t>(byId.size()); }

private:
  /// The leftmost longest of several texts.
  struct Finder {
    Trie texts; ///< With the index of a token.
    bool hasTokens = false;
    bool begins[256] = {}; ///< True if a text begins with this byte.
  };
  const Finder &finder(Stage stage) const {
    return stage == Stage::Original ? original : normalized;
  }
  void read(const JsonView &item, const TokenTable &vocabulary,
            const Normalizer *normalizer);
  void build(Finder &finder, bool isNormalized);
  struct Cut;
  void place(const Piece &piece, size_t begin, size_t end,
             const AddedToken &token, Cut &cut, Pieces &out) const;

  std::string where; ///< The list, for errors.
  std::vector<AddedToken> tokens;
  std::vector<int32_t> byId; ///< Indices; -1: none.
  TokenTable contents, specials;
  int32_t nextId = 0;
  Finder original, normalized;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_ADDEDTOKENS_H
