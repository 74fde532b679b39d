//===- TokenizerFolder.h - the tokenizer beside a config --------*- C++ -*-===//
// Reads what transformers' tokenizers do: tokenizer.json or vocab.txt numbers
// the tokens; tokenizer_config.json, and with less weight
// special_tokens_map.json, name those of a role. null in one of them, and no
// name in the other, says that there is none.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_IMPORT_TOKENIZERFOLDER_H
#define TESSERA_LIB_IMPORT_TOKENIZERFOLDER_H

#include "lib/Import/ConfigFile.h"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tessera {

class TokenizerFolder {
public:
  explicit TokenizerFolder(const ConfigFile &config) : config(config) {}

  /// Returns whether the config is that of a model's folder, and tokens are
  /// numbered there.
  bool hasTokenizer() const;
  /// Reads the files; what follows needs that.
  mlir::LogicalResult read();

  /// Returns the text of the token for a role such as "mask_token", or "".
  std::string textOf(llvm::StringRef role) const;
  /// Returns the number of that token, if it has one.
  std::optional<int64_t> numberOf(llvm::StringRef role) const;
  /// Returns the numbers of tokens that have a role, or are called special, as
  /// all_special_tokens of transformers and tokenizer.json do.
  const std::set<int64_t> &special() const { return ids; }

private:
  /// An entry of a list of added tokens.
  struct Added {
    std::string text;
    int64_t id;
    bool isSpecial;
  };

  std::string pathOf(llvm::StringRef file) const;
  bool has(llvm::StringRef file) const;
  mlir::LogicalResult readNames(llvm::StringRef file);
  void addNames(const llvm::json::Value *texts);
  void collect(const llvm::json::Value &token, std::optional<int64_t> id);
  mlir::LogicalResult readTokenizer();
  mlir::LogicalResult readVocabulary();
  void number(llvm::StringRef text, std::optional<int64_t> id);

  const ConfigFile &config;
  /// Holds a token for each role: those of BERT's tokenizer where no file says
  /// otherwise.
  std::map<std::string, std::string> roles = {{"unk_token", "[UNK]"},
                                              {"sep_token", "[SEP]"},
                                              {"pad_token", "[PAD]"},
                                              {"cls_token", "[CLS]"},
                                              {"mask_token", "[MASK]"}};
  std::set<std::string> named; ///< Roles for which a file has a text.
  std::set<std::string> names; ///< Texts of the roles, and others.
  std::map<std::string, int64_t> numbers; ///< Numbers of tokens by name.
  std::vector<Added> added;
  std::set<int64_t> ids;
};

} // namespace tessera

#endif // TESSERA_LIB_IMPORT_TOKENIZERFOLDER_H
