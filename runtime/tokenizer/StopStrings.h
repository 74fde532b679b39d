//===- StopStrings.h - texts that end a text --------------------*- C++ -*-===//
// The text comes in parts; where these are cut makes no difference. Each stop
// has an automaton (Knuth, Morris, Pratt 1977), so the work per byte does not
// depend on how long stops are.
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_TOKENIZER_STOPSTRINGS_H
#define TESSERA_RUNTIME_TOKENIZER_STOPSTRINGS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

class StopStrings {
public:
  StopStrings() = default;
  /// Takes the stops. TSR_INVALID_ARGUMENT: one is empty or no UTF-8.
  explicit StopStrings(const std::vector<std::string> &stops);

  /// The text that is sure to be before a stop. Parts are whole characters, and
  /// so is this.
  std::string push(std::string_view part);
  /// Returns the text that was held back when the text ends.
  std::string finish();
  /// Begins another text.
  void reset();
  /// The number of the stop that has ended the text; -1: none.
  int64_t found() const { return foundStop; }

private:
  struct Stop {
    std::string text;
    /// For each number of bytes that match, how many still match if the next
    /// one does not.
    std::vector<std::size_t> fallback;
    std::size_t matched = 0;

    explicit Stop(const std::string &text);
    std::size_t next(std::size_t from, char byte) const;
  };

  std::vector<Stop> stops;
  std::string held;
  int64_t foundStop = -1;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_STOPSTRINGS_H
