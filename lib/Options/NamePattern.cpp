//===- NamePattern.cpp - which parameters an option names -----------------===//

#include "tessera/Options/NamePattern.h"
#include <algorithm>
#include <fnmatch.h>

using namespace tessera;

bool NamePattern::matches(const std::string &name) const {
  return fnmatch(text.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
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
  for (size_t open = text.find('['); open != std::string::npos;) {
    size_t first = open + 1;
    first += first < text.size() && text[first] == '!';
    size_t close =
        text.find(']', first + 1); // A `]` that is first is a member.
    if (close == std::string::npos)
      return flag + ": '" + text +
             "' has a [ that is not closed; write "
             "[0-3] for one of 0 to 3";
    open = text.find('[', close);
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
