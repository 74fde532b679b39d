//===- TextStream.h - the text of ids that come one by one ------*- C++ -*-===//
#ifndef TESSERA_RUNTIME_TOKENIZER_TEXTSTREAM_H
#define TESSERA_RUNTIME_TOKENIZER_TEXTSTREAM_H

#include "runtime/tokenizer/StopStrings.h"
#include "runtime/tokenizer/Tokenizer.h"

namespace tessera {

/// Each part is valid UTF-8; joined, the parts are what decoding all ids at
/// once gives. (Where bytes of "<0x..>" tokens are no UTF-8, the number of
/// U+FFFD may differ.)
class TextStream {
public:
  TextStream(std::shared_ptr<const Tokenizer> tokenizer, tsr_special special)
      : tokenizer(std::move(tokenizer)), special(special) {}

  /// Sets the stops for the text from now on.
  void setStops(StopStrings given) { stops = std::move(given); }
  /// Returns the number of the stop that has ended the text; -1: none.
  int64_t stop() const { return stops.found(); }

  /// Returns the text that this id adds, "" if it ends within a character or
  /// within what may be a stop.
  std::string push(int32_t id);
  /// Returns the text that is left. The next push begins anew.
  std::string finish();

private:
  std::string decodeNext(int32_t id);
  std::string decodeRest();
  std::string pushToWindow(int32_t id);
  bool endsWithinCharacter() const;
  std::string takeWindow(const std::string &text);
  bool isTooEarly() const;

  std::shared_ptr<const Tokenizer> tokenizer;
  tsr_special special;
  StopStrings stops;
  bool isFinished = false;
  std::string bytes; ///< The begin of an incomplete character.
  /// The ids whose text is `given`, for what follows depends on it, and those
  /// after them.
  std::vector<int32_t> window;
  size_t givenIds = 0;
  std::string given;
  size_t fruitlessIds = 0; ///< The window's ids when it last had no new text.
};

} // namespace tessera

#endif // TESSERA_RUNTIME_TOKENIZER_TEXTSTREAM_H
