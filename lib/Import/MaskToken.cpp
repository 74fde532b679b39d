//===- MaskToken.cpp - the mask of a masked language model ----------------===//

#include "lib/Import/MaskToken.h"
#include "lib/Import/TokenizerFolder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tessera;

std::optional<int64_t> tessera::publishedMask(int64_t vocabulary) {
  constexpr int64_t published[] = {30522, 28996, 119547, 105879, 21128};
  if (llvm::is_contained(published, vocabulary))
    return 103;
  return std::nullopt;
}

FailureOr<std::optional<int64_t>> tessera::readMaskToken(const ConfigFile &file,
                                                         int64_t vocabulary) {
  constexpr StringRef key = "mask_token_id";
  if (file.find(key)) {
    int64_t token = 0;
    if (failed(file.read(key, token, {0, vocabulary - 1})))
      return failure();
    return std::optional<int64_t>(token);
  }
  TokenizerFolder tokenizer(file);
  if (!tokenizer.hasTokenizer())
    return publishedMask(vocabulary);
  if (failed(tokenizer.read()))
    return failure();
  std::optional<int64_t> token = tokenizer.numberOf("mask_token");
  if (!token || (*token >= 0 && *token < vocabulary))
    return token;
  return file.error("vocab_size")
         << "the tokenizer beside the config numbers '"
         << tokenizer.textOf("mask_token") << "' " << *token
         << ", but 'vocab_size' is " << vocabulary
         << "; take the tokenizer of this model, or give 'mask_token_id'";
}

LogicalResult tessera::refuseMissingMask(const ConfigFile &file) {
  return file.error("model_type")
         << "the mask token is not known: the config has no 'mask_token_id', "
            "and no tokenizer.json or vocab.txt beside it has one; give "
            "'mask_token_id' (of a tokenizer the number of '[MASK]')";
}
