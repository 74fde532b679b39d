#include "runtime/tokenizer/TextStream.h"

#include "runtime/tokenizer/Utf8.h"

#include <utility>

namespace tessera {

std::string TextStream::push(int32_t id) {
  tokenizer->requireIds(&id, 1);
  if (isFinished)
    stops.reset();
  isFinished = false;
  return stops.push(decodeNext(id));
}

std::string TextStream::finish() {
  std::string part = stops.push(decodeRest());
  isFinished = true;
  return part + stops.finish();
}

std::string TextStream::decodeNext(int32_t id) {
  if (!tokenizer->appendBytesOf(id, special, bytes))
    return pushToWindow(id);
  size_t end = bytes.size() - incompleteTail(bytes);
  std::string storage;
  std::string part(validUtf8(std::string_view(bytes).substr(0, end), storage));
  bytes.erase(0, end);
  return part;
}

std::string TextStream::decodeRest() {
  std::string storage;
  std::string part(validUtf8(bytes, storage));
  bytes.clear();
  if (window.size() > givenIds)
    part += takeWindow(tokenizer->decode(window, special));
  window.clear();
  fruitlessIds = 0;
  given.clear();
  givenIds = 0;
  return part;
}

/// Returns whether the byte tokens at the end begin a character and do not end
/// it.
bool TextStream::endsWithinCharacter() const {
  std::string tail;
  for (size_t i = window.size(); i > 0 && tail.size() < 4; --i) {
    int byte = tokenizer->byteOf(window[i - 1]);
    if (byte < 0)
      break;
    tail.insert(tail.begin(), static_cast<char>(byte));
  }
  return incompleteTail(tail) != 0;
}

std::string TextStream::pushToWindow(int32_t id) {
  window.push_back(id);
  if (endsWithinCharacter() || isTooEarly())
    return "";
  std::string text = tokenizer->decode(window, special);
  fruitlessIds = window.size();
  // A token without a text does not make the next one the first.
  return text.size() <= given.size() ? "" : takeWindow(text);
}

/// A long window that had no new text is decoded again when it is an eighth
/// longer, so that the work for thousands of tokens without a text grows with
/// their number, not with its square.
bool TextStream::isTooEarly() const {
  constexpr size_t longWindow = 256;
  return fruitlessIds > longWindow &&
         window.size() < fruitlessIds + fruitlessIds / 8;
}

/// Returns the text of the ids that are not given yet. The window goes on with
/// these alone: what a decoder makes of a token depends on one before it at
/// most.
std::string TextStream::takeWindow(const std::string &text) {
  std::string part;
  std::vector<int32_t> rest(window.begin() + givenIds, window.end());
  if (text.compare(0, given.size(), given) == 0)
    part = text.substr(given.size());
  else // bytes that have become no UTF-8 by those after them
    part = tokenizer->decode(rest, special);
  window = std::move(rest);
  fruitlessIds = 0;
  given = tokenizer->decode(window, special);
  givenIds = window.size();
  return part;
}

} // namespace tessera
