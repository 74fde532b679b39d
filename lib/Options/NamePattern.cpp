//===- NamePattern.cpp - which parameters an option names -----------------===//

#include "tessera/Options/NamePattern.h"
#include <algorithm>

using namespace tessera;

namespace {

/// The set that opens at `begin`, and where it ends: one past its `]`. A `]`
/// that comes first is a member.
struct Set {
  size_t first, last; ///< The members, [first, last).
  bool isNegated;

  size_t end() const { return last + 1; }
  bool isClosed() const { return last != std::string::npos; }
};

Set setAt(const std::string &text, size_t begin) {
  Set set = {begin + 1, 0, false};
  set.isNegated = set.first < text.size() && text[set.first] == '!';
  set.first += set.isNegated;
  set.last = text.find(']', set.first + 1);
  return set;
}

bool has(const std::string &text, const Set &set, char c) {
  bool isMember = false;
  for (size_t i = set.first; i < set.last; ++i) {
    bool isRange = i + 2 < set.last && text[i + 1] == '-';
    char high = isRange ? text[i + 2] : text[i];
    isMember |= text[i] <= c && c <= high;
    i += isRange ? 2 : 0;
  }
  return isMember != set.isNegated;
}

/// Where the pattern goes on after what matches one letter at `at`; 0 if it
/// does not match it.
size_t matchOne(const std::string &text, size_t at, char c) {
  if (at >= text.size() || text[at] == '*')
    return 0;
  if (text[at] == '[') {
    Set set = setAt(text, at);
    return set.isClosed() && has(text, set, c) ? set.end() : 0;
  }
  return text[at] == '?' || text[at] == c ? at + 1 : 0;
}

} // namespace

/// Goes back to the last `*` only: an earlier one need never match more. Time
/// is the product of both lengths at most.
bool NamePattern::matches(const std::string &name) const {
  size_t at = 0, star = std::string::npos, resume = 0, i = 0;
  while (i < name.size()) {
    if (size_t next = matchOne(text, at, name[i])) {
      at = next;
      ++i;
    } else if (at < text.size() && text[at] == '*') {
      star = at++;
      resume = i;
    } else if (star != std::string::npos) {
      at = star + 1;
      i = ++resume;
    } else {
      return false;
    }
  }
  return text.find_first_not_of('*', at) == std::string::npos;
}

bool tessera::matchesAny(const NamePatterns &patterns,
                         const std::string &name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const NamePattern &p) { return p.matches(name); });
}

std::string tessera::checkPattern(const std::string &flag,
                                  const std::string &text) {
  if (text.empty())
    return flag + ": a pattern is empty; write names of parameters, in which "
                  "* stands for any letters, with commas between them";
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '[')
      continue;
    Set set = setAt(text, at);
    if (!set.isClosed())
      return flag + ": '" + text +
             "' has a [ that is not closed; write "
             "[0-3] for one of 0 to 3";
    at = set.last;
  }
  return "";
}

std::string tessera::checkPatternsMatch(const std::string &flag,
                                        const NamePatterns &patterns,
                                        const std::vector<std::string> &names) {
  constexpr size_t kExamples = 3;
  for (const NamePattern &pattern : patterns) {
    if (std::any_of(names.begin(), names.end(), [&](const std::string &name) {
          return pattern.matches(name);
        }))
      continue;
    std::string examples;
    for (size_t i = 0; i < std::min(names.size(), kExamples); ++i)
      examples += (i ? ", '" : "'") + names[i] + "'";
    return flag + ": no parameter is called '" + pattern.str() +
           "'; a pattern is of the whole name, in which * stands for any "
           "letters. The " +
           std::to_string(names.size()) + " parameters begin with " + examples;
  }
  return "";
}
