#include "runtime/tokenizer/StopStrings.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <utility>

namespace tessera {

StopStrings::Stop::Stop(const std::string &text)
    : text(text), fallback(text.size() + 1, 0) {
  for (std::size_t i = 1; i < text.size(); ++i)
    fallback[i + 1] = next(fallback[i], text[i]);
}

/// Bytes of the stop that match after one more byte of the text.
std::size_t StopStrings::Stop::next(std::size_t from, char byte) const {
  while (from > 0 && (from == text.size() || text[from] != byte))
    from = fallback[from];
  return text[from] == byte ? from + 1 : 0;
}

StopStrings::StopStrings(const std::vector<std::string> &texts) {
  for (const std::string &text : texts) {
    const std::size_t number = stops.size();
    if (text.empty())
      fail(TSR_INVALID_ARGUMENT, "stop ", number,
           " is empty; it would end every text before it begins");
    if (validPrefix(text) != text.size())
      fail(TSR_INVALID_ARGUMENT, "stop ", number, " is no UTF-8 from byte ",
           validPrefix(text), " on");
    stops.emplace_back(text);
  }
}

std::string StopStrings::push(std::string_view part) {
  if (foundStop >= 0)
    return "";
  for (char byte : part) {
    held += byte;
    std::size_t longest = 0;
    for (std::size_t k = 0; k < stops.size(); ++k) {
      Stop &stop = stops[k];
      stop.matched = stop.next(stop.matched, byte);
      if (stop.matched == stop.text.size() && stop.matched > longest)
        longest = stop.matched, foundStop = static_cast<int64_t>(k);
    }
    if (longest > 0) {
      std::string text = held.substr(0, held.size() - longest);
      held.clear();
      return text;
    }
  }
  std::size_t kept = 0;
  for (const Stop &stop : stops)
    kept = std::max(kept, stop.matched);
  std::string text = held.substr(0, held.size() - kept);
  held.erase(0, held.size() - kept);
  return text;
}

std::string StopStrings::finish() { return std::exchange(held, {}); }

void StopStrings::reset() {
  held.clear();
  foundStop = -1;
  for (Stop &stop : stops)
    stop.matched = 0;
}

} // namespace tessera
