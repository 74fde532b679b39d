//===- Questions.h - questions with several answers -------------*- C++ -*-===//
// A model answers by the choice that it takes for the most probable one after
// the prompt.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_EVALUATE_QUESTIONS_H
#define TESSERA_TOOLS_TESSERA_EVALUATE_QUESTIONS_H

#include "tessera/tessera.h"
#include "tools/tessera/generate/TextOfTokens.h"
#include "llvm/Support/JSON.h"

namespace tessera {

/// A prompt and one choice after it.
struct Choice {
  std::vector<int32_t> tokens;
  size_t given = 0;  ///< Tokens of the prompt.
  double length = 0; ///< In characters, or in tokens where these were named.
  tsr_score score = {};

  double normalised() const { return score.log_probability / length; }
};

struct Question {
  std::vector<Choice> choices;
  int64_t answer = 0;
  int64_t line = 0; ///< Line of the file, from 1.
  /// Returns the most probable choice; of equal ones the first. By its
  /// log-probability, and by that of a character.
  int64_t chosen() const;
  int64_t chosenNormalised() const;
};

/// The questions of a file of JSON lines {"prompt", "choices", "answer"}.
class Questions {
public:
  /// Texts need a tokenizer, lists of tokens do not. Prints what is wrong with
  /// a line and returns false.
  bool read(const std::string &path, TextOfTokens &tokenizer);
  /// Scores all choices; prints errors. In several processes all must have the
  /// same questions.
  bool score(tsr_session *session);
  /// The same as requests, `most` at a time, which share prompts.
  bool score(tsr_generator *generator, int64_t most);

  int64_t longestText() const; ///< In tokens.
  /// Returns the question's place, for a message.
  std::string longestPlace() const;
  std::string text() const;
  llvm::json::Value json() const;

private:
  /// A choice whose request waits or runs.
  struct Asked {
    size_t question;
    Choice *choice; ///< Null: it has been scored.
    int64_t request;
  };
  bool readLine(llvm::StringRef line, TextOfTokens &tokenizer);
  bool addChoice(const llvm::json::Value &prompt,
                 const llvm::json::Value &choice, TextOfTokens &tokenizer,
                 Question &question);
  bool isSameEverywhere(tsr_session *session) const;
  bool ask(tsr_generator *generator, Asked &asked);
  bool take(tsr_generator *generator, Asked &asked);
  bool isNumber(size_t question, double value) const;
  bool refuse(const std::string &why) const;
  bool refuse(size_t question, const std::string &why) const;
  double accuracy(int64_t (Question::*chosen)() const) const;

  std::string path;
  int64_t lineNumber = 0;
  std::vector<Question> questions;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_EVALUATE_QUESTIONS_H
