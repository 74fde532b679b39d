//===- SpecialTokens.cpp - tokens that are never hidden -------------------===//

#include "lib/Import/SpecialTokens.h"
#include "lib/Import/MaskToken.h"
#include "lib/Import/TokenizerFolder.h"
#include "tessera/Options/SpecialIds.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace mlir;
using namespace tessera;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// A config without a tokenizer
//===----------------------------------------------------------------------===//

/// Returns the id that a key has, -1 if its value is none, and `otherwise`
/// where the key is absent or null.
static int64_t idOf(const ConfigFile &file, StringRef key,
                    int64_t otherwise = -1) {
  const json::Value *value = file.find(key);
  return value ? std::max<int64_t>(value->getAsInteger().value_or(-1), -1)
               : otherwise;
}

static SpecialTokens ascending(std::set<int64_t> ids) {
  ids.erase(-1);
  return SpecialTokens(ids.begin(), ids.end());
}

/// Returns the special tokens that a config tells by its ids. Where they are
/// only guessed, `like` says from what.
static std::optional<SpecialTokens>
tellTokens(const ConfigFile &file, int64_t vocabulary, StringRef &like) {
  int64_t padding = idOf(file, "pad_token_id", 0);
  int64_t mask = idOf(file, "mask_token_id"), cls = idOf(file, "cls_token_id"),
          sep = idOf(file, "sep_token_id");
  if (cls >= 0 && sep >= 0)
    return ascending({padding, mask, cls, sep, idOf(file, "unk_token_id"),
                      idOf(file, "bos_token_id"), idOf(file, "eos_token_id")});
  std::optional<int64_t> published = publishedMask(vocabulary);
  if (published && padding == 0 && (mask < 0 || mask == *published)) {
    like = "a vocabulary that BERT was published with";
    return ascending(
        {0, *published - 3, *published - 2, *published - 1, *published});
  }
  constexpr int64_t trainedMask = 4; // after [PAD], [UNK], [CLS] and [SEP]
  if (padding == 0 && mask == trainedMask) {
    like = "those of a new tokenizer of BERT's kind";
    return ascending({0, 1, 2, 3, trainedMask});
  }
  return std::nullopt;
}

static void remarkOn(const ConfigFile &file, const SpecialTokens &ids,
                     StringRef like) {
  std::string list;
  for (int64_t id : ids)
    list += (list.empty() ? "" : ", ") + std::to_string(id);
  emitRemark(UnknownLoc::get(file.getContext()))
      << "the special tokens are taken to be " << list
      << ": no tokenizer lies beside the config, whose ids are like " << like
      << "; --special-ids names others";
}

//===----------------------------------------------------------------------===//
// Either
//===----------------------------------------------------------------------===//

FailureOr<std::optional<SpecialTokens>>
tessera::readSpecialTokens(const ConfigFile &file, StringRef given,
                           int64_t vocabulary, bool explains) {
  if (!given.empty()) {
    std::optional<SpecialTokens> ids = parseSpecialIds(given.str());
    if (ids && !ids->empty() && ids->back() >= vocabulary)
      return file.error("vocab_size")
             << "--special-ids names " << ids->back()
             << ", which is outside of the vocabulary of " << vocabulary
             << "; name tokens of the model";
    return ids;
  }
  if (TokenizerFolder folder(file); folder.hasTokenizer()) {
    if (failed(folder.read()))
      return failure();
    SpecialTokens ids(folder.special().begin(), folder.special().end());
    // The model may have fewer tokens than its tokenizer.
    llvm::erase_if(ids, [&](int64_t id) { return id < 0 || id >= vocabulary; });
    return std::optional<SpecialTokens>(std::move(ids));
  }
  StringRef like;
  std::optional<SpecialTokens> ids = tellTokens(file, vocabulary, like);
  if (ids && !ids->empty() && ids->back() >= vocabulary)
    return std::optional<SpecialTokens>();
  if (ids && explains && !like.empty())
    remarkOn(file, *ids, like);
  return ids;
}
