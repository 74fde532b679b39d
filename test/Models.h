//===- Models.h - a small model of each family ------------------*- C++ -*-===//
// The configs in test/models. Suites that test every family enumerate the
// folder when they run, so that a new family is a new file there.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_MODELS_H
#define TESSERA_TEST_MODELS_H

#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace tessera::test {

/// A config of test/models, and what its imported program tells about it.
struct TestModel {
  std::string name;           ///< The name of the file without ".json".
  bool predictsMasks = false; ///< An encoder, as BERT.
  bool hasSource = false;     ///< A decoder beside an encoder, as T5.
  int64_t keyHeads = 0, queriesOfKey = 0; ///< Heads, and queries of each.
  int64_t experts = 0;                    ///< 0: the model has none.
  int64_t positions = 0;
  int64_t vocabulary = 0;

  /// It has a causal decoder alone.
  bool isMasked() const { return predictsMasks; }
  bool isPair() const { return hasSource; }
  bool isCausal() const { return !isMasked() && !isPair(); }
  bool isDenseDecoder() const { return isCausal() && experts == 0; }
  bool generates() const { return !isMasked(); }
  bool encodes() const { return !isCausal(); }
  /// Returns whether `tp` of this size can split the heads.
  bool splitsHeads(int64_t ranks) const {
    return keyHeads % ranks == 0 || queriesOfKey % ranks == 0;
  }
  std::string path() const;
};

/// Returns the models in the order of their names. A file that cannot be
/// imported is a failed expectation.
const std::vector<TestModel> &testModels();
/// Returns the models that `isWanted` is true of, for ::testing::ValuesIn.
std::vector<TestModel> testModels(bool (TestModel::*isWanted)() const);

/// Returns the path of test/models/NAME.json, which need not exist.
std::string modelPath(const std::string &name);
/// Returns the text of a config with other values of those keys that it has.
std::string configWith(const std::string &path,
                       const llvm::json::Object &values);
/// Returns the text of a config with each probability of dropout 0.
std::string configWithoutDropout(const std::string &path);

/// Returns the letters and digits of a text, for names of GoogleTest.
std::string lettersOf(const std::string &text);
/// The name of a test whose parameter is a model.
struct NameOfModel {
  template <class Info> std::string operator()(const Info &info) const {
    return lettersOf(info.param.name);
  }
};

} // namespace tessera::test

#endif // TESSERA_TEST_MODELS_H
