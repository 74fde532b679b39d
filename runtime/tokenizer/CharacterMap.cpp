#include "runtime/tokenizer/CharacterMap.h"

#include "runtime/support/Status.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <cstring>

namespace tessera {

/// Visits each unit that a text may lead to, children before their parents.
/// Units may be shared, as in an automaton.
class CharacterMap::Walk {
public:
  Walk(const CharacterMap &map, const std::string &where, Reader reader)
      : map(map), where(where), reader(reader), states(map.units.size()) {}

  void run() {
    enter(0);
    while (!path.empty())
      step();
  }
  size_t nestedRules() const { return states[0].nested; }
  size_t growth() const;

private:
  struct State {
    enum : uint8_t { Unseen, Open, Done } phase = Unseen;
    uint32_t nested = 0; ///< Rules from here on, along one text.
  };
  struct Place {
    uint32_t unit;
    uint32_t base;     ///< Its children lie at `base ^ byte`.
    uint32_t next = 0; ///< The first byte that was not followed.
  };

  uint32_t baseOf(uint32_t unit) const {
    return unit ^ offsetOf(map.units[unit]);
  }
  bool isRule(uint32_t unit) const {
    return unit != 0 && hasRule(map.units[unit]);
  }
  static constexpr uint32_t noUnit = UINT32_MAX;
  uint32_t childOf(uint32_t base, uint32_t byte) const {
    uint32_t child = base ^ byte;
    bool isThere =
        child < map.units.size() && labelOf(map.units[child]) == byte;
    return isThere ? child : noUnit;
  }
  /// Texts of ours end at a zero byte, those of the library do not.
  uint32_t firstByte() const { return reader == Reader::Ours ? 1 : 0; }

  void enter(uint32_t unit);
  void step();
  void checkRule(uint32_t value) const;

  const CharacterMap &map;
  const std::string &where;
  const Reader reader;
  std::vector<State> states;
  std::vector<Place> path;
  std::vector<uint32_t> order; ///< Units in the order they were left in.
};

void CharacterMap::Walk::enter(uint32_t unit) {
  uint32_t base = baseOf(unit);
  states[unit].phase = State::Open;
  // The library reads all children, and a rule is at `base` itself.
  bool isRead = reader == Reader::SentencePiece || isRule(unit);
  uint32_t last = reader == Reader::SentencePiece ? base | 0xFF : base;
  if (isRead && last >= map.units.size())
    fail(TSR_CORRUPT, where, " leads to the unit ", last,
         " of its trie, which has ", map.units.size());
  if (isRule(unit))
    checkRule(map.units[base]);
  path.push_back({unit, base});
  path.back().next = firstByte();
}

void CharacterMap::Walk::checkRule(uint32_t value) const {
  size_t begin = value & 0x7FFFFFFF;
  if (begin >= map.texts.size())
    fail(TSR_CORRUPT, where, " has a rule whose text begins at ", begin,
         ", its texts have ", map.texts.size(), " bytes");
  if ((map.texts[begin] & 0xC0) == 0x80)
    fail(TSR_CORRUPT, where, " has a rule whose text begins at ", begin,
         ", which is within a character");
}

void CharacterMap::Walk::step() {
  Place &place = path.back();
  State &state = states[place.unit];
  while (place.next < 256) {
    uint32_t child = childOf(place.base, place.next++);
    if (child == noUnit)
      continue;
    if (states[child].phase == State::Unseen)
      return enter(child);
    bool isLoop = states[child].phase == State::Open;
    if (isLoop && (child == 0 || reader == Reader::SentencePiece))
      fail(TSR_CORRUPT, where, " has a trie that leads from the unit ",
           place.unit, " back to the unit ", child);
    state.nested = std::max(state.nested, states[child].nested);
  }
  state.nested += isRule(place.unit);
  state.phase = State::Done;
  order.push_back(place.unit);
  path.pop_back();
  if (!path.empty()) {
    State &parent = states[path.back().unit];
    parent.nested = std::max(parent.nested, state.nested);
  }
}

/// Goes through `order` in reverse: in a trie without loops, a parent is then
/// before its children.
size_t CharacterMap::Walk::growth() const {
  std::vector<uint32_t> depths(map.units.size(), UINT32_MAX);
  depths[0] = 0;
  size_t most = 0;
  for (auto unit = order.rbegin(); unit != order.rend(); ++unit) {
    uint32_t base = baseOf(*unit), depth = depths[*unit];
    if (isRule(*unit)) {
      std::string_view text = map.textAt(map.units[base] & 0x7FFFFFFF);
      size_t spaces =
          static_cast<size_t>(std::count(text.begin(), text.end(), ' '));
      most = std::max(most, (text.size() + 2 * spaces + depth - 1) / depth);
    }
    for (uint32_t byte = firstByte(); byte < 256; ++byte)
      if (uint32_t child = childOf(base, byte); child != noUnit)
        depths[child] = std::min(depths[child], depth + 1);
  }
  return most;
}

CharacterMap::CharacterMap(std::string_view bytes, const std::string &where,
                           Reader reader) {
  constexpr size_t most = size_t(1) << 24; // published ones have 2^18
  if (bytes.size() > most)
    fail(TSR_CORRUPT, where, " has ", bytes.size(), " bytes, at most ", most,
         " are read");
  uint32_t size = 0;
  if (bytes.size() >= sizeof size)
    std::memcpy(&size, bytes.data(), sizeof size);
  if (size == 0 || size % 4 != 0 || size > bytes.size() - sizeof size)
    fail(TSR_CORRUPT, where, " has ", bytes.size(), " bytes, of which ", size,
         " are said to be a trie; it is torn");
  units.resize(size / 4);
  std::memcpy(units.data(), bytes.data() + sizeof size, size);
  texts = bytes.substr(sizeof size + size);
  size_t valid = validPrefix(texts);
  if (valid != texts.size())
    fail(TSR_CORRUPT, where, " has texts that are no UTF-8 from byte ", valid,
         " of ", texts.size(), " on");
  texts += '\0';
  Walk walk(*this, where, reader);
  walk.run();
  if (reader == Reader::SentencePiece) {
    mostNested = walk.nestedRules();
    mostGrowth = walk.growth();
  }
}

/// Calls `visit(bytes, text of the rule)` for the rules that `text` begins
/// with, the shortest first, until it returns false. False if the trie ends
/// first.
template <class Visit>
bool CharacterMap::follow(std::string_view text, const Visit &visit) const {
  uint32_t node = offsetOf(units[0]);
  for (size_t at = 0; at < text.size(); ++at) {
    auto byte = static_cast<unsigned char>(text[at]);
    node ^= byte;
    if (byte == 0 || node >= units.size() || labelOf(units[node]) != byte)
      return false;
    bool isRule = hasRule(units[node]);
    node ^= offsetOf(units[node]);
    if (isRule && !visit(at + 1, textAt(units[node] & 0x7FFFFFFF)))
      return true;
  }
  return true;
}

bool CharacterMap::find(std::string_view text, Rule rule, size_t &bytes,
                        std::string_view &replacement) const {
  bool isFound = false;
  follow(text, [&](size_t length, std::string_view found) {
    bytes = length;
    replacement = found;
    isFound = true;
    return rule == Rule::Longest;
  });
  return isFound;
}

bool CharacterMap::begins(std::string_view text) const {
  return follow(text, [](size_t, std::string_view) { return true; });
}

} // namespace tessera
