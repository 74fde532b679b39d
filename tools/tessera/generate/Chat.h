//===- Chat.h - a conversation with a model ---------------------*- C++ -*-===//
// Plain text: "User:" before each line of the standard input, "Assistant:"
// before each answer, which ends where the model would go on as the user.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_TESSERA_GENERATE_CHAT_H
#define TESSERA_TOOLS_TESSERA_GENERATE_CHAT_H

#include "tools/tessera/generate/OpenGenerator.h"
#include <deque>

namespace tessera {

/// Errors are printed, and false returned.
class Chat {
public:
  explicit Chat(const GenerateOptions &options)
      : options(options), model(options) {}

  /// Chats until the standard input ends.
  bool run();

private:
  struct Exchange {
    std::string line, answer;
  };

  bool open();
  void noteTemplate() const;
  std::string text() const;
  bool fit(std::vector<int32_t> &prompt);
  bool answer(const std::string &line);
  bool stream(int64_t request, std::string &answer);
  void show(const std::string &part, bool isFirst) const;

  const GenerateOptions &options;
  OpenGenerator model;
  int64_t places = 0; ///< Tokens of the prompt and the answer together.
  std::deque<Exchange> exchanges;
};

} // namespace tessera

#endif // TESSERA_TOOLS_TESSERA_GENERATE_CHAT_H
